#include "bench/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>

#include "net/descriptor.h"

namespace nephila::bench {
namespace {

constexpr int kNotFound = 127;
constexpr size_t kKeptOutput = 2000;

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_usec) * 1e-6;
}

std::string LastOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)),
                   std::istreambuf_iterator<char>());
  if (text.size() > kKeptOutput) text.erase(0, text.size() - kKeptOutput);
  return text;
}

}  // namespace

void BecomeChild(const std::vector<std::string>& command,
                 const std::string& folder, const std::string& output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  if (chdir(folder.c_str()) != 0) _exit(kNotFound);
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(kNotFound);
}

Result<ChildUse> RunChild(const std::vector<std::string>& command,
                          const std::string& folder,
                          std::chrono::seconds limit) {
  using Clock = std::chrono::steady_clock;
  const std::string output = folder + "/output-of-child";
  const auto begin = Clock::now();
  const pid_t pid = fork();
  if (pid < 0) return Unexpected(Error::FromErrno("fork", errno));
  if (pid == 0) BecomeChild(command, folder, output);
  setpgid(pid, pid);  // whoever of the two is first

  ChildUse use;
  const net::Descriptor ended(
      static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (ended.get() < 0) return Unexpected(Error::FromErrno("pidfd_open", errno));
  pollfd wait = {ended.get(), POLLIN, 0};
  const int ready = poll(
      &wait, 1, static_cast<int>(std::chrono::milliseconds(limit).count()));
  use.timed_out = ready == 0;
  if (use.timed_out) kill(-pid, SIGKILL);
  int status = 0;
  rusage usage{};
  if (wait4(pid, &status, 0, &usage) != pid) {
    return Unexpected(Error::FromErrno("wait4", errno));
  }
  use.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  use.cpu_seconds = SecondsOf(usage.ru_utime) + SecondsOf(usage.ru_stime);
  use.rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  use.exit_status =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  use.last_of_output = LastOf(output);
  if (use.exit_status == kNotFound) {
    return Unexpected(
        Error{ErrorCode::kNotFound, command[0] + " is not installed"});
  }
  return use;
}

}  // namespace nephila::bench
