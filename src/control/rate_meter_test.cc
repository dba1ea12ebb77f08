#include "control/rate_meter.h"

#include <gtest/gtest.h>

namespace nephila::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RateMeterTest, KnowsNothingAtFirst) {
  RateMeter meter;
  EXPECT_EQ(meter.Over(seconds(10)), 0);
  meter.Note(MonoTime(seconds(5)), 7);
  EXPECT_EQ(meter.Over(seconds(10)), 0);
}

TEST(RateMeterTest, LooksAtItsWindowAlone) {
  RateMeter meter;
  uint64_t value = 0;
  for (int second = 0; second <= 120; ++second) {
    meter.Note(MonoTime(seconds(second)), value);
    value += second < 110 ? 1 : 100;
  }
  EXPECT_DOUBLE_EQ(meter.Over(seconds(10)), 100);
  EXPECT_NEAR(meter.Over(seconds(60)), (10 * 100 + 50) / 60.0, 0.1);
  // More than that is not kept.
  EXPECT_DOUBLE_EQ(meter.Over(seconds(600)), meter.Over(seconds(60)));
}

TEST(RateMeterTest, ManySamplesTakeNoMoreMemoryNorChangeTheRate) {
  RateMeter meter;
  for (int i = 0; i <= 30'000; ++i) {
    meter.Note(MonoTime(milliseconds(i)), static_cast<uint64_t>(i));
  }
  EXPECT_NEAR(meter.Over(seconds(10)), 1000, 60);
}

TEST(RateMeterTest, ACounterThatStandsStillHasNoRate) {
  RateMeter meter;
  for (int second = 0; second <= 20; ++second) {
    meter.Note(MonoTime(seconds(second)), second < 5 ? 0 : 50);
  }
  EXPECT_EQ(meter.Over(seconds(10)), 0);
}

}  // namespace
}  // namespace nephila::control
