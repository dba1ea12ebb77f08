#include "bench/bench_politeness.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace nephila::bench {
namespace {

TEST(BenchPolitenessTest, SaysWhatALeaseCosts) {
  BenchPolitenessOptions options;
  options.hosts = {50};
  options.leases = 500;
  options.json = true;
  std::ostringstream out;
  ASSERT_TRUE(RunBenchPoliteness(options, out).has_value());
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["hosts"], 50);
  EXPECT_GT(json["add_cpu_ns"], 0.0);
  EXPECT_GT(json["lease_cpu_ns"], 0.0);
}

}  // namespace
}  // namespace nephila::bench
