// `nephila crawl` stopped in every way, and continued: each page once.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <string>
#include <vector>

#include "cli/crawl_cmd_testing.h"

namespace nephila::cli {
namespace {

constexpr std::string_view kWeb = R"(
[web]
hosts = 30
plds = 12
addresses = 6
pages_per_host = 8
largest_site = 40
page_bytes = 2000
[[rule]]
path = "*-2*"
behaviour = "redirect"
target = "/new-place"
)";

class CrawlStopTest : public CrawlCmdTest {
 protected:
  PageCounts AllPages() const {
    return Reachable(
        Seeds(2), [](std::string_view) { return true; }, 1);
  }
  static uint64_t Sum(const PageCounts& pages) {
    uint64_t sum = 0;
    for (const auto& [url, count] : pages) sum += static_cast<uint64_t>(count);
    return sum;
  }
  // With delays, so that it takes long enough to be stopped: forty of them for
  // the largest site alone.
  std::vector<std::string> Args(std::vector<std::string> more,
                                const std::string& delay = "20ms") {
    std::vector<std::string> args = {"--profile",
                                     "broad",
                                     "--quiet",
                                     "--set",
                                     "politeness.host_delay=" + delay,
                                     "--set",
                                     "politeness.host_delay_floor=" + delay};
    for (std::string& seed : Seeds(2)) args.push_back(std::move(seed));
    for (std::string& arg : more) args.push_back(std::move(arg));
    return args;
  }
  void ExpectPages(uint64_t count) {
    EXPECT_EQ(Sum(Archived()), count);
    const nlohmann::json status = JobStatus();
    ExpectLaw(status, /*over=*/false);
    EXPECT_EQ(status["pages"], count);
  }
};

TEST_F(CrawlStopTest, ACrawlEndsAtItsBoundsAndGoesOnBehindThem) {
  Serve(std::string(kWeb));
  Ended ended = Crawl(Args({"--max-pages", "20"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.out.starts_with("max-pages: 20 pages (20 in this run)"))
      << ended.out;
  ExpectPages(20);
  // Reached already: nobody is asked for anything.
  const uint64_t requests = web_->counts().requests;
  ended = Crawl(Args({"--max-pages", "20"}));
  EXPECT_TRUE(ended.out.starts_with("max-pages: 20 pages (0 in this run)"))
      << ended.out;
  EXPECT_EQ(web_->counts().requests, requests);
  ExpectPages(20);
  ended = Crawl(Args({"--max-pages", "40"}));
  EXPECT_TRUE(ended.out.starts_with("max-pages: 40 pages (20 in this run)"))
      << ended.out;
  ExpectPages(40);

  const uint64_t bytes = JobStatus()["bytes"];
  ended = Crawl(Args({"--max-bytes", std::to_string(bytes + 30'000)}));
  EXPECT_TRUE(ended.out.starts_with("max-bytes: ")) << ended.out;
  const nlohmann::json status = JobStatus();
  EXPECT_GE(status["bytes"], bytes + 30'000);
  // What was in flight may end.
  EXPECT_LT(status["bytes"], bytes + 300'000);
  ended = Crawl(Args({"--max-time", "100ms"}));
  EXPECT_TRUE(ended.out.starts_with("max-time: ")) << ended.out;
  ExpectLaw(JobStatus(), /*over=*/false);

  ended = Crawl(Args({}));
  EXPECT_TRUE(ended.out.starts_with("finished: ")) << ended.out;
  ExpectArchive(AllPages());
  ExpectLaw(JobStatus(), /*over=*/true);
  CheckPolite({});
}

TEST_F(CrawlStopTest, ASignalStopsItCleanly) {
  Serve(std::string(kWeb));
  uint64_t requests = 0;
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t process = Start(CrawlArgs(Args({}, "150ms")));
    requests += 60;
    ASSERT_TRUE(WaitForRequests(requests, process));
    kill(process, signal);
    const Ended ended = Wait(process);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(ended.out.starts_with("stopped: ")) << ended.out;
    const nlohmann::json status = JobStatus();
    ExpectLaw(status, /*over=*/false);
    EXPECT_EQ(status["pages"], Sum(Archived()));
    EXPECT_EQ(status["end"], "stopped");
  }
  const Ended ended = Crawl(Args({}));
  EXPECT_TRUE(ended.out.starts_with("finished: ")) << ended.out;
  ExpectArchive(AllPages());
  ExpectLaw(JobStatus(), /*over=*/true);
}

TEST_F(CrawlStopTest, TheSecondSignalWaitsForNothing) {
  Serve("[[rule]]\nhost = \"t.example\"\nbehaviour = \"hang\"\n");
  const pid_t process = Start(CrawlArgs({Url("t.example", "/")}));
  ASSERT_TRUE(WaitForRequests(2, process));  // robots.txt and the page
  Mark();
  kill(process, SIGINT);
  kill(process, SIGTERM);
  const Ended ended = Wait(process);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.out.starts_with("stopped: ")) << ended.out;
  // By the log of the server, when that has seen it go: what the disk takes to
  // write down the end is not of it. For the first signal alone the page has
  // five seconds.
  Mark("later.example");
  int64_t told = 0;
  int64_t left = 0;
  for (const Request& request : Requests()) {
    if (request.host == kMarker) told = request.begin;
    if (request.host == "t.example") left = request.end;
  }
  EXPECT_GT(told, 0);
  EXPECT_GT(left, told);
  EXPECT_LT(left - told, 4'500'000);
  ExpectLaw(JobStatus(), /*over=*/false);
}

}  // namespace
}  // namespace nephila::cli
