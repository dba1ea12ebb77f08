// `nephila crawl` is never early, and never late without need: by the log of
// the servers.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/crash_testing.h"
#include "cli/crawl_cmd_testing.h"

namespace nephila::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<std::string> Delays(std::string_view host,
                                std::string_view server) {
  return {"--set", fmt::format("politeness.host_delay={}", host),
          "--set", fmt::format("politeness.host_delay_floor={}", host),
          "--set", fmt::format("politeness.server_delay={}", server),
          "--set", fmt::format("politeness.server_delay_floor={}", server)};
}

class CrawlPoliteTest : public CrawlCmdTest {};

// Accepts are logged by a thread that has to be woken: on a busy machine a
// contact may be logged late and the next one in time. The delays of servers
// are longer than that by far, so that one that is not kept is seen.
constexpr milliseconds kLate{240};
constexpr milliseconds kServerDelay{400};
constexpr const char* kServerDelayText = "400ms";

TEST_F(CrawlPoliteTest, ThousandsOfHostsShareAddresses) {
  Serve(R"(
[web]
hosts = 2000
addresses = 250
pages_per_host = 4
largest_site = 20
page_bytes = 1500
robots_permille = 300
)");
  std::vector<std::string> args = Delays("2400ms", kServerDelayText);
  args.insert(args.end(), {"--profile", "broad", "--seeds",
                           SeedFile(AllHosts()), "--quiet"});
  sim::PolitenessRules rules;
  rules.host_delay = milliseconds(2400);
  rules.server_delay = kServerDelay;
  rules.tolerance = kLate;
  rules.server_in_flight = 8;
  const pid_t process = Start(CrawlArgs(args));
  // Until there is enough to judge, however long that takes: hosts that were
  // asked again.
  sim::PolitenessReport report;
  for (uint64_t count = 1500;
       report.hosts <= 500 || report.requests < report.hosts + 800;
       count += 500) {
    ASSERT_TRUE(WaitForRequests(count, process));
    report = CheckPolite(rules);
  }
  kill(process, SIGINT);
  const Ended ended = Wait(process);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.out.starts_with("stopped: ")) << ended.out;
  report = CheckPolite(rules);
  EXPECT_GT(report.addresses, 50U);
  ExpectLaw(JobStatus(), /*over=*/false);
}

// Every host is parked between any two of its pages; and the run is stopped
// and continued, which is a contact with everybody.
TEST_F(CrawlPoliteTest, HostsThatAreParkedComeBackWithTheirClocks) {
  Serve(R"(
[web]
hosts = 40
addresses = 16
pages_per_host = 4
largest_site = 20
page_bytes = 1500
)");
  std::vector<std::string> args = Delays("1500ms", kServerDelayText);
  args.insert(args.end(),
              {"--profile", "broad", "--seeds", SeedFile(AllHosts()), "--set",
               "politeness.park_after=50ms", "--quiet"});
  uint64_t pages = 0;
  for (int run = 0; run < 2; ++run) {
    const pid_t process = Start(CrawlArgs(args));
    // Some came back, and their pages were asked for.
    const auto has_come_back = [pages](const nlohmann::json& status) {
      return status["stages"]["robots"]["in"] >
                 status["stages"]["budget"]["out"] &&
             status["pages"] >= pages + 40;
    };
    EXPECT_TRUE(StatusComes(has_come_back));
    kill(process, SIGINT);
    const Ended ended = Wait(process);
    ASSERT_EQ(ended.code, 0) << ended.err;
    const nlohmann::json status = JobStatus();
    ExpectLaw(status, /*over=*/false);
    EXPECT_TRUE(has_come_back(status)) << status.dump();
    pages = status["pages"];
  }
  sim::PolitenessRules rules;
  rules.host_delay = milliseconds(1500);
  rules.server_delay = kServerDelay;
  rules.tolerance = kLate;
  CheckPolite(rules);
  for (const auto& [url, count] : Archived()) EXPECT_EQ(count, 1) << url;
}

