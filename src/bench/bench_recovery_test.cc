#include "bench/bench_recovery.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cli/temporary_folder.h"

namespace nephila::bench {
namespace {

TEST(BenchRecoveryTest, AKilledJobGoesOnWithWhatItKnew) {
  const auto folder = cli::TemporaryFolder::Make();
  ASSERT_TRUE(folder.has_value());
  BenchRecoveryOptions options;
  options.known = 2000;
  options.addresses = 100;
  options.run = std::chrono::seconds(2);
  options.kills = 2;
  options.memory = "256MiB";
  options.disk = "1GiB";
  options.settings = {"crawl.checkpoint_interval=1s"};
  options.directory = (*folder)->path();
  options.json = true;
  std::ostringstream out;
  const Status status = RunBenchRecovery(options, out);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  std::istringstream lines(out.str());
  int kills = 0;
  for (std::string line; std::getline(lines, line); ++kills) {
    const auto row = nlohmann::json::parse(line);
    EXPECT_EQ(row["kills_before"], kills);
    EXPECT_GT(row["first_request_s"], 0);
    EXPECT_GT(row["requests"], 0) << line;
    EXPECT_GE(row["seen"], 2000) << line;
    EXPECT_GT(row["job_bytes"], 0);
  }
  EXPECT_EQ(kills, 3);
}

}  // namespace
}  // namespace nephila::bench
