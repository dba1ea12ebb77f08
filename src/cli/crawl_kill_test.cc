// kill -9 of `nephila crawl` at moments that nobody chose, also while it
// recovers from the one before: at the end it is as if nothing had happened.
// Eight kills of a small crawl; with NEPHILA_LONG_TESTS 200 of one.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/crash_testing.h"
#include "cli/crawl_cmd_testing.h"

namespace nephila::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kHostDelay{20};
constexpr milliseconds kServerDelay{2};
constexpr uint64_t kTransfers = 16;

class CrawlKillTest : public CrawlCmdTest {
 protected:
  void ServeWeb(bool large) {
    std::string web = "[web]\n";
    web.append(large ? "hosts = 120\nplds = 50\naddresses = 30\n"
                       "pages_per_host = 40\nlargest_site = 120\n"
                     : "hosts = 30\nplds = 12\naddresses = 6\n"
                       "pages_per_host = 8\nlargest_site = 40\n");
    web.append("page_bytes = 2000\n");
    web.append("[[rule]]\npath = \"*-2*\"\nbehaviour = \"redirect\"\n");
    web.append("target = \"/new-place\"\n");
    Serve(std::move(web));
  }
  std::vector<std::string> Args() {
    std::vector<std::string> args = {"--profile", "broad", "--quiet"};
    for (const std::string setting :
         {"politeness.host_delay=20ms", "politeness.host_delay_floor=20ms",
          "politeness.server_delay=2ms", "politeness.server_delay_floor=2ms",
          "crawl.checkpoint_interval=150ms", "crawl.sync_interval=50ms"}) {
      args.insert(args.end(), {"--set", setting});
    }
    args.insert(args.end(),
                {"--set", fmt::format("crawl.max_transfers={}", kTransfers)});
    for (std::string& seed : Seeds(2)) args.push_back(std::move(seed));
    return CrawlArgs(args);
  }

  // Whether there was something left to kill. `soon`: when it has hardly
  // begun, and reads what the last one left.
  bool KillSomewhere(const std::vector<std::string>& args, bool soon) {
    const uint64_t before = web_->counts().requests;
    const pid_t process = Start(args);
    bool runs = true;
    if (soon) {
      std::this_thread::sleep_for(milliseconds(random_() % 60));
    } else {
      const uint64_t requests = web_->counts().requests + 1 + random_() % 40;
      runs = WaitForRequests(requests, process);
    }
    kill(process, SIGKILL);
    const Ended ended = Wait(process);
    EXPECT_TRUE(ended.code == -1 || ended.code == 0) << ended.err;
    // What it sent with its last breath is read, and counted.
    Mark(fmt::format("kill{}.example", kills_++));
    const uint64_t made = web_->counts().requests - before - 1;
    unwritten_ += std::min(made, kTransfers);
    return runs && ended.code == -1;
  }

  // Requests that were made again.
  uint64_t Repeated() {
    std::map<std::string, uint64_t> times;
    for (const Request& request : Requests()) {
      ++times[request.host + request.path];
    }
    uint64_t repeated = 0;
    for (const auto& [url, count] : times) repeated += count - 1;
    return repeated;
  }

  // Each archive is whole, and its index leads to its records.
  void ExpectValid() {
    std::vector<std::string> args = {"warc", "verify"};
    for (const auto& entry :
         std::filesystem::directory_iterator(Folder("job/archive"))) {
      const std::string path = entry.path();
      if (path.ends_with(".warc.gz")) args.push_back(path);
    }
    const Ended ended = Run(args);
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  }

  int kills_ = 0;
  // How many requests may be made again: of each process that was killed those
  // in flight, or ended and not written down, which are no more than it made,
  // and than it may have in flight. How long they have ended is no matter: a
  // process that is kept from its processor, or waits for the disk, writes
  // nothing down.
  uint64_t unwritten_ = 0;
  std::mt19937_64 random_{
      static_cast<uint64_t>(testing::UnitTest::GetInstance()->random_seed())};
};

TEST_F(CrawlKillTest, AKillAtAnyMomentLosesNothing) {
  const int most = LongTests() ? 200 : 8;
  ServeWeb(LongTests());
  const std::vector<std::string> args = Args();
  int kills = 0;
  int soon = 0;
  while (kills < most) {
    const bool is_soon = kills > 0 && random_() % 3 == 0;
    if (!KillSomewhere(args, is_soon)) break;
    ++kills;
    if (is_soon) ++soon;
  }
  const Ended ended = Run(args);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.out.starts_with("finished: ")) << ended.out;

  const PageCounts pages = Reachable(
      Seeds(2), [](std::string_view) { return true; }, 1);
  EXPECT_EQ(Archived(), pages);
  ExpectValid();
  const nlohmann::json status = JobStatus();
  ExpectLaw(status, /*over=*/true);
  // No page was ever to blame.
  EXPECT_EQ(status["quarantined"], 0);
  uint64_t sum = 0;
  for (const auto& [url, count] : pages) sum += static_cast<uint64_t>(count);
  EXPECT_EQ(status["pages"], sum);
  sim::PolitenessRules rules;
  rules.host_delay = kHostDelay;
  rules.server_delay = kServerDelay;
  CheckPolite(rules);
  const uint64_t repeated = Repeated();
  EXPECT_LE(repeated, unwritten_);
  RecordProperty("kills", kills);
  RecordProperty("soon", soon);
  RecordProperty("repeated", static_cast<int>(repeated));
  if (LongTests()) {
    GTEST_LOG_(INFO) << kills << " kills, " << soon
                     << " of them early, of a crawl of " << sum
                     << " pages: " << repeated << " requests were made again, "
                     << unwritten_ << " may have been";
  }
}

}  // namespace
}  // namespace nephila::cli
