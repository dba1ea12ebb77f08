// `nephila crawl --dry-run` says rule by rule what a crawl would do.
#include "cli/dry_run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/check.h"
#include "cli/temporary_folder.h"

namespace nephila::cli {
namespace {

using Json = nlohmann::json;

class DryRunTest : public testing::Test {
 protected:
  // Lines of JSON, one for each URL.
  std::vector<Json> Run(const std::string& input) {
    std::istringstream in(input);
    std::ostringstream out;
    const Status status =
        RunDryRun(setup_, options_, /*for_people=*/false, in, out, err_);
    EXPECT_TRUE(status.has_value()) << status.error().message;
    std::vector<Json> lines;
    std::istringstream text(out.str());
    for (std::string line; std::getline(text, line);) {
      lines.push_back(Json::parse(line));
    }
    return lines;
  }
  // What one rule says: whether it passes, and why.
  static std::pair<bool, std::string> Rule(const Json& line,
                                           const std::string& name) {
    for (const Json& rule : line["rules"]) {
      if (rule["rule"] == name) {
        return {rule["passes"].get<bool>(), rule.value("why", "")};
      }
    }
    ADD_FAILURE() << "no rule " << name << " in " << line.dump();
    return {};
  }

  cli::Setup setup_{config::SettingsOf(config::Profile::kSite),
                    url::PublicSuffixList::BuiltIn()};
  CrawlCmdOptions options_;
  std::ostringstream err_;
};

using Said = std::pair<bool, std::string>;

TEST_F(DryRunTest, SaysWhatEachRuleMakesOfAUrl) {
  config::ScopeSettings& scope = setup_.settings.scope;
  scope.deny = {"sort=", "[?&]page="};
  scope.allow = {"/docs/"};
  scope.block = {"# nobody", "host bad.example.org"};
  scope.max_depth = 3;
  options_.seeds = {"http://example.org/"};
  options_.tries = {"-"};
  const auto lines =
      Run("HTTP://Example.org:80/docs/../docs/1#top\n"
          "http://example.org/docs/?x&page=1\n"
          "\n# a comment\n"
          "http://bad.example.org/docs/\n"
          "http://example.net/docs/\n"
          "ftp://example.org/\n"
          "http://example.org/docs/photo.jpg\n"
          "http://example.org/other\n");
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0]["url"], "http://example.org/docs/1");
  EXPECT_EQ(lines[0]["verdict"], "crawl");
  EXPECT_FALSE(lines[0].contains("reason"));
  EXPECT_EQ(Rule(lines[0], "allow"), Said(true, "/docs/"));
  EXPECT_EQ(Rule(lines[0], "depth"), Said(true, "not known here"));
  EXPECT_EQ(Rule(lines[0], "bounds"),
            Said(true, "site of a seed: example.org"));
  EXPECT_EQ(lines[1]["reason"], "denied");
  EXPECT_EQ(Rule(lines[1], "deny"), Said(false, "[?&]page="));
  EXPECT_EQ(lines[2]["reason"], "blocked");
  EXPECT_EQ(Rule(lines[2], "block"), Said(false, "scope.block:2 (host)"));
  EXPECT_EQ(lines[3]["reason"], "other-site");
  EXPECT_EQ(Rule(lines[3], "bounds"),
            Said(false, "site of no seed: example.net"));
  EXPECT_EQ(lines[4]["reason"], "scheme");
  EXPECT_FALSE(lines[4].contains("url"));
  EXPECT_EQ(lines[5]["reason"], "extension");
  EXPECT_FALSE(Rule(lines[5], "extension").first);
  EXPECT_EQ(lines[6]["reason"], "not-allowed");
}

TEST_F(DryRunTest, WithoutOthersTheSeedsAreJudgedAsSeeds) {
  setup_.settings.scope.allow = {"/docs/"};
  options_.seed_files = {"-"};
  const auto lines = Run("http://example.org/\nhttp://example.net/x.jpg\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["verdict"], "crawl");
  EXPECT_EQ(Rule(lines[0], "allow"), Said(true, "a seed needs none"));
  EXPECT_EQ(lines[1]["verdict"], "crawl");
}

TEST_F(DryRunTest, SaysWhatLinksToOtherHostsBecome) {
  setup_.settings.scope.bounds = config::ScopeBounds::kAll;
  setup_.settings.scope.external_links = config::ExternalLinks::kHomePage;
  setup_.settings.scope.max_pages_per_host = 5;
  options_.tries = {"-"};
  const auto lines = Run("https://example.org:81/a/b?c\n");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(Rule(lines[0], "external_links"),
            Said(true, "from another host: https://example.org:81/"));
  EXPECT_TRUE(Rule(lines[0], "caps").first);
}

TEST_F(DryRunTest, ReadsTheListsAndTouchesNoJob) {
  const auto folder = *TemporaryFolder::Make();
  const std::string list = folder->path() + "/list";
  std::ofstream(list) << "host a.test\nwhat\n";
  std::filesystem::create_directories(folder->path() + "/job");
  std::ofstream(folder->path() + "/job/blocked") << "host b.test\n";
  setup_.settings.scope.bounds = config::ScopeBounds::kAll;
  setup_.settings.scope.block_files = {list};
  options_.job = folder->path() + "/job";
  options_.tries = {"-"};
  const auto lines = Run("http://a.test/\nhttp://b.test/\nhttp://c.test/\n");
  EXPECT_EQ(Rule(lines[0], "block"), Said(false, list + ":1 (host)"));
  EXPECT_EQ(Rule(lines[1], "block"),
            Said(false, folder->path() + "/job/blocked:1 (host)"));
  EXPECT_EQ(lines[2]["verdict"], "crawl");
  EXPECT_NE(err_.str().find("list:2: 'what'"), std::string::npos);
  size_t files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder->path())) {
    static_cast<void>(entry);
    ++files;
  }
  EXPECT_EQ(files, 3U);
}

TEST_F(DryRunTest, ForPeopleOnlyWhatMattersIsSaid) {
  setup_.settings.scope.deny = {"secret"};
  options_.seeds = {"http://example.org/secret#x"};
  std::istringstream in;
  std::ostringstream out;
  const Status status =
      RunDryRun(setup_, options_, /*for_people=*/true, in, out, err_);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(out.str(),
            "http://example.org/secret#x: drop (denied)\n"
            "  is http://example.org/secret\n"
            "  - bounds: site of no seed: example.org\n"
            "  - deny: secret\n");
}

TEST_F(DryRunTest, AFileThatIsNotThereIsAnError) {
  options_.tries = {"/nowhere/urls.txt"};
  std::istringstream in;
  std::ostringstream out;
  const Status status = RunDryRun(setup_, options_, false, in, out, err_);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message, "--try /nowhere/urls.txt: cannot be read");
}

}  // namespace
}  // namespace nephila::cli
