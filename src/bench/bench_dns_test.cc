#include "bench/bench_dns.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace nephila::bench {
namespace {

TEST(BenchDns, ResolvesEveryNameAndTellsTheCost) {
  BenchDnsOptions options;
  options.names = 300;
  options.in_flight = 50;
  options.passes = 2;
  options.json = true;
  std::ostringstream out;
  const Status ran = RunBenchDns(options, out);
  ASSERT_TRUE(ran) << ran.error().message;
  const auto line = nlohmann::json::parse(out.str());
  EXPECT_EQ(line["names"], 300);
  EXPECT_GT(line["names_per_s"], 0);
  EXPECT_GT(line["cpu_us_per_name"], line["cpu_us_per_cached_name"]);
}

}  // namespace
}  // namespace nephila::bench
