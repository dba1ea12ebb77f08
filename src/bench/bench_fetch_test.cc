#include "bench/bench_fetch.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace nephila::bench {
namespace {

TEST(BenchFetch, PrintsTheNamesThatScriptsRelyOn) {
  auto setup = cli::LoadSetup({});
  ASSERT_TRUE(setup.has_value());
  BenchFetchOptions options;
  options.pages = 60;
  options.transfers = 10;
  options.json = true;
  std::ostringstream out;
  const Status status = RunBenchFetch(*setup, options, out);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  std::istringstream lines(out.str());
  int count = 0;
  for (std::string text; std::getline(lines, text); ++count) {
    const auto line = nlohmann::json::parse(text);
    EXPECT_EQ(line["pages"], 60) << text;
    EXPECT_EQ(line["errors"], 0) << text;
    EXPECT_EQ(line["transfers"], 10);
    EXPECT_GT(line["pages_per_s"], 0);
    EXPECT_GT(line["pages_per_cpu_s"], 0);
    EXPECT_GT(line["cpu_us_per_page"], 0);
    EXPECT_EQ(line["what"] == "chain", line["links"] > 0);
    EXPECT_TRUE(line["mode"].is_string());
  }
  // A plain loop, the engine, and all of the chain; each in four modes.
  EXPECT_EQ(count, 12);
}

TEST(BenchFetch, RunsTheRowsThatAreAskedForAndTellsWhatTheyHold) {
  auto setup = cli::LoadSetup({});
  ASSERT_TRUE(setup.has_value());
  BenchFetchOptions options;
  options.pages = 40;
  options.transfers = 10;
  options.mode = "http-kept";
  options.rows = {"engine"};
  options.json = true;
  std::ostringstream out;
  const Status status = RunBenchFetch(*setup, options, out);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  const auto line = nlohmann::json::parse(out.str());
  EXPECT_EQ(line["what"], "engine");
  for (const char* when : {"early", "late"}) {
    EXPECT_GT(line[std::string(when) + "_rss_bytes"], 1'000'000) << when;
    // A connection for each transfer, besides the loop and the rest.
    EXPECT_GE(line[std::string(when) + "_descriptors"], 10) << when;
  }
}

TEST(BenchFetch, TellsWhatTransfersTake) {
  auto setup = cli::LoadSetup({});
  ASSERT_TRUE(setup.has_value());
  BenchFetchOptions options;
  options.transfers = 20;
  options.memory = true;
  std::ostringstream out;
  const Status status = RunBenchFetch(*setup, options, out);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  EXPECT_NE(out.str().find("https      20 transfers take "), std::string::npos)
      << out.str();
}

}  // namespace
}  // namespace nephila::bench
