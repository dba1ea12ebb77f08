#include "bench/bench_queue.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace nephila::bench {
namespace {

TEST(BenchQueueTest, TakesBackWhatItAppendedAndSaysWhatItCost) {
  const std::string folder =
      testing::TempDir() + "bench_queue_test" + std::to_string(getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  BenchQueueOptions options;
  options.records = 5000;
  options.queues = {1, 50};
  options.codecs = {Codec::kZstd};
  options.memory_bytes = 1 << 20;
  options.directory = folder;
  options.json = true;
  std::ostringstream out;
  ASSERT_TRUE(RunBenchQueue(options, out).has_value());
  std::istringstream lines(out.str());
  std::string line;
  int results = 0;
  while (std::getline(lines, line)) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["records"], 5000);
    EXPECT_EQ(json["codec"], "zstd");
    EXPECT_GT(json["append_cpu_ns"], 0.0);
    EXPECT_GT(json["read_mb_per_s"], 0.0);
    ++results;
  }
  EXPECT_EQ(results, 2);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace nephila::bench
