#include "budget/host_sketch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "url/keys.h"

namespace nephila::budget {
namespace {

HostSketch Of(uint64_t hosts, uint64_t seed) {
  HostSketch sketch;
  for (uint64_t i = 0; i < hosts; ++i) {
    const std::string host = "h" + std::to_string(i) + ".example.com";
    sketch.Add(
        HostSketch::MarkOf(url::MakeKeys("", host, "example.com", seed).host));
  }
  return sketch;
}

TEST(HostSketch, AFewHostsAreCountedAlmostExactly) {
  EXPECT_EQ(HostSketch().Estimate(), 1U);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(Of(1, seed).Estimate(), 1U);
    EXPECT_GE(Of(2, seed).Estimate(), 1U);
    EXPECT_LE(Of(2, seed).Estimate(), 2U);
    EXPECT_LE(Of(4, seed).Estimate(), 5U);
  }
}

TEST(HostSketch, ManyAreEstimatedToAboutAQuarter) {
  for (const uint64_t hosts : {10U, 100U, 1000U, 20'000U}) {
    double square = 0;
    constexpr int kSeeds = 30;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto estimate = static_cast<double>(Of(hosts, seed).Estimate());
      const double error = estimate / static_cast<double>(hosts) - 1;
      square += error * error;
    }
    EXPECT_LT(std::sqrt(square / kSeeds), 0.4) << hosts;
  }
}

TEST(HostSketch, TheSameHostAgainChangesNothing) {
  HostSketch sketch = Of(20, 1);
  const HostSketch before = sketch;
  sketch.Add(HostSketch::MarkOf(
      url::MakeKeys("", "h7.example.com", "example.com", 1).host));
  EXPECT_EQ(sketch, before);
  EXPECT_EQ(HostSketch(sketch.registers()), sketch);
}

}  // namespace
}  // namespace nephila::budget
