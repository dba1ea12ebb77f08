#include "bench/bench_budget.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace nephila::bench {
namespace {

TEST(BenchBudget, DoublingQueuesMoveAUrlAFewTimesTheNaiveReScanEverMore) {
  const std::string folder =
      testing::TempDir() + "bench_budget" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  BenchBudgetOptions options;
  options.pages = 12'000;
  options.domains = 50;
  options.memory_bytes = uint64_t{4} << 20;
  options.directory = folder;
  options.json = true;
  std::ostringstream out;
  const Status status = RunBenchBudget(options, out);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);

  std::istringstream lines(out.str());
  std::map<std::string, nlohmann::json> last;
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    last[json["method"].get<std::string>()] = json;
    EXPECT_GT(json["disk_bytes_per_page"], 0.0);
  }
  ASSERT_EQ(last.size(), 2U);
  // Theorem 7's limit is 2 (2L - 1) = 24, whatever the size of the crawl.
  EXPECT_LT(last["beast"]["moves_per_page"], 30.0);
  EXPECT_GT(last["naive"]["moves_per_page"], 100.0);
}

}  // namespace
}  // namespace nephila::bench
