#include "bench/wrk.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <vector>

namespace nephila::bench {
namespace {

constexpr int kNotInstalled = 127;

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_usec) * 1e-6;
}

// "  40960 requests in 2.00s, 861.47MB read".
uint64_t RequestsIn(std::string_view output) {
  size_t at = output.find(" requests in ");
  if (at == std::string_view::npos) return 0;
  size_t begin = at;
  while (begin > 0 && output[begin - 1] >= '0' && output[begin - 1] <= '9') {
    --begin;
  }
  uint64_t count = 0;
  for (char c : output.substr(begin, at - begin)) {
    count = count * 10 + static_cast<uint64_t>(c - '0');
  }
  return count;
}

[[noreturn]] void Exec(std::vector<std::string> arguments, int output) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execvp(pointers[0], pointers.data());
  _exit(kNotInstalled);
}

}  // namespace

Result<std::optional<WrkResult>> RunWrk(const std::string& url,
                                        const std::string& host,
                                        size_t connections, bool keep,
                                        int seconds) {
  std::vector<std::string> arguments = {"wrk",
                                        "-t1",
                                        fmt::format("-c{}", connections),
                                        fmt::format("-d{}s", seconds),
                                        "-H",
                                        "Host: " + host};
  if (!keep) {
    arguments.emplace_back("-H");
    arguments.emplace_back("Connection: close");
  }
  arguments.push_back(url);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return Unexpected(Error::FromErrno("pipe", errno));
  }
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) Exec(std::move(arguments), ends[1]);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return Unexpected(Error::FromErrno("fork", errno));
  }
  std::string output;
  char buffer[4096];
  for (ssize_t size = 0; (size = read(ends[0], buffer, sizeof buffer)) > 0;) {
    output.append(buffer, static_cast<size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child) {
    return Unexpected(Error::FromErrno("wait4", errno));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotInstalled) {
    return std::optional<WrkResult>();
  }
  WrkResult result;
  result.pages = RequestsIn(output);
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  result.cpu_seconds = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  if (result.pages == 0) {
    return Unexpected(Error{ErrorCode::kIo, "wrk: " + output.substr(0, 200)});
  }
  return std::optional<WrkResult>(result);
}

}  // namespace nephila::bench
