#include "reputation/degree_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"

namespace nephila::reputation {
namespace {

using item::BudgetPoint;

DegreeHistogram Of(const std::vector<uint64_t>& in_degrees) {
  DegreeHistogram histogram;
  for (const uint64_t in_degree : in_degrees) histogram.Move(0, in_degree);
  return histogram;
}

TEST(DegreeHistogram, RanksAreExactBelow256AndCloseAbove) {
  Random random(5);
  std::vector<uint64_t> in_degrees;
  for (int i = 0; i < 20'000; ++i) {
    // Heavy-tailed, as in-degrees are.
    in_degrees.push_back(static_cast<uint64_t>(
        1 / (1e-6 + random.Uniform() * random.Uniform())));
  }
  const DegreeHistogram histogram = Of(in_degrees);
  EXPECT_EQ(histogram.domains(),
            static_cast<uint64_t>(std::count_if(
                in_degrees.begin(), in_degrees.end(),
                [](uint64_t in_degree) { return in_degree > 0; })));
  const auto rank = [&](double in_degree) {
    return static_cast<uint64_t>(std::count_if(
        in_degrees.begin(), in_degrees.end(),
        [&](uint64_t d) { return static_cast<double>(d) >= in_degree; }));
  };
  for (uint64_t d = 1; d < 256; ++d) {
    ASSERT_EQ(histogram.RankOf(d), rank(static_cast<double>(d))) << d;
  }
  for (uint64_t d = 256; d < 1'000'000; d += d / 7) {
    EXPECT_GE(histogram.RankOf(d), rank(static_cast<double>(d)));
    EXPECT_LE(histogram.RankOf(d), rank(static_cast<double>(d) / 1.016));
  }
}

TEST(DegreeHistogram, MovesFollowADomain) {
  DegreeHistogram histogram;
  histogram.Move(0, 1);
  histogram.Move(1, 3);
  histogram.Move(3, 1'000'000);
  histogram.Move(0, 2);
  EXPECT_EQ(histogram, Of({1'000'000, 2}));
}

TEST(DegreeHistogram, AnyInDegreeHasAPlace) {
  DegreeHistogram histogram;
  for (int bit = 0; bit < 64; ++bit) histogram.Move(0, uint64_t{1} << bit);
  histogram.Move(0, UINT64_MAX);
  EXPECT_EQ(histogram.domains(), 65U);
  EXPECT_EQ(histogram.RankOf(UINT64_MAX), 1U);
  EXPECT_EQ(histogram.RankOf(1), 65U);
}

// IRLbot s7: the best K have budgets linearly between B_0 and the most. That
// it is linear in the rank is what the paper's mean budget of 11 says.
TEST(DegreeHistogram, BudgetsFallLinearlyWithTheRank) {
  const DegreeHistogram histogram = Of({50, 40, 30, 20, 10, 5});
  EXPECT_EQ(histogram.Interpolate(5, 10, 1010),
            (std::vector<BudgetPoint>{
                {10, 10}, {20, 260}, {30, 510}, {40, 760}, {50, 1010}}));
  EXPECT_EQ(histogram.Interpolate(1, 10, 1010),
            (std::vector<BudgetPoint>{{50, 1010}}));
}

TEST(DegreeHistogram, ThePapersMeanBudgetIs11) {
  DegreeHistogram histogram;
  for (uint64_t i = 1; i <= 10'000; ++i) histogram.Move(0, 1000 + i * 300);
  double sum = 0;
  uint64_t rank = 0;
  const auto points = histogram.Interpolate(10'000, 10, 10'000);
  for (auto point = points.rbegin(); point != points.rend(); ++point) {
    const uint64_t last = histogram.RankOf(point->in_degree);
    sum += static_cast<double>(last - rank) * point->budget;
    rank = last;
  }
  constexpr double kDomains = 33e6;
  const double mean = (sum + (kDomains - 10'000) * 10) / kDomains;
  EXPECT_NEAR(mean, 11, 0.6);
}

TEST(DegreeHistogram, TiesNeverRaiseMoreThanTheBest) {
  std::vector<uint64_t> in_degrees(1000, 1);
  in_degrees.insert(in_degrees.end(), {9, 9, 9});
  const DegreeHistogram histogram = Of(in_degrees);
  EXPECT_EQ(histogram.Interpolate(11, 10, 110),
            (std::vector<BudgetPoint>{{9, 90}}));
  EXPECT_TRUE(histogram.Interpolate(2, 10, 110).empty());
}

TEST(DegreeHistogram, SeveralAddUp) {
  DegreeHistogram sum = Of({1, 7, 300});
  sum.Merge(Of({7, 5000}));
  EXPECT_EQ(sum, Of({1, 7, 7, 300, 5000}));
}

TEST(DegreeHistogram, ComesBackFromItsBytes) {
  const DegreeHistogram histogram = Of({1, 1, 7, 300, UINT64_MAX});
  std::string bytes;
  ByteWriter writer(bytes);
  histogram.Write(writer);
  DegreeHistogram read;
  ByteReader reader(bytes);
  ASSERT_TRUE(read.Read(reader));
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_EQ(read, histogram);
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteReader cut(std::string_view(bytes).substr(0, size));
    EXPECT_FALSE(read.Read(cut));
  }
  EXPECT_EQ(read, histogram);
}

}  // namespace
}  // namespace nephila::reputation
