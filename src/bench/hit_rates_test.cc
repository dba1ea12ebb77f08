#include "bench/hit_rates.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace nephila::bench {
namespace {

class Cycle : public LinkSource {
 public:
  explicit Cycle(uint64_t period) : period_(period) {}
  bool Next(std::string_view* link) override {
    text_ = "http://a.com/" + std::to_string(count_++ % period_);
    *link = text_;
    return true;
  }

 private:
  const uint64_t period_;
  uint64_t count_ = 0;
  std::string text_;
};

std::vector<nlohmann::json> Lines(const BenchDrumOptions& options) {
  std::ostringstream out;
  Status status = RunHitRates(options, out);
  EXPECT_TRUE(status) << status.error().message;
  std::istringstream in(out.str());
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(nlohmann::json::parse(line));
  }
  return lines;
}

BenchDrumOptions SmallStream() {
  BenchDrumOptions options;
  options.links = 200'000;
  options.memory_bytes = uint64_t{16} << 20;
  options.json = true;
  return options;
}

// CLOCK has nothing of a cycle longer than itself, all of a shorter one.
TEST(HitRates, AreThoseOfACycle) {
  Cycle source(3000);
  HitRates rates = *MeasureHitRates(&source, 90'000, {512, 16'384});
  EXPECT_NEAR(rates.unique_share, 1.0 / 30, 1e-12);
  ASSERT_EQ(rates.caches.size(), 2u);
  EXPECT_EQ(rates.caches[0].entries, 512u);
  EXPECT_EQ(rates.caches[0].bytes, 512u * 8);
  EXPECT_LT(rates.caches[0].hit_rate, 0.01);
  EXPECT_NEAR(rates.caches[1].hit_rate, 29.0 / 30, 0.01);
  EXPECT_GT(rates.caches[1].ns_per_link, 0);
}

TEST(HitRates, GrowWithTheCacheUpToTheLimit) {
  std::vector<nlohmann::json> lines = Lines(SmallStream());
  ASSERT_EQ(lines.size(), 9u);  // 2^12 to 2^20 entries, half of the memory
  double last = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const nlohmann::json& line = lines[i];
    EXPECT_EQ(line["cache_entries"], size_t{4096} << i);
    EXPECT_EQ(line["cache_bytes"], size_t{32768} << i);
    EXPECT_GE(line["hit_rate"], last);
    EXPECT_LE(line["hit_rate"], line["hit_rate_limit"]);
    EXPECT_GT(line["ns_per_link"], 0);
    last = line["hit_rate"];
  }
  EXPECT_NEAR(lines[0]["hit_rate_limit"], 8.0 / 9, 0.02);
  // The last holds every link there was.
  EXPECT_NEAR(last, lines[0]["hit_rate_limit"], 0.001);
}

TEST(HitRates, ACachePaysIfTheDiskIsSlowAndNotIfItIsFast) {
  BenchDrumOptions options = SmallStream();
  options.machine.disk_bytes_per_s = 1e6;
  EXPECT_EQ(Lines(options).back()["pays"], true);
  // Nothing to save: neither disk nor, without a codec, much of the CPU.
  options.machine.disk_bytes_per_s = 1e15;
  options.codec = Codec::kNone;
  options.shuffled = true;
  EXPECT_EQ(Lines(options).back()["pays"], false);
}

TEST(HitRates, RefusesMemoryForNoCache) {
  BenchDrumOptions options = SmallStream();
  options.memory_bytes = 1000;
  std::ostringstream out;
  EXPECT_EQ(RunHitRates(options, out).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(DistinctKeys, IsExactWhileAllFitAndCloseAfterwards) {
  DistinctKeys exact(1000);
  DistinctKeys near(1000);
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < 100'000; ++i) {
      const uint64_t key = KeyedHash(std::to_string(i), 1);
      if (i < 1000) exact.Add(key);
      near.Add(key);
    }
  }
  EXPECT_EQ(exact.count(), 1000);
  EXPECT_NEAR(near.count() / 100'000, 1, 0.15);
}

}  // namespace
}  // namespace nephila::bench
