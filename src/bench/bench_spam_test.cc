#include "bench/bench_spam.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "bench/spam_crawl.h"
#include "bench/spam_web.h"

namespace nephila::bench {
namespace {

TEST(SpamWeb, APageComesBackFromItsRecord) {
  SpamWebOptions options;
  options.hosts = 1000;
  const auto web = SpamWeb::Make(options);
  ASSERT_TRUE(web.has_value());
  std::string text;
  for (const SpamPage& page :
       {SpamPage{3, 0, 0, false}, SpamPage{2, 0, 5, true}}) {
    const item::UrlRecord record = web->MakeRecord(page, &text);
    EXPECT_TRUE(item::IsValid(record));
    EXPECT_EQ(SpamWeb::PageOf(record), page);
  }
}

TEST(SpamWeb, AFarmLinksInsideItsRingAlone) {
  SpamWebOptions options;
  options.hosts = 10'000;
  options.ring = 4;
  const auto web = SpamWeb::Make(options);
  ASSERT_TRUE(web.has_value());
  std::vector<SpamPage> links;
  web->AppendLinks({5, 0, 9, true}, &links);
  EXPECT_FALSE(links.empty());
  for (const SpamPage& link : links) {
    EXPECT_TRUE(link.spam);
    EXPECT_GE(link.pld, 4U);
    EXPECT_LT(link.pld, 8U);
    EXPECT_LT(link.page, web->pages_per_spam_domain());
  }
}

TEST(BenchSpam, BudgetsKeepTheCrawlOutOfFarms) {
  const std::string folder =
      testing::TempDir() + "bench_spam" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  BenchSpamOptions options;
  options.hosts = 5000;
  options.pages = 8000;
  options.seeds = 100;
  options.entries = 20;
  options.rings = {1};
  options.directory = folder;
  options.json = true;
  std::ostringstream out;
  const Status status = RunBenchSpam(options, out);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
  std::istringstream lines(out.str());
  std::map<std::string, nlohmann::json> results;
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    results[json["frontier"].get<std::string>()] = json;
  }
  ASSERT_EQ(results.size(), 2U);
  const double breadth_first = results["breadth-first"]["spam_share"];
  const double budgets = results["budgets"]["spam_share"];
  EXPECT_GT(breadth_first, 0.3);
  EXPECT_LT(budgets, 0.1);
  EXPECT_GT(results["budgets"]["good_coverage"], 0.95);
}

}  // namespace
}  // namespace nephila::bench
