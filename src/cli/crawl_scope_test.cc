// `nephila crawl` asks for what its scope has and for nothing else: the log of
// the simulated web says so.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cli/crawl_cmd_testing.h"
#include "cli/exit_code.h"

namespace nephila::cli {
namespace {

using Paths = std::set<std::string>;

// Hosts a, b and c of example with some pages each, linked from a's first.
constexpr std::string_view kSmallWeb = R"(
[[rule]]
path = "/robots.txt"
behaviour = "status"
status = 404
[[rule]]
host = "a.example"
path = "/"
behaviour = "status"
status = 200
type = "text/html"
text = "<a href=/docs/1>1</a> <a href=/docs/2?sort=up>2</a> <a href=/docs/3>3</a> <a href=/other/4>4</a> <a href=http://b.example:@PORT@/deep/5>5</a> <a href=http://c.example:@PORT@/deep/6>6</a> <a href=/doc.pdf>pdf</a> <a href=http://w.a.example:@PORT@/7>7</a>"
[[rule]]
path = "*.pdf"
behaviour = "status"
status = 200
type = "application/pdf"
text = "%PDF-1.4"
[[rule]]
path = "/slow/*"
behaviour = "status"
status = 200
type = "text/html"
text = "slow"
[[rule]]
host = "many.example"
path = "/"
behaviour = "status"
status = 200
type = "text/html"
text = "<a href=/slow/1>.</a><a href=/slow/2>.</a><a href=/slow/3>.</a><a href=/slow/4>.</a><a href=/slow/5>.</a><a href=/slow/6>.</a><a href=/slow/7>.</a><a href=/slow/8>.</a><a href=/slow/9>.</a>"
[[rule]]
host = "*.example"
behaviour = "status"
status = 200
type = "text/html"
text = "nothing"
)";

class CrawlScopeTest : public CrawlCmdTest {
 protected:
  void SetUp() override {
    CrawlCmdTest::SetUp();
    Serve(std::string(kSmallWeb));
    seed_ = Url("a.example", "/");
  }

  // What was asked for, as "host/path", robots.txt apart.
  Paths Asked() {
    Paths paths;
    for (const Request& request : Requests()) {
      if (request.path != "/robots.txt") {
        paths.insert(HostOf(request) + request.path);
      }
    }
    return paths;
  }
  std::set<std::string> AskedHosts() {
    std::set<std::string> hosts;
    for (const Request& request : Requests()) hosts.insert(HostOf(request));
    return hosts;
  }
  static std::string HostOf(const Request& request) {
    return request.host.substr(0, request.host.find(':'));
  }
  nlohmann::json Dropped(const char* stage) {
    return JobStatus()["stages"][stage]["dropped"];
  }
  // Crawls to the end; what was asked for.
  Paths Crawled(std::vector<std::string> args, int code = kSuccess) {
    args.push_back(seed_);
    ended_ = Crawl(args);
    EXPECT_EQ(ended_.code, code) << ended_.err;
    ExpectLaw(JobStatus(), /*over=*/true);
    return Asked();
  }

  std::string seed_;
  Ended ended_;
};

TEST_F(CrawlScopeTest, BoundsAreHostsSitesDomainsOrFolders) {
  EXPECT_EQ(Crawled({"--set", "scope.bounds=host"}),
            (Paths{"a.example/", "a.example/docs/1", "a.example/docs/2?sort=up",
                   "a.example/docs/3", "a.example/other/4"}));
}

TEST_F(CrawlScopeTest, ADomainHasAllItsHosts) {
  const Paths asked = Crawled({"--set", "scope.bounds=domain"});
  EXPECT_TRUE(asked.contains("w.a.example/7"));
  EXPECT_FALSE(asked.contains("b.example/deep/5"));
}

TEST_F(CrawlScopeTest, AFolderOfASeedAndSurtPrefixesBesides) {
  seed_ = Url("a.example", "/docs/0");
  const std::string more = Url("a.example", "/");
  const Paths asked = Crawled({"--set", "scope.bounds=prefix", "--set",
                               "scope.surt_prefixes=[\"(example,b,\"]", "--set",
                               "scope.allow=" + std::string("."), more});
  // The second seed's folder is all of its host.
  EXPECT_TRUE(asked.contains("a.example/other/4"));
  EXPECT_TRUE(asked.contains("b.example/deep/5"));
  EXPECT_FALSE(asked.contains("c.example/deep/6"));
  EXPECT_FALSE(asked.contains("w.a.example/7"));
}

TEST_F(CrawlScopeTest, PatternsAllowAndDeny) {
  const Paths asked =
      Crawled({"--set", "scope.bounds=all", "--set", "scope.allow=/docs/",
               "--set", "scope.deny=[\"[?&]sort=\"]"});
  EXPECT_EQ(asked,
            (Paths{"a.example/", "a.example/docs/1", "a.example/docs/3"}));
  EXPECT_EQ(Dropped("scope")["denied"], 1);
  EXPECT_GE(Dropped("scope")["not-allowed"], 3);
}

TEST_F(CrawlScopeTest, DepthIsBounded) {
  EXPECT_EQ(
      Crawled({"--set", "scope.max_depth=1", "--set", "scope.bounds=host"})
          .size(),
      5U);
}

TEST_F(CrawlScopeTest, ABadPatternOrLineIsAWrongSetting) {
  for (const auto& [setting, says] : std::map<std::string, std::string>{
           {"scope.deny=a(b", "scope.deny: 'a(b' is no pattern"},
           {"scope.allow=[\"(?=x)\"]", "scope.allow: '(?=x)' is no pattern"},
           {"scope.block=example.org", "scope.block: 'example.org' is none"},
           {"scope.surt_prefixes=x", "scope.surt_prefixes: 'x'"},
           {"scope.site_caps=x", "scope.site_caps: 'x'"}}) {
    const Ended ended = Crawl({"--set", setting, seed_});
    EXPECT_EQ(ended.code, kBadSettings) << ended.err;
    EXPECT_NE(ended.err.find(says), std::string::npos) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1);
    EXPECT_FALSE(std::filesystem::exists(Job()));
  }
}

