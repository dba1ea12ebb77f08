#include "bench/bench_coding.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace nephila::bench {
namespace {

TEST(BenchCoding, HasALineForEachDecoder) {
  setenv("NEPHILA_CORPUS", "/nonexistent", 1);
  BenchCodingOptions options;
  options.passes = 1;
  options.json = true;
  std::stringstream out;
  ASSERT_TRUE(RunBenchCoding(options, out).has_value());
  std::set<std::string> decoders;
  for (std::string text; std::getline(out, text);) {
    auto line = nlohmann::json::parse(text);
    decoders.insert(line["decoder"]);
    EXPECT_GT(line["pages"], 10);
    EXPECT_GT(line["us_per_page"], 0);
  }
  EXPECT_EQ(decoders, (std::set<std::string>{"libdeflate", "nephila",
                                             "nephila, in segments", "zlib"}));
  unsetenv("NEPHILA_CORPUS");
}

}  // namespace
}  // namespace nephila::bench
