// nephila why and nephila list, the real program: of a crawl that runs and of
// one that has ended.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/crawl_cmd_testing.h"
#include "cli/exit_code.h"

namespace nephila::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kRules = R"(
[[rule]]
host = "a.example"
path = "/robots.txt"
behaviour = "robots"
text = "User-agent: *\nCrawl-delay: 0.1\nDisallow: /no\n"
[[rule]]
host = "a.example"
path = "/gone"
behaviour = "status"
status = 404
[[rule]]
host = "a.example"
path = "/old"
behaviour = "redirect"
target = "/new"
[[rule]]
host = "a.example"
path = "/slow"
behaviour = "hang"
[[rule]]
host = "a.example"
behaviour = "page"
)";

class WhyCmdTest : public CrawlCmdTest {
 protected:
  std::string At(std::string_view path) const { return Url("a.example", path); }

  Json Why(const std::string& word, std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"why", "--job", Job(), "--json"};
    args.insert(args.end(), more.begin(), more.end());
    args.insert(args.end(), {"--", word});
    const Ended ended = Run(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
    Json json = Json::parse(ended.out, nullptr, /*allow_exceptions=*/false);
    EXPECT_FALSE(json.is_discarded()) << ended.out;
    return json;
  }
  std::string StateOf(const std::string& url) {
    return Why(url).value("state", "");
  }
  std::vector<std::string> List(const std::string& what,
                                std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"list", what, "--job", Job()};
    args.insert(args.end(), more.begin(), more.end());
    const Ended ended = Run(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
    std::istringstream text(ended.out);
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }

