// `nephila crawl` with little memory, of pages that grow when they are read: a
// long `<base>` in front of thousands of short links. The process never holds
// more than a tenth above `--memory`, while it crawls and after kill -9.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "cli/crawl_cmd_testing.h"
#include "fetch/server_testing.h"

namespace nephila::cli {
namespace {

constexpr uint64_t kMemory = uint64_t{64} << 20;
constexpr int kLinks = 10'000;
constexpr size_t kPathBytes = 1900;
constexpr int kHosts = 20;

// The most that a process ever held; 0 if it is gone.
uint64_t PeakBytes(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

class CrawlMemoryTest : public CrawlCmdTest {
 protected:
  static void Answer(fetch::ServerConnection& connection) {
    while (true) {
      const std::string head = connection.ReadHead();
      if (head.empty()) return;
      const std::string path =
          head.substr(4, head.find(' ', 4) - std::string("GET ").size());
      if (path == "/robots.txt") {
        connection.Send("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
        continue;
      }
      std::string body =
          fmt::format("<base href=/{:016x}{}/>", std::hash<std::string>()(path),
                      std::string(kPathBytes, 'b'));
      for (int i = 0; i < kLinks; ++i)
        body.append(fmt::format("<a href={}>", i));
      connection.Send(
          fmt::format("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                      "Content-Length: {}\r\n\r\n{}",
                      body.size(), body));
    }
  }

  std::vector<std::string> Args(int pages) {
    std::vector<std::string> args = {
        "--quiet", "--memory", fmt::format("{}", kMemory),
        // Behind the last checkpoint are all pages.
        "--set", "crawl.checkpoint_interval=1h", "--set",
        "guard.allow=127.0.0.0/8", "--set", "crawl.threads=4", "--max-pages",
        std::to_string(pages)};
    for (int i = 1; i <= kHosts; ++i) {
      args.push_back(fmt::format("http://127.0.0.{}:{}/{}", i, server_.port(),
                                 std::string(kPathBytes, 'a')));
    }
    return CrawlArgs(args);
  }

  // Waits for its end, or until `done`, and returns the most that it held.
  uint64_t Watch(pid_t process, const std::function<bool()>& done) {
    uint64_t peak = 0;
    while (!done()) {
      siginfo_t ended{};
      waitid(P_PID, static_cast<id_t>(process), &ended,
             WEXITED | WNOHANG | WNOWAIT);
      if (ended.si_pid != 0) break;
      peak = std::max(peak, PeakBytes(process));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return peak;
  }
  static void ExpectSmall(uint64_t peak) {
    EXPECT_GT(peak, 0U);
    // A sanitizer has memory of its own.
    if (kIsSanitized) return;
    EXPECT_LE(peak, kMemory + kMemory / 10);
  }

  fetch::ScriptedServer server_{Answer, net::IpAddress::V4(0, 0, 0, 0)};
};

TEST_F(CrawlMemoryTest, PagesThatGrowAreCrawledAndResumedWithinTheMemory) {
  constexpr int kPages = 80;
  // Killed when most of the pages are archived and in the journal, and no
  // checkpoint names any of them.
  pid_t process = Start(Args(10 * kPages));
  const auto archived = [this] {
    uint64_t bytes = 0;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(Folder("job/archive"), error)) {
      if (entry.path().extension() == ".log") bytes += entry.file_size(error);
    }
    return bytes;
  };
  // A line of crawl.log for each page.
  const uint64_t peak =
      Watch(process, [&] { return archived() > kPages * 2 * kPathBytes; });
  kill(process, SIGKILL);
  EXPECT_EQ(Wait(process).code, -1);
  ExpectSmall(peak);

  process = Start(Args(kPages + kPages / 2));
  const uint64_t resumed = Watch(process, [] { return false; });
  const Ended ended = Wait(process);
  EXPECT_EQ(ended.code, 0) << ended.err;
  ExpectSmall(resumed);
  const nlohmann::json status = JobStatus();
  ExpectLaw(status, /*over=*/false);
  EXPECT_GE(status["pages"], kPages);
  EXPECT_GT(status["stages"]["url"]["dropped"]["page-limit"], 0);
  EXPECT_FALSE(status["stages"]["parse"]["dropped"].contains("no-memory"));
  RecordProperty("peak", static_cast<int>(peak >> 10));
  RecordProperty("resumed", static_cast<int>(resumed >> 10));
}

}  // namespace
}  // namespace nephila::cli