TEST_F(CrawlScopeTest, WhatIsBlockedIsNeverAskedFor) {
  std::ofstream(Folder("bad.txt"))
      << "# mine\nhost c.example\nurl " << Url("a.example", "/docs/3")
      << "\nno line\n";
  const Paths asked = Crawled({"--set", "scope.bounds=all", "--set",
                               "scope.block=host b.example", "--set",
                               "scope.block_files=" + Folder("bad.txt")});
  EXPECT_TRUE(asked.contains("a.example/docs/1"));
  EXPECT_FALSE(asked.contains("a.example/docs/3"));
  // Not even for robots.txt.
  const std::set<std::string> hosts = AskedHosts();
  EXPECT_FALSE(hosts.contains("b.example"));
  EXPECT_FALSE(hosts.contains("c.example"));
  EXPECT_EQ(Dropped("scope")["blocked"], 3);
  EXPECT_NE(ended_.err.find("bad.txt:4: 'no line' is none of"),
            std::string::npos)
      << ended_.err;
}

TEST_F(CrawlScopeTest, ABlockedAddressIsNotContacted) {
  // All hosts of the simulated web are at loopback.
  const Paths asked =
      Crawled({"--set", "scope.block=address 127.0.0.0/8"}, kNothingFetched);
  EXPECT_EQ(asked, Paths());
  EXPECT_TRUE(AskedHosts().empty());
  const nlohmann::json status = JobStatus();
  EXPECT_TRUE(status["outcomes"].contains("blocked")) << status.dump();
}

TEST_F(CrawlScopeTest, AListThatChangesWhileItRunsHolds) {
  const std::string list = Folder("bad.txt");
  std::ofstream(list) << "# nobody yet\n";
  const pid_t process = Start(CrawlArgs(
      {"--set", "scope.block_files=" + list, "--set",
       "scope.block_interval=20ms", "--set", "politeness.host_delay=1500ms",
       "--set", "politeness.host_delay_floor=1500ms",
       Url("many.example", "/")}));
  // robots.txt, the first page, one of its links.
  ASSERT_TRUE(WaitForRequests(3, process));
  std::ofstream(list) << "host many.example\n";
  const Ended ended = Wait(process);
  EXPECT_EQ(ended.code, 0) << ended.err;
  // One may have been under way when the list was written.
  EXPECT_LE(Asked().size(), 4U);
  ExpectLaw(JobStatus(), /*over=*/true);
  EXPECT_GE(Dropped("fetch").value("blocked", 0) +
                Dropped("politeness").value("blocked", 0),
            5);
}

TEST_F(CrawlScopeTest, TheJobsOwnListHoldsInTheNextRunToo) {
  ASSERT_EQ(Crawl({"--max-pages", "1", Url("many.example", "/")}).code, 0);
  std::ofstream(Job() + "/blocked") << "domain many.example\n";
  const size_t before = Requests().size();
  const Ended ended = Crawl({});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(Requests().size(), before);
  const Ended checked = Run({"check", "--job", Job()});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
}

TEST_F(CrawlScopeTest, ASeedThatIsRefusedIsSaidAndLeftOut) {
  const std::string bad = Url("b.example", "/");
  const Paths asked =
      Crawled({"--set", "scope.block=host b.example", "--set",
               "scope.deny=/secret", bad, Url("a.example", "/secret")});
  EXPECT_TRUE(asked.contains("a.example/"));
  EXPECT_FALSE(AskedHosts().contains("b.example"));
  EXPECT_NE(ended_.err.find("seed " + bad +
                            ": blocked by scope.block:1 (host)"
                            "; left out"),
            std::string::npos)
      << ended_.err;
  EXPECT_NE(ended_.err.find("/secret: denied by /secret; left out"),
            std::string::npos)
      << ended_.err;
  std::filesystem::remove_all(Job());
  const Ended ended = Crawl({"--set", "scope.block=host b.example", bad});
  EXPECT_EQ(ended.code, kUsage);
  EXPECT_NE(ended.err.find("no seed can be crawled"), std::string::npos);
}