  void CrawlAll() {
    Serve(kRules);
    const Ended ended = Crawl(
        {"--quiet", At("/1"), At("/gone"), At("/old"), At("/no"), At("/2")});
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
};

TEST_F(WhyCmdTest, TheSettingsOfTheLastRunNeedNotBeSaidAgain) {
  Serve(kRules);
  const Ended ended =
      Crawl({"--quiet", "--set", "scope.deny=/never", At("/1")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(StateOf(At("/never")), "out-of-scope");
  EXPECT_EQ(StateOf(At("/ever")), "never-seen");
}

TEST_F(WhyCmdTest, EachUrlOfAFinishedCrawlHasItsEnd) {
  CrawlAll();
  const Json done = Why(At("/1"));
  EXPECT_EQ(done["state"], "done") << done;
  ASSERT_EQ(done["archived"].size(), 1U);
  EXPECT_EQ(done["attempts"][0]["status"], 200);
  EXPECT_EQ(done["seen"], true);
  EXPECT_EQ(done["live"], nullptr);
  EXPECT_EQ(done["robots"]["crawl_delay"], 0.1);
  // The record is where it says.
  const Ended cat = Run(
      {"warc", "cat", "--offset", done["archived"][0]["offset"].dump(),
       Job() + "/archive/" + done["archived"][0]["file"].get<std::string>()});
  EXPECT_EQ(cat.code, 0) << cat.err;
  EXPECT_NE(cat.out.find(At("/1")), std::string::npos);

  const Json gone = Why(At("/gone"));
  EXPECT_EQ(gone["state"], "failed");
  const Json old = Why(At("/old"));
  EXPECT_EQ(old["state"], "redirected");
  EXPECT_EQ(old["redirect"], At("/new"));
  const Json denied = Why(At("/no"));
  EXPECT_EQ(denied["state"], "robots-denied");
  EXPECT_EQ(denied["robots"]["rule"], "Disallow: /no");
  EXPECT_EQ(denied["robots"]["line"], 3);
  EXPECT_EQ(StateOf(At("/unknown")), "never-seen");
  EXPECT_EQ(StateOf("http://other.example/"), "out-of-scope");
  EXPECT_EQ(StateOf("mailto:x@y.z"), "not-crawled");
}

TEST_F(WhyCmdTest, OnATerminalItIsPlainLinesAndNothingSteersIt) {
  CrawlAll();
  const Ended ended = Run({"why", "--job", Job(), "--", At("/no"),
                           "http://a.example/\x1b[31m\r\n", "\x1b]0;x\x07"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("line 3, \"Disallow: /no\""), std::string::npos)
      << ended.out;
  EXPECT_EQ(ended.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(ended.out.find('\r'), std::string::npos);
}

TEST_F(WhyCmdTest, AHostIsCounted) {
  CrawlAll();
  const Json host = Why("a.example");
  EXPECT_EQ(host["host"], "a.example");
  EXPECT_GE(host["outcomes"]["2xx"], 2);
  EXPECT_EQ(host["outcomes"]["4xx"], 1);
  EXPECT_EQ(host["waiting"], Json::object());
  ASSERT_EQ(host["robots"].size(), 1U) << host;
  EXPECT_EQ(host["robots"][0]["crawl_delay"], 0.1);
}

TEST_F(WhyCmdTest, ListsAreOfTheWholeJob) {
  CrawlAll();
  std::set<std::string> seen;
  for (const std::string& line : List("seen", {"--json"})) {
    seen.insert(Json::parse(line)["url"].get<std::string>());
  }
  for (const char* path : {"/1", "/2", "/gone", "/old", "/new"}) {
    EXPECT_TRUE(seen.contains(At(path))) << path;
  }
  EXPECT_FALSE(seen.contains(At("/no")));
  const std::vector<std::string> failed = List("failed");
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_NE(failed[0].find(" response 404 1 " + At("/gone")),
            std::string::npos);
  EXPECT_EQ(List("waiting").size(), 0U);
  EXPECT_EQ(List("seen", {"--limit", "2"}).size(), 2U);
  EXPECT_EQ(List("seen", {"--host", "b.example"}).size(), 0U);
  EXPECT_EQ(List("seen", {"--domain", "A.example"}).size(), seen.size());
}

TEST_F(WhyCmdTest, AJobThatWasStoppedSaysWhatWaits) {
  Serve(kRules);
  const Ended ended =
      Crawl({"--quiet", "--max-pages", "1", At("/1"), At("/2"), At("/3")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::vector<std::string> waiting = List("waiting", {"--json"});
  ASSERT_GE(waiting.size(), 2U);
  const Json first = Json::parse(waiting[0]);
  EXPECT_EQ(first["where"], "ready");
  EXPECT_EQ(StateOf(first["url"]), "ready");
  EXPECT_EQ(List("seen", {"--waiting"}).size(), waiting.size() + 1);
  EXPECT_EQ(JobStatus()["waiting"], waiting.size());
}

// Whatever the crawl does meanwhile; and what only it knows.
TEST_F(WhyCmdTest, ACrawlThatRunsIsAskedToo) {
  Serve(kRules);
  std::vector<std::string> args =
      CrawlArgs({"--quiet", "--set", "crawl.checkpoint_interval=1s", "--set",
                 "fetch.first_byte_timeout=4m", At("/slow")});
  for (int i = 0; i < 20; ++i) args.push_back(At("/" + std::to_string(i)));
  const pid_t process = Start(args);
  // robots.txt, and the page that hangs.
  ASSERT_TRUE(WaitForRequests(2, process));
  Json slow = Json::object();
  const MonoTime deadline = clock_.Now() + kPatience;
  while (slow.value("state", "") != "in-flight" && clock_.Now() < deadline) {
    slow = Why(At("/slow"));
  }
  EXPECT_EQ(slow["state"], "in-flight") << slow;
  EXPECT_EQ(slow["live"]["waits_for"], "transfer") << slow;
  const Json other = Why(At("/7"));
  EXPECT_EQ(other["live"]["in_flight"], false) << other;
  const Json host = Why("a.example:" + std::to_string(web_->port()));
  EXPECT_EQ(host["live"]["waits_for"], "transfer") << host;
  EXPECT_EQ(host["live"]["delay"], 0.1);
  EXPECT_EQ(List("failed").size(), 0U);
  EXPECT_GE(List("waiting").size(), 1U);
  kill(process, SIGINT);
  kill(process, SIGTERM);
  Wait(process);
  EXPECT_EQ(StateOf(At("/slow")), "ready");
}

TEST_F(WhyCmdTest, WhatCannotBeReadIsOneLine) {
  const Ended none = Run({"why", "--job", Job(), "http://a.example/"});
  EXPECT_EQ(none.code, kFailed);
  EXPECT_EQ(none.err, "nephila: " + Job() + ": no job is there\n");
  CrawlAll();
  EXPECT_EQ(Run({"why", "--job", Job()}).code, kUsage);
  EXPECT_EQ(Run({"why", "http://a.example/"}).code, kUsage);
  EXPECT_EQ(Run({"list", "--job", Job()}).code, kUsage);
  EXPECT_EQ(Run({"list", "all", "--job", Job()}).code, kUsage);
  EXPECT_EQ(Run({"list", "failed", "--waiting", "--job", Job()}).code, kUsage);
  EXPECT_EQ(Run({"list", "seen", "--memory", "x", "--job", Job()}).code,
            kUsage);

  for (const auto& entry :
       std::filesystem::directory_iterator(Job() + "/manifests")) {
    if (entry.path().filename().string().starts_with("manifest-")) {
      std::ofstream(entry.path(), std::ios::binary) << "damaged";
    }
  }
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"why", "--job", Job(), At("/1")},
        {"list", "waiting", "--job", Job()}}) {
    const Ended damaged = Run(args);
    EXPECT_EQ(damaged.code, kUnsound);
    EXPECT_EQ(damaged.out, "");
    EXPECT_NE(damaged.err.find("manifest"), std::string::npos) << damaged.err;
    EXPECT_EQ(damaged.err.find('\n'), damaged.err.size() - 1);
  }
}

}  // namespace
}  // namespace nephila::cli