TEST_F(CrawlPoliteTest, CrawlDelayAndRetryAfterAreWaitedFor) {
  Serve(R"(
[[rule]]
host = "slowly.example"
path = "/robots.txt"
behaviour = "robots"
text = "User-agent: *\nCrawl-delay: 1.5\n"
[[rule]]
host = "slowly.example"
behaviour = "page"
[[rule]]
host = "busy.example"
path = "/busy"
behaviour = "retry-after"
status = 503
delay = "2s"
[[rule]]
host = "busy.example"
behaviour = "page"
)");
  const Ended ended = Crawl(
      {Url("slowly.example", "/a"), Url("busy.example", "/busy"),
       Url("busy.example", "/b"), "--set", "fetch.retry_attempts=2", "--set",
       "fetch.retry_wait=0s", "--set", "politeness.back_off=0s"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  ExpectArchive({{Url("slowly.example", "/"), 1},
                 {Url("slowly.example", "/a"), 1},
                 {Url("busy.example", "/busy"), 2},
                 {Url("busy.example", "/b"), 1},
                 {Url("busy.example", "/"), 1}});
  ExpectLaw(JobStatus(), /*over=*/true);
  sim::PolitenessRules rules;
  rules.host_delays["slowly.example"] = milliseconds(1500);
  CheckPolite(rules);
  int64_t allowed = 0;
  for (const Request& request : Requests()) {
    if (request.host != "busy.example") continue;
    EXPECT_GE(request.begin, allowed) << request.path;
    if (request.path == "/busy") allowed = request.end + 2'000'000 - 10'000;
  }
  EXPECT_GT(allowed, 0);
}

// The first page links to all others, or each to the next.
std::string SiteOf(int pages, bool chain) {
  std::string rules;
  for (int i = 0; i < pages; ++i) {
    std::string text;
    if (chain && i + 1 < pages)
      text = fmt::format("<a href=/{}>next</a>", i + 1);
    for (int k = 1; !chain && i == 0 && k < pages; ++k) {
      text += fmt::format("<a href=/{}>{}</a>", k, k);
    }
    rules += fmt::format(
        "[[rule]]\nhost = \"t.example\"\npath = \"/{}\"\n"
        "behaviour = \"status\"\nstatus = 200\ntype = \"text/html\"\n"
        "text = \"{}\"\n",
        i, text);
  }
  return rules;
}

// What a small crawl takes, by the log of the server: from the moment before
// its process is made.
struct Times {
  double first_page = 0;  // seconds
  double pages = 0;       // from robots.txt to the last one
  double all = 0;
  int64_t wakings = 0;
};

class SmallCrawlTest : public CrawlCmdTest {
 protected:
  Times CrawlSite(int pages, std::vector<std::string> args) {
    std::filesystem::remove_all(Job());
    Mark();
    args.push_back(Url("t.example", "/0"));
    const Ended ended = Crawl(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
    Mark();
    PageCounts expected;
    for (int i = 0; i < pages; ++i) {
      expected[Url("t.example", fmt::format("/{}", i))] = 1;
    }
    ExpectArchive(expected);
    ExpectLaw(JobStatus(), /*over=*/true);
    std::vector<Request> requests = Requests();
    EXPECT_EQ(requests.back().path, "/mark");
    // Of the last crawl: the marks before and behind it.
    size_t begin = requests.size() - 2;
    while (requests[begin].path != "/mark") --begin;
    requests.erase(requests.begin(),
                   requests.begin() + static_cast<std::ptrdiff_t>(begin));
    EXPECT_EQ(requests.size(), static_cast<size_t>(pages) + 3);
    EXPECT_EQ(requests[1].path, "/robots.txt");
    const double start = static_cast<double>(requests[0].begin);
    const Request& last_page = requests[requests.size() - 2];
    return {(static_cast<double>(requests[2].begin) - start) / 1e6,
            static_cast<double>(last_page.begin - requests[1].begin) / 1e6,
            (static_cast<double>(requests.back().begin) - start) / 1e6,
            ended.wakings};
  }

  // How long a thread that is woken waits for a processor on this machine now,
  // in seconds: about 0.0001 where nothing else runs.
  double WakingTime() {
    constexpr int kWakings = 50;
    const MonoTime begin = clock_.Now();
    for (int i = 0; i < kWakings; ++i) poll(nullptr, 0, /*timeout=*/1);
    const std::chrono::duration<double> time = clock_.Now() - begin;
    return std::max(time.count() / kWakings - 0.001, 0.0);
  }

  // And how long the disk takes to make something durable.
  double SyncTime() {
    constexpr int kSyncs = 20;
    const MonoTime begin = clock_.Now();
    for (int i = 0; i < kSyncs; ++i) {
      std::ofstream(Folder(fmt::format("sync{}", i))) << "x";
      EXPECT_TRUE(fs_->SyncDir(folder_));
    }
    const std::chrono::duration<double> time = clock_.Now() - begin;
    return time.count() / kSyncs;
  }

  // A page is handed on from thread to thread some fifteen times, and before
  // the first page there are about a hundred such, and sixty syncs to make the
  // job: where machine or disk are busy each of them waits, which is no fault
  // of the crawl.
  void ExpectQuick(int pages, const std::vector<std::string>& args) {
    std::string seen;
    for (int i = 0; i < 3; ++i) {
      const double before = WakingTime();
      const double sync = SyncTime();
      const Times times = CrawlSite(pages, args);
      const double waking = std::max(before, WakingTime());
      // By hand, on a quiet machine, to the letter; else with room for what
      // others do at the same time.
      const double room = (LongTests() ? 1 : 4) * kSlowness;
      const double start = room * (0.2 + 100 * waking + 60 * sync);
      const double all =
          room * (2 + 60 * sync + static_cast<double>(times.wakings) * waking);
      if (times.first_page < start && times.all < all) return;
      seen += fmt::format(
          "first page after {:.3f} s, not {:.3f}; all after {:.3f} s, not "
          "{:.3f}; {} wakings of {:.5f} s, syncs of {:.5f} s\n",
          times.first_page, start, times.all, all, times.wakings, waking, sync);
    }
    ADD_FAILURE() << seen;
  }
};

TEST_F(SmallCrawlTest, ASiteOfAHundredPagesTakesNoTwoSeconds) {
  Serve(SiteOf(100, /*chain=*/false));
  ExpectQuick(100, {});
}

TEST_F(SmallCrawlTest, NorDoesAChainOfAHundredPages) {
  Serve(SiteOf(100, /*chain=*/true));
  ExpectQuick(100, {});
}

TEST_F(SmallCrawlTest, NorDoesAChainWithBudgets) {
  Serve(SiteOf(100, /*chain=*/true));
  ExpectQuick(100, {"--profile", "broad"});
}

// robots.txt is a contact, after which the first page waits too.
TEST_F(SmallCrawlTest, WithADelayOfASecondPagesTakeASecondEach) {
  constexpr int kPages = 5;
  Serve(SiteOf(kPages, /*chain=*/true));
  const Times times = CrawlSite(kPages, Delays("1s", "50ms"));
  EXPECT_GE(times.all, kPages);
  // What the disk takes before the first request and behind the last one is no
  // wait of the crawl's.
  EXPECT_LT(times.pages, kPages + 2.0 * kSlowness);
  sim::PolitenessRules rules;
  rules.host_delay = seconds(1);
  CheckPolite(rules);
}

}  // namespace
}  // namespace nephila::cli
