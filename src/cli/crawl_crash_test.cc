// `nephila crawl` and a page that ends it whenever it is read.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "cli/crawl_cmd_testing.h"

namespace nephila::cli {
namespace {

// What `nephila-test` looks for in its environment.
class CrashHook {
 public:
  explicit CrashHook(const std::string& part) {
    setenv("NEPHILA_TEST_CRASH_ON", part.c_str(), 1);
  }
  ~CrashHook() { unsetenv("NEPHILA_TEST_CRASH_ON"); }
  CrashHook(const CrashHook&) = delete;
  CrashHook& operator=(const CrashHook&) = delete;
};

using CrawlCrashTest = CrawlCmdTest;

TEST_F(CrawlCrashTest, APageThatEndsTheProcessTwiceIsNamedAndLeftOut) {
  Serve(R"(
[web]
hosts = 20
plds = 8
pages_per_host = 8
largest_site = 20
page_bytes = 2000
)");
  const std::vector<std::string> args = {"--profile", "broad", "--quiet",
                                         Seeds(1).front()};
  const PageCounts pages = Reachable(
      Seeds(1), [](std::string_view) { return true; }, 1);
  ASSERT_GT(pages.size(), 5U);
  // The last by name is part of no other.
  const std::string bad = pages.rbegin()->first;
  const CrashHook hook(bad);
  UseProgram(NEPHILA_TEST_BINARY);
  EXPECT_EQ(Crawl(args).code, -1);
  // The next process reads it from the archive.
  Ended ended = Crawl(args);
  EXPECT_EQ(ended.code, -1);
  EXPECT_EQ(ended.err.find("quarantined"), std::string::npos) << ended.err;
  ended = Crawl(args);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("nephila: quarantined, as reading it ended the "
                           "process twice: " +
                           bad),
            std::string::npos)
      << ended.err;
  EXPECT_TRUE(ended.out.starts_with("finished: ")) << ended.out;
  const nlohmann::json status = JobStatus();
  ExpectLaw(status, /*over=*/true);
  EXPECT_EQ(status["quarantined"], 1);
  EXPECT_EQ(status["stages"]["parse"]["dropped"]["quarantined"], 1);
  const PageCounts archived = Archived();
  EXPECT_EQ(archived.at(bad), 1);
  // All but what is found by this page alone, each once.
  EXPECT_GT(archived.size(), pages.size() / 2);
  for (const auto& [url, count] : archived) {
    EXPECT_EQ(count, 1) << url;
    EXPECT_TRUE(pages.contains(url)) << url;
  }
  // Once more nothing is said, and nothing is left to do.
  ended = Crawl(args);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.err.find("quarantined"), std::string::npos) << ended.err;
}

TEST_F(CrawlCrashTest, TheProgramOfUsersHasNoCrashHook) {
  Serve("[web]\nhosts = 1\nplds = 1\npages_per_host = 2\n");
  const std::string seed = Seeds(1).front();
  const CrashHook hook(seed);
  const Ended ended = Crawl({"--quiet", seed});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(Archived().count(seed), 1U);
}

}  // namespace
}  // namespace nephila::cli
