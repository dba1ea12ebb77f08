#include "bench/bench_robots.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace nephila::bench {
namespace {

TEST(BenchRobots, PrintsTheNamesThatScriptsRelyOn) {
  setenv("NEPHILA_CORPUS", "/nonexistent", 1);
  auto setup = cli::LoadSetup({});
  ASSERT_TRUE(setup.has_value());
  BenchRobotsOptions options;
  options.passes = 1;
  options.json = true;
  std::ostringstream out;
  ASSERT_TRUE(RunBenchRobots(*setup, options, out).has_value());
  auto line = nlohmann::json::parse(out.str());
  EXPECT_EQ(line["source"], "generated");
  EXPECT_EQ(line["files"], 500);
  EXPECT_GT(line["ns_per_match"], 0);
  EXPECT_GT(line["mb_per_s"], 0);
  EXPECT_EQ(line["deviating_share"], 0);
  EXPECT_GT(line["allowed_share"], 0.3);
  EXPECT_LT(line["allowed_share"], 0.99);
  options.json = false;
  std::ostringstream text;
  ASSERT_TRUE(RunBenchRobots(*setup, options, text).has_value());
  EXPECT_NE(text.str().find("500 files of generated"), std::string::npos);
  options.corpus = "/nonexistent";
  EXPECT_FALSE(RunBenchRobots(*setup, options, text).has_value());
  unsetenv("NEPHILA_CORPUS");
}

}  // namespace
}  // namespace nephila::bench