TEST_F(CrawlScopeTest, RefusesASeedWithAPortThatBrowsersRefuse) {
  const Ended ended = Crawl({"http://a.example:6667/"});
  EXPECT_EQ(ended.code, kUsage);
  EXPECT_NE(ended.err.find("seed http://a.example:6667/: bad-port: port 6667 "
                           "belongs to another protocol than HTTP; "
                           "url.allow_ports=6667 allows it"),
            std::string::npos)
      << ended.err;
}

TEST_F(CrawlScopeTest, LinksToOtherHostsFollowTheirPolicy) {
  Paths asked = Crawled(
      {"--set", "scope.bounds=all", "--set", "scope.external_links=home-page"});
  EXPECT_TRUE(asked.contains("b.example/"));
  EXPECT_TRUE(asked.contains("c.example/"));
  EXPECT_FALSE(asked.contains("b.example/deep/5"));
  std::filesystem::remove_all(Job());
  asked = Crawled(
      {"--set", "scope.bounds=all", "--set", "scope.external_links=combined"});
  EXPECT_TRUE(asked.contains("b.example/"));
  EXPECT_TRUE(asked.contains("b.example/deep/5"));
  EXPECT_TRUE(asked.contains("w.a.example/"));
}

TEST_F(CrawlScopeTest, CapsAreExact) {
  seed_ = Url("many.example", "/");
  Paths asked = Crawled({"--set", "scope.max_pages_per_host=4"});
  EXPECT_EQ(asked.size(), 4U);
  EXPECT_EQ(Dropped("caps")["host-full"], 6);
  const Ended checked = Run({"check", "--job", Job()});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  // They are the job's.
  const Ended changed = Crawl({"--set", "scope.max_pages_per_host=9"});
  EXPECT_EQ(changed.code, kUsage);
  EXPECT_NE(changed.err.find("scope.max_pages_per_host"), std::string::npos);
}

TEST_F(CrawlScopeTest, CapsOfDomainsAreExact) {
  for (const char* profile : {"site", "broad"}) {
    const size_t before = Requests().size();
    const Ended ended = Crawl(
        {"--profile", profile, "--set", "scope.max_hosts_per_domain=1", "--set",
         "scope.max_pages_per_domain=3", seed_, Url("many.example", "/")});
    ASSERT_EQ(ended.code, 0) << ended.err;
    std::map<std::string, int> domains;
    const std::vector<Request> requests = Requests();
    for (size_t i = before; i < requests.size(); ++i) {
      if (requests[i].path == "/robots.txt") continue;
      std::string host = HostOf(requests[i]);
      EXPECT_NE(host, "w.a.example");
      ++domains[host];
    }
    EXPECT_EQ(domains["a.example"], 3) << profile;
    EXPECT_EQ(domains["many.example"], 3) << profile;
    const nlohmann::json dropped = Dropped("caps");
    EXPECT_GT(dropped["domain-full"], 5) << dropped.dump();
    std::filesystem::remove_all(Job());
  }
}

TEST_F(CrawlScopeTest, TablesOfSitesAreForOneSiteEach) {
  std::ofstream(Folder("crawl.toml"))
      << "[site.\"many.example\"]\nmax_pages = 2\ndelay = \"30ms\"\n"
         "[site.\"b.example\"]\nblock = true\n"
         "[scope]\nbounds = \"all\"\n";
  const Paths asked =
      Crawled({"--config", Folder("crawl.toml"), Url("many.example", "/")});
  EXPECT_EQ(std::count_if(asked.begin(), asked.end(),
                          [](const std::string& path) {
                            return path.starts_with("many.example");
                          }),
            2);
  EXPECT_FALSE(AskedHosts().contains("b.example"));
  EXPECT_TRUE(asked.contains("c.example/deep/6"));
  // The same file goes with the job that it made.
  EXPECT_EQ(Crawl({"--config", Folder("crawl.toml")}).code, 0);
}

TEST_F(CrawlScopeTest, MediaTypesThatAreNotWantedAreNotArchived) {
  const Paths asked =
      Crawled({"--set", "fetch.accept_types=text/html", "--set",
               "seen.skip_extensions=", "--set", "scope.bounds=host"});
  EXPECT_TRUE(asked.contains("a.example/doc.pdf"));
  const PageCounts archived = Archived();
  EXPECT_FALSE(archived.contains(Url("a.example", "/doc.pdf")));
  EXPECT_TRUE(archived.contains(Url("a.example", "/docs/1")));
  EXPECT_EQ(JobStatus()["outcomes"]["unwanted"], 1);
}

}  // namespace
}  // namespace nephila::cli
