#include "bench/bench_hostile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cli/temporary_folder.h"

namespace nephila::bench {
namespace {

BenchHostileOptions Small(const std::string& folder) {
  BenchHostileOptions options;
  options.adversaries = {"robots-loop"};
  options.factors = {1};
  options.good_hosts = 3;
  options.pages = 3;
  options.host_delay = std::chrono::milliseconds(100);
  options.max_hosts = 16;
  options.max_transfers = 16;
  options.directory = folder;
  options.json = true;
  return options;
}

TEST(BenchHostileTest, CountsThePagesOfGoodHosts) {
  const auto folder = cli::TemporaryFolder::Make();
  ASSERT_TRUE(folder.has_value());
  std::ostringstream out;
  const Status status = RunBenchHostile(Small((*folder)->path()), out);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  std::istringstream lines(out.str());
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const auto alone = nlohmann::json::parse(line);
  EXPECT_EQ(alone["adversary"], "none");
  EXPECT_EQ(alone["pages"], 9);
  EXPECT_EQ(alone["expected"], 9);
  EXPECT_EQ(alone["ratio"], 1);
  EXPECT_EQ(alone["early_contacts"], 0);
  EXPECT_GT(alone["rss_bytes"], 0);
  ASSERT_TRUE(std::getline(lines, line));
  const auto hostile = nlohmann::json::parse(line);
  EXPECT_EQ(hostile["adversary"], "robots-loop");
  EXPECT_EQ(hostile["hostile_hosts"], 16);
  EXPECT_EQ(hostile["expected"], 9);
  EXPECT_TRUE(hostile["holds"].is_boolean());
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(BenchHostileTest, ReportsPagesThatDoNotComeInTimeAsAMiss) {
  const auto folder = cli::TemporaryFolder::Make();
  ASSERT_TRUE(folder.has_value());
  BenchHostileOptions options = Small((*folder)->path());
  // Slower than the limit.
  options.pages = 1;
  options.settings = {"politeness.site_delays=good0.example=1h"};
  options.limit = std::chrono::seconds(2);
  std::ostringstream out;
  const Status status = RunBenchHostile(options, out);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("2 of 3 pages"), std::string::npos)
      << status.error().message;
}

TEST(BenchHostileTest, RefusesUnknownAdversaries) {
  BenchHostileOptions options;
  options.adversaries = {"saint"};
  std::ostringstream out;
  const Status status = RunBenchHostile(options, out);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message, "saint: no such adversary (docs/sim.md)");
}

}  // namespace
}  // namespace nephila::bench
