#include "sim/heavy_tail.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nephila::sim {
namespace {

// Every quantile once.
double MeasuredMean(const HeavyTail& tail) {
  constexpr int kSteps = 200'000;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    sum += static_cast<double>(tail.At((i + 0.5) / kSteps));
  }
  return sum / kSteps;
}

TEST(HeavyTailTest, HasTheMeanThatWasAskedFor) {
  for (const auto& [mean, alpha, largest] : {std::tuple{3.48, 1.4, 10'000},
                                             {54.0, 1.2, 10'000},
                                             {21'500.0, 1.8, 512'000},
                                             {1.0, 1.4, 10}}) {
    const HeavyTail tail(mean, alpha, static_cast<uint64_t>(largest));
    EXPECT_NEAR(MeasuredMean(tail) / mean, 1, 0.02) << mean;
    EXPECT_NEAR(tail.Mean() / mean, 1, 0.02) << mean;
  }
}

TEST(HeavyTailTest, FallsLikeThePowerThatWasAskedFor) {
  const HeavyTail tail(54, 1.2, 1'000'000'000);
  // The value that a share of all exceed grows by 10^(1/alpha) as the share
  // falls to a tenth.
  const auto at_hundredth = static_cast<double>(tail.At(1 - 1e-2));
  const auto at_thousandth = static_cast<double>(tail.At(1 - 1e-3));
  EXPECT_NEAR(at_thousandth / at_hundredth, std::pow(10, 1 / 1.2), 0.1);
}

TEST(HeavyTailTest, StaysBetweenOneAndTheLargest) {
  const HeavyTail tail(5, 1.1, 100);
  EXPECT_EQ(tail.At(0), 1U);
  EXPECT_EQ(tail.At(1 - 0x1p-53), 100U);
}

}  // namespace
}  // namespace nephila::sim
