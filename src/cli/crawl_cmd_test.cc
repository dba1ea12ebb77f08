// `nephila crawl` finds exactly what there is, and refuses wrong use.
#include "cli/crawl_cmd.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cli/crawl_cmd_testing.h"
#include "cli/exit_code.h"
#include "url/public_suffix.h"

namespace nephila::cli {
namespace {

// Every kind of trouble that ends.
// Pages are numbered in their paths; the first ones lead to the others.
constexpr std::string_view kTroubledWeb = R"(
[web]
hosts = 60
plds = 20
addresses = 8
pages_per_host = 10
largest_site = 40
page_bytes = 3000
links = 30
inside_permille = 700
deep_permille = 100
[[rule]]
path = "/robots.txt"
share = 60
behaviour = "status"
status = 503
[[rule]]
path = "/robots.txt"
share = 60
behaviour = "drop"
[[rule]]
path = "/robots.txt"
share = 150
behaviour = "robots"
text = "User-agent: *\nDisallow: /b\nDisallow: /g\nDisallow: /t\n"
[[rule]]
path = "/robots.txt"
share = 100
behaviour = "status"
status = 404
[[rule]]
share = 60
behaviour = "nxdomain"
[[rule]]
share = 60
behaviour = "drop"
[[rule]]
path = "*4*"
behaviour = "status"
status = 404
[[rule]]
path = "*5*"
behaviour = "redirect"
target = "/new-place"
[[rule]]
path = "*6*"
behaviour = "status"
status = 500
[[rule]]
path = "*7*"
behaviour = "redirect"
target = "http://moved.example:@PORT@/here"
[[rule]]
path = "*8*"
behaviour = "slow-first-byte"
delay = "300ms"
[[rule]]
host = "moved.example"
path = "/hangs"
behaviour = "hang"
[[rule]]
host = "moved.example"
behaviour = "page"
)";
constexpr int kAttempts = 2;

std::vector<std::string> QuickRetries() {
  return {"--set", "fetch.retry_wait=20ms", "--set",
          fmt::format("fetch.retry_attempts={}", kAttempts),
          // Of pages that hang alone: nothing else takes so long.
          "--set", "fetch.first_byte_timeout=8s", "--set",
          "politeness.back_off=10ms", "--set", "politeness.back_off_max=20ms",
          "--set", "politeness.dead_pause=20ms", "--set",
          "politeness.dead_pause_max=50ms", "--set", "robots.retry_wait=20ms",
          "--set", "robots.retry_wait_max=50ms", "--set",
          "robots.unreachable_attempts=2"};
}

class CrawlCoverageTest : public CrawlCmdTest {
 protected:
  // Crawls to the end and compares.
  void ExpectExact(const std::vector<std::string>& seeds,
                   const std::function<bool(std::string_view)>& in_scope,
                   std::vector<std::string> args) {
    for (std::string& arg : QuickRetries()) args.push_back(std::move(arg));
    for (const std::string& seed : seeds) args.push_back(seed);
    const Ended ended = Crawl(args);
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(ended.out.starts_with("finished: ")) << ended.out;
    const PageCounts expected = Reachable(seeds, in_scope, kAttempts);
    ExpectArchive(expected);
    const nlohmann::json status = JobStatus();
    ExpectLaw(status, /*over=*/true);
    int pages = 0;
    for (const auto& [url, count] : expected) pages += count;
    EXPECT_EQ(status["pages"], pages);
    EXPECT_GT(pages, 50);
    EXPECT_GT(status["retries"], 0);
    sim::PolitenessRules rules;  // without delays: one request a host
    CheckPolite(rules);
  }
};

TEST_F(CrawlCoverageTest, ABroadCrawlArchivesEachPageOfAFiniteWebOnce) {
  Serve(std::string(kTroubledWeb));
  std::vector<std::string> seeds = Seeds(3);
  seeds.push_back(Url("moved.example", "/hangs"));
  ExpectExact(seeds, [](std::string_view) { return true; },
              {"--profile", "broad"});
  // All kinds of trouble were met.
  const nlohmann::json status = JobStatus();
  const nlohmann::json& dropped = status["stages"]["robots"]["dropped"];
  EXPECT_TRUE(dropped.contains("denied")) << dropped.dump();
  EXPECT_TRUE(dropped.contains("unreachable")) << dropped.dump();
  for (const char* outcome :
       {"response", "connection-lost", "timeout", "no-such-host"}) {
    EXPECT_TRUE(status["outcomes"].contains(outcome))
        << status["outcomes"].dump();
  }
  for (const char* hundreds : {"2xx", "3xx", "4xx", "5xx"}) {
    EXPECT_TRUE(status["statuses"].contains(hundreds))
        << status["statuses"].dump();
  }
}

TEST_F(CrawlCoverageTest, ASiteCrawlArchivesEachPageOfItsSitesOnce) {
  Serve(std::string(kTroubledWeb));
  const auto suffixes = url::PublicSuffixList::BuiltIn();
  const auto site = [&suffixes](std::string_view host) {
    return std::string(suffixes.RegistrableDomain(
        host, url::PublicSuffixList::Rules::kIcannAndPrivate));
  };
  std::vector<std::string> seeds = Seeds(12);
  std::set<std::string> sites;
  for (const std::string& seed : seeds) {
    sites.insert(site(seed.substr(7, seed.rfind(':') - 7)));
  }
  ExpectExact(seeds,
              [&](std::string_view host) { return sites.contains(site(host)); },
              {});
  EXPECT_TRUE(JobStatus()["stages"]["scope"]["dropped"].contains("other-site"));
}

// Who asks for example.com means the place where it lives now.
TEST_F(CrawlCoverageTest, ASeedsRedirectWidensTheScopeOfASite) {
  Serve(R"(
[[rule]]
host = "old.example"
path = "/"
behaviour = "redirect"
target = "http://new.example:@PORT@/"
[[rule]]
host = "old.example"
behaviour = "page"
[[rule]]
host = "new.example"
path = "/"
behaviour = "status"
status = 200
type = "text/html"
text = "<a href=/a>a</a> <a href=http://other.example:@PORT@/>other</a>"
[[rule]]
host = "new.example"
path = "/a"
behaviour = "redirect"
target = "http://other.example:@PORT@/"
[[rule]]
host = "other.example"
behaviour = "page"
)");
  const Ended ended = Crawl({Url("old.example", "/")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  ExpectArchive({{Url("old.example", "/"), 1},
                 {Url("new.example", "/"), 1},
                 {Url("new.example", "/a"), 1}});
  ExpectLaw(JobStatus(), /*over=*/true);
}

TEST_F(CrawlCoverageTest, SeedsComeFromFilesAndSitemaps) {
  Serve(R"(
[[rule]]
host = "maps.example"
path = "/sitemap.xml"
behaviour = "status"
status = 200
type = "application/xml"
text = "<urlset><url><loc>http://maps.example:@PORT@/mapped</loc></url></urlset>"
[[rule]]
host = "robots.example"
path = "/robots.txt"
behaviour = "robots"
text = "User-agent: *\nAllow: /\nSitemap: http://robots.example:@PORT@/map.xml\n"
[[rule]]
host = "robots.example"
path = "/map.xml"
behaviour = "status"
status = 200
type = "application/xml"
text = "<urlset><url><loc>http://robots.example:@PORT@/named</loc></url></urlset>"
[[rule]]
host = "*.example"
behaviour = "status"
status = 200
type = "text/html"
text = "nothing"
)");
  std::ofstream(Folder("seeds.txt")) << "# a comment\n\n"
                                     << Url("one.example", "/1") << "\n  "
                                     << Url("robots.example", "/2") << "  \n";
  const Ended ended = Crawl({"--seeds", Folder("seeds.txt"), "--sitemap",
                             Url("maps.example", "/sitemap.xml")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  ExpectArchive({{Url("one.example", "/1"), 1},
                 {Url("robots.example", "/2"), 1},
                 {Url("robots.example", "/map.xml"), 1},
                 {Url("robots.example", "/named"), 1},
                 {Url("maps.example", "/sitemap.xml"), 1},
                 {Url("maps.example", "/mapped"), 1}});
  ExpectLaw(JobStatus(), /*over=*/true);
}

class CrawlUseTest : public CrawlCmdTest {
 protected:
  void ExpectRefused(const std::vector<std::string>& args, ExitCode code,
                     std::string_view says) {
    const Ended ended = Run(args);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_NE(ended.err.find(says), std::string::npos) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1)
        << ended.err;
    EXPECT_EQ(ended.out, "");
  }
};

TEST_F(CrawlUseTest, WrongUseIsRefusedInOneLine) {
  const std::string seed = "http://t.example/";
  ExpectRefused({"crawl", seed}, kUsage, "--job");
  ExpectRefused(CrawlArgs({}), kUsage, "needs seeds");
  EXPECT_FALSE(std::filesystem::exists(Job()));
  ExpectRefused(CrawlArgs({"--profile", "narrow", seed}), kUsage,
                "--profile narrow: site or broad");
  ExpectRefused(CrawlArgs({"--set", "crawl.max_pages=many", seed}),
                kBadSettings, "crawl.max_pages");
  ExpectRefused(CrawlArgs({"--seeds", Folder("none.txt")}), kFailed,
                "none.txt: cannot be read");
  std::filesystem::remove_all(Job());
  ExpectRefused(CrawlArgs({"ftp://t.example/"}), kUsage,
                "seed ftp://t.example/: ");
  std::filesystem::remove_all(Job());
  // Lines of a file that are none are said, and left out.
  std::ofstream(Folder("seeds.txt")) << "# mine\nhttp://[1/\n";
  const Ended ended = Crawl({"--seeds", Folder("seeds.txt")});
  EXPECT_EQ(ended.code, kUsage);
  EXPECT_NE(ended.err.find("seeds.txt:2: seed http://[1/: "), std::string::npos)
      << ended.err;
  EXPECT_NE(ended.err.find("no seed can be crawled"), std::string::npos)
      << ended.err;
}

TEST_F(CrawlUseTest, AFolderThatCannotBeAJobIsRefused) {
  std::filesystem::create_directories(Job());
  std::ofstream(Job() + "/thesis.tex") << "mine";
  ExpectRefused(CrawlArgs({"http://t.example/"}), kUsage,
                "holds thesis.tex and no job");
  EXPECT_TRUE(std::filesystem::exists(Job() + "/thesis.tex"));
  ExpectRefused({"status", "--job", Job()}, kFailed, "there is no job");
  ExpectRefused({"status", "--job", Folder("nowhere")}, kFailed,
                "there is no job");
  std::ofstream(Folder("file")) << "mine";
  ExpectRefused({"crawl", "--job", Folder("file") + "/job", "--set",
                 "agent.contact=x@example.org", "http://t.example/"},
                kFailed, "file/job");
}

TEST_F(CrawlUseTest, WhatIsFixedWhenAJobIsMadeCannotBeChanged) {
  Serve("[[rule]]\nhost = \"t.example\"\nbehaviour = \"page\"\n");
  const std::string seed = Url("t.example", "/");
  ASSERT_EQ(Crawl({seed}).code, 0);
  ExpectRefused(CrawlArgs({"--set", "url.sort_query=true", seed}), kUsage,
                "url.sort_query");
  ExpectRefused(CrawlArgs({"--profile", "broad"}), kUsage, "crawl.budgets");
  // The job goes on as it was made; without seeds too.
  const Ended ended = Crawl({});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("finished: 1 pages (0 in this run)"),
            std::string::npos)
      << ended.out;
  ExpectLaw(JobStatus(), /*over=*/true);
}

TEST_F(CrawlUseTest, AJobBelongsToOneProcess) {
  Serve("[[rule]]\nhost = \"t.example\"\nbehaviour = \"hang\"\n");
  const std::string seed = Url("t.example", "/");
  const pid_t first = Start(CrawlArgs({seed}));
  ASSERT_TRUE(WaitForRequests(1, first));
  const std::string message =
      fmt::format("process {} is working on this job", first);
  ExpectRefused(CrawlArgs({seed}), kInUse, message);
  ExpectRefused({"check", "--job", Job()}, kInUse, message);
  kill(first, SIGINT);
  kill(first, SIGTERM);
  EXPECT_EQ(Wait(first).code, 0);
}

TEST_F(CrawlUseTest, StatusSaysTheNumbersOfAJob) {
  Serve("[[rule]]\nhost = \"t.example\"\nbehaviour = \"page\"\n");
  ASSERT_EQ(Crawl({Url("t.example", "/a")}).code, 0);
  const nlohmann::json status = JobStatus();
  EXPECT_EQ(status["pages"], 2);
  EXPECT_GT(status["bytes"], 1000);
  EXPECT_EQ(status["end"], "finished");
  EXPECT_EQ(status["stages"]["seeds"]["made"], 1);
  const Ended text = Run({"status", "--job", Job()});
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("pages        2, "), std::string::npos) << text.out;
}

TEST_F(CrawlUseTest, TheHistoryIsWrittenAsOftenAsAsked) {
  // Nothing to do but to wait.
  Serve(R"([[rule]]
host = "t.example"
path = "/robots.txt"
behaviour = "status"
status = 503
)");
  const auto args = [this](const std::string& interval) {
    return CrawlArgs({"--quiet", "--set", "crawl.history_interval=" + interval,
                      Url("t.example", "/")});
  };
  // Records that came soon after the one before.
  const auto soon = [this] {
    const Ended ended = Run({"report", "--job", Job(), "--json"});
    if (ended.code != kSuccess) return 0;  // nothing is written yet
    const auto json = nlohmann::json::parse(ended.out, nullptr, false);
    int count = 0;
    double last = -1;
    for (const auto& record : json["history"]) {
      const double elapsed = record["elapsed"];
      if (last >= 0 && elapsed - last < 0.22) ++count;
      last = elapsed;
    }
    return count;
  };
  // The first moments of a run are told in any case, every 250 ms; and its end,
  // whatever came before and comes behind.
  std::vector<std::string> once = args("1h");
  once.insert(once.end(), {"--max-time", "1s"});
  Run(once);
  EXPECT_LE(soon(), 2);
  std::filesystem::remove_all(Job());
  const pid_t process = Start(args("100ms"));
  const MonoTime deadline = clock_.Now() + kPatience;
  while (soon() < 4) ASSERT_LT(clock_.Now(), deadline);
  kill(process, SIGINT);
  Wait(process);
}

}  // namespace
}  // namespace nephila::cli
