#include "bench/crawler_process.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/file.h"
#include "bench/child_process.h"

namespace nephila::bench {
namespace {

std::string TextOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// Of one thread, in seconds: fields 14 and 15 of its stat, behind the name,
// which may have anything in it.
double ThreadSeconds(const std::filesystem::path& task) {
  const std::string stat = TextOf(task / "stat");
  std::istringstream fields(
      stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  uint64_t user = 0;
  uint64_t system = 0;
  fields >> user >> system;
  return static_cast<double>(user + system) /
         static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::string NameOf(const std::filesystem::path& task) {
  std::string name = TextOf(task / "comm");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name == "nephila" ? "frontier" : name;  // the first thread is it
}

uint64_t ResidentOf(pid_t pid) {
  std::istringstream pages(TextOf(fmt::format("/proc/{}/statm", pid)));
  uint64_t all = 0;
  uint64_t resident = 0;
  pages >> all >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t PeakOf(pid_t pid) {
  std::istringstream lines(TextOf(fmt::format("/proc/{}/status", pid)));
  for (std::string word; lines >> word;) {
    if (word != "VmHWM:") continue;
    uint64_t kilobytes = 0;
    lines >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

}  // namespace

Result<std::string> NephilaBeside() {
  std::array<char, PATH_MAX> self{};
  const ssize_t length = readlink("/proc/self/exe", self.data(), self.size());
  if (length < 0) return Unexpected(Error::FromErrno("/proc/self/exe", errno));
  const std::string folder(
      ParentDir(std::string_view(self.data(), static_cast<size_t>(length))));
  for (const char* const place : {"/nephila", "/../cli/nephila"}) {
    if (access((folder + place).c_str(), X_OK) == 0) return folder + place;
  }
  return Unexpected(
      Error{ErrorCode::kNotFound, "there is no nephila beside " + folder});
}

Result<std::unique_ptr<cli::TemporaryFolder>> MakeWorkFolder(
    const std::string& directory) {
  std::error_code error;
  return cli::TemporaryFolder::Make(
      std::filesystem::absolute(directory.empty() ? "." : directory, error)
          .string());
}

double ProcessUse::CpuSeconds() const {
  double all = 0;
  for (const auto& [name, seconds] : cpu) all += seconds;
  return all;
}

std::vector<std::string> CrawlCommand(
    const std::string& nephila, const std::string& folder,
    const sim::Simulation& web, const std::vector<std::string>& settings) {
  std::vector<std::string> words = {nephila,         "crawl",   "--job",
                                    folder + "/job", "--quiet", "--profile",
                                    "broad"};
  const auto set = [&words](const std::string& setting) {
    words.insert(words.end(), {"--set", setting});
  };
  set("agent.contact=https://example.org/bench");
  set("guard.allow=127.0.0.0/8");
  set(fmt::format("dns.servers=127.0.0.1:{}", web.dns_port()));
  set("dns.rate=100000");
  set("disk.floor=0");
  for (const std::string& setting : settings) set(setting);
  return words;
}

Result<std::unique_ptr<CrawlerProcess>> CrawlerProcess::Start(
    const std::vector<std::string>& command, const std::string& output) {
  const pid_t pid = fork();
  if (pid < 0) return Unexpected(Error::FromErrno("fork", errno));
  if (pid == 0) BecomeChild(command, ParentDir(output), output);
  return std::unique_ptr<CrawlerProcess>(new CrawlerProcess(pid, output));
}

CrawlerProcess::CrawlerProcess(pid_t pid, std::string output)
    : pid_(pid),
      output_(std::move(output)),
      ended_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}

CrawlerProcess::~CrawlerProcess() { Kill(); }

ProcessUse CrawlerProcess::Use() const {
  ProcessUse use;
  use.rss_bytes = ResidentOf(pid_);
  use.peak_rss_bytes = PeakOf(pid_);
  std::error_code error;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", pid_);
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    use.cpu[NameOf(task.path())] += ThreadSeconds(task.path());
  }
  return use;
}

bool CrawlerProcess::EndsBefore(
    std::chrono::steady_clock::time_point when) const {
  const std::chrono::duration<double, std::milli> left =
      when - std::chrono::steady_clock::now();
  pollfd wait = {ended_.get(), POLLIN, 0};
  return poll(&wait, 1, std::max(0, static_cast<int>(left.count()))) != 0;
}

Status CrawlerProcess::Wait() {
  int status = 0;
  waited_ = true;
  if (waitpid(pid_, &status, 0) == pid_ && WIFEXITED(status) &&
      WEXITSTATUS(status) == 0) {
    return {};
  }
  return Unexpected(
      Error{ErrorCode::kIo, "the crawl failed: " + TextOf(output_)});
}

Error CrawlerProcess::EndedEarly() {
  const Status status = Wait();
  return status ? Error{ErrorCode::kIo, "the crawl ended early"}
                : status.error();
}

void CrawlerProcess::Kill() {
  if (waited_) return;
  waited_ = true;
  kill(pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
}

}  // namespace nephila::bench
