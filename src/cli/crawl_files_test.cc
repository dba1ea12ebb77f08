// `nephila crawl` with few open files: transfers, kept connections and the
// files of the job share what the limit allows, and running out of it is a
// wait, not an end.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/crawl_cmd_testing.h"
#include "net/descriptor.h"

namespace nephila::cli {
namespace {

constexpr uint64_t kLimit = 120;
constexpr size_t kHosts = 150;
// What the plan leaves for connections of transfers, with kLimit.
constexpr size_t kMostSockets = 60;

class CrawlFilesTest : public CrawlCmdTest {
 protected:
  // More hosts than descriptors, each on an address of its own, all with
  // keep-alive.
  void ServeWeb() {
    Serve(
        fmt::format("[web]\nhosts = {0}\nplds = {0}\naddresses = {0}\n"
                    "pages_per_host = 5\nlargest_site = 10\n"
                    "page_bytes = 1000\n",
                    kHosts));
  }
  std::vector<std::string> Args(std::vector<std::string> more = {}) {
    // Short enough for connections to be kept, long enough for most of them to
    // be idle at once.
    std::vector<std::string> args = {"--quiet",
                                     "--set",
                                     "crawl.threads=1",
                                     "--set",
                                     "politeness.host_delay=300ms",
                                     "--set",
                                     "politeness.host_delay_floor=300ms",
                                     "--set",
                                     "crawl.checkpoint_interval=100ms",
                                     "--seeds",
                                     SeedFile(AllHosts())};
    args.insert(args.end(), more.begin(), more.end());
    return CrawlArgs(args);
  }
  static sim::PolitenessRules Rules() {
    sim::PolitenessRules rules;
    rules.host_delay = std::chrono::milliseconds(300);
    return rules;
  }
  PageCounts AllPages() const {
    return Reachable(
        AllHosts(), [](std::string_view) { return true; }, 1);
  }

  struct Open {
    size_t all = 0;
    size_t sockets = 0;
  };
  static Open CountOpen(pid_t process) {
    Open open;
    std::error_code error;
    const std::string folder = fmt::format("/proc/{}/fd", process);
    for (std::filesystem::directory_iterator entry(folder, error), end;
         !error && entry != end; entry.increment(error)) {
      ++open.all;
      std::error_code gone;
      const std::string target = std::filesystem::read_symlink(*entry, gone);
      if (target.starts_with("socket:")) ++open.sockets;
    }
    return open;
  }
  // The most that were open at once, as far as looks every millisecond tell.
  Open MostOpen(pid_t process) {
    const net::Descriptor end(
        static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
    Open most;
    pollfd poll_end{end.get(), POLLIN, 0};
    while (poll(&poll_end, 1, /*timeout=*/1) == 0) {
      const Open open = CountOpen(process);
      most.all = std::max(most.all, open.all);
      most.sockets = std::max(most.sockets, open.sockets);
    }
    return most;
  }
  static void SetLimit(pid_t process, uint64_t limit) {
    const rlimit new_limit{limit, kLimit};
    EXPECT_EQ(prlimit(process, RLIMIT_NOFILE, &new_limit, nullptr), 0);
  }
};

TEST_F(CrawlFilesTest, MoreKeepAliveHostsThanDescriptors) {
  ServeWeb();
  open_files_ = kLimit;
  const pid_t process = Start(Args());
  const Open most = MostOpen(process);
  const Ended ended = Wait(process);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("the limit of open files is 120"), std::string::npos)
      << ended.err;
  EXPECT_EQ(ended.err.find("waiting for a free descriptor"), std::string::npos)
      << ended.err;
  EXPECT_LE(most.sockets, kMostSockets);
  EXPECT_GT(most.sockets, kMostSockets / 3);  // the budget is made use of
  EXPECT_LE(most.all, kLimit - 8);
  open_files_ = 0;
  EXPECT_EQ(Archived(), AllPages());
  ExpectLaw(JobStatus(), /*over=*/true);
  CheckPolite(Rules());
  RecordProperty("descriptors", static_cast<int>(most.all));
  RecordProperty("sockets", static_cast<int>(most.sockets));
}

TEST_F(CrawlFilesTest, ResumesWithFewDescriptorsAfterAKill) {
  ServeWeb();
  open_files_ = kLimit;
  const std::vector<std::string> args = Args();
  for (int kills = 1; kills <= 2; ++kills) {
    const pid_t process = Start(args);
    ASSERT_TRUE(WaitForRequests(web_->counts().requests + kHosts, process));
    kill(process, SIGKILL);
    EXPECT_EQ(Wait(process).code, -1);
  }
  const Ended ended = Run(args);
  EXPECT_EQ(ended.code, 0) << ended.err;
  open_files_ = 0;
  EXPECT_EQ(Archived(), AllPages());
  ExpectLaw(JobStatus(), /*over=*/true);
  CheckPolite(Rules());
}

TEST_F(CrawlFilesTest, WaitsForADescriptorForAFileAndGoesOn) {
  ServeWeb();
  open_files_ = kLimit;
  const pid_t process = Start(Args());
  ASSERT_TRUE(WaitForRequests(kHosts, process));
  // Nothing can be opened any more: the next checkpoint needs a file.
  SetLimit(process, 3);
  const MonoTime deadline = clock_.Now() + kPatience;
  const std::string words = "nephila: waiting for a free descriptor: ";
  while (ErrOf(process).find(words) == std::string::npos &&
         clock_.Now() < deadline) {
    poll(nullptr, 0, /*timeout=*/1);
  }
  SetLimit(process, kLimit);
  const Ended ended = Wait(process);
  EXPECT_EQ(ended.code, 0) << ended.err;
  const size_t said = ended.err.find(words);
  EXPECT_NE(said, std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find(words, said + 1), std::string::npos)
      << "said once: " << ended.err;
  open_files_ = 0;
  EXPECT_EQ(Archived(), AllPages());
  ExpectLaw(JobStatus(), /*over=*/true);
  CheckPolite(Rules());
}

TEST_F(CrawlFilesTest, LimitThatIsTooLowIsSaidInOneLine) {
  ServeWeb();
  open_files_ = 64;
  const Ended ended = Run(Args());
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.err.find("nephila: ulimit -n 64 is too low: at least "), 0U)
      << ended.err;
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1)
      << ended.err;
  // Nothing was made that would be in the way.
  EXPECT_FALSE(std::filesystem::exists(Job()));
}

}  // namespace
}  // namespace nephila::cli
