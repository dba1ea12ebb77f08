#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

namespace nephila {
namespace {

// Computed by a second implementation in Python.
constexpr uint64_t kFromZero[] = {0x99EC5F36CB75F2B4, 0xBF6E1F784956452A,
                                  0x1A5F849D4933E6E0, 0x6AA594F1262D2D2C,
                                  0xBBA5AD4A1F842E59, 0xFFEF8375D9EBCACA};
constexpr uint64_t kFrom42[] = {0x15780B2E0C2EC716, 0x6104D9866D113A7E,
                                0xAE17533239E499A1, 0xECB8AD4703B360A1};

TEST(Random, GivesTheSameSequenceEverywhere) {
  Random zero(0);
  for (const uint64_t expected : kFromZero) EXPECT_EQ(zero.Next(), expected);
  Random other(42);
  for (const uint64_t expected : kFrom42) EXPECT_EQ(other.Next(), expected);
}

TEST(NextSplitMix, GivesTheSameSequenceEverywhere) {
  uint64_t state = 0;
  EXPECT_EQ(NextSplitMix(state), 0xE220A8397B1DCDAF);
  EXPECT_EQ(NextSplitMix(state), 0x6E789E6AA1B965F4);
  EXPECT_EQ(NextSplitMix(state), 0x06C45D188009454F);
  uint64_t skipped = 2 * kSplitMixStep;
  EXPECT_EQ(NextSplitMix(skipped), 0x06C45D188009454F);
}

TEST(Random, PinsWhatIsDerivedFromTheSequence) {
  Random random(42);
  EXPECT_EQ(random.Below(1000), 83u);
  EXPECT_EQ(random.Uniform(), 0.37898025066266861);
  std::vector<int> items = {0, 1, 2, 3, 4, 5, 6, 7};
  random.Shuffle(std::span(items));
  EXPECT_EQ(items, (std::vector<int>{0, 1, 4, 2, 3, 7, 6, 5}));
}

TEST(Random, StaysBelowAndReachesEveryNumber) {
  Random random(1);
  for (const uint64_t n : {1u, 2u, 3u, 7u, 64u, 100u}) {
    std::map<uint64_t, int> counts;
    for (uint64_t i = 0; i < 1000 * n; ++i) ++counts[random.Below(n)];
    ASSERT_EQ(counts.size(), n);
    ASSERT_LT(counts.rbegin()->first, n);
    // Six standard deviations of a count whose mean is 1000.
    for (const auto& [number, count] : counts) EXPECT_NEAR(count, 1000, 190);
  }
}

TEST(Random, IsUnbiasedWhereAPlainModuloIsNot) {
  // With n = 3/4 of the range a modulo would land in the first third of the
  // numbers half of the time.
  Random random(2);
  const uint64_t n = uint64_t{3} << 62;
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += random.Below(n) < n / 3 ? 1 : 0;
  EXPECT_NEAR(low, 10000, 500);
  EXPECT_LT(random.Below(std::numeric_limits<uint64_t>::max()),
            std::numeric_limits<uint64_t>::max());
}

TEST(Random, UniformStaysInItsRange) {
  Random random(3);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double x = random.Uniform();
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    sum += x;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(Random, ChanceKeepsItsPromiseAtBothEnds) {
  Random random(4);
  int hits = 0;
  for (int i = 0; i < 10000; ++i) {
    ASSERT_FALSE(random.Chance(0));
    ASSERT_FALSE(random.Chance(-1));
    ASSERT_TRUE(random.Chance(1));
    hits += random.Chance(0.25) ? 1 : 0;
  }
  EXPECT_NEAR(hits, 2500, 250);
}

TEST(Random, ShuffleReachesEveryOrderAndLosesNothing) {
  Random random(5);
  std::map<std::vector<int>, int> orders;
  for (int i = 0; i < 6000; ++i) {
    std::vector<int> items = {1, 2, 3};
    random.Shuffle(std::span(items));
    ++orders[items];
  }
  ASSERT_EQ(orders.size(), 6u);
  for (const auto& [order, count] : orders) EXPECT_NEAR(count, 1000, 190);
}

TEST(Random, ShufflesNothingOneAndMoveOnly) {
  Random random(6);
  random.Shuffle(std::span<int>());
  std::vector<std::unique_ptr<int>> items;
  items.push_back(std::make_unique<int>(1));
  random.Shuffle(std::span(items));
  items.push_back(std::make_unique<int>(2));
  random.Shuffle(std::span(items));
  EXPECT_EQ(*items[0] + *items[1], 3);
}

TEST(RandomDeathTest, NothingIsBelowZero) {
  Random random(7);
  EXPECT_DEATH(static_cast<void>(random.Below(0)), "check failed: n > 0");
}

TEST(RandomSeed, GivesAnotherSeedEachTime) {
  const Result<uint64_t> first = RandomSeed();
  const Result<uint64_t> second = RandomSeed();
  ASSERT_TRUE(first.has_value());
  ASSERT_TRUE(second.has_value());
  EXPECT_NE(*first, *second);
}

}  // namespace
}  // namespace nephila
