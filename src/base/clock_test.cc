#include "base/clock.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

namespace nephila {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

WallTime Wall(int64_t ns) { return WallTime(nanoseconds(ns)); }

static_assert(!std::is_convertible_v<MonoTime, WallTime>);
static_assert(!std::is_constructible_v<WallTime, MonoTime>);

TEST(RealClock, NeverGoesBack) {
  const RealClock clock;
  MonoTime last = clock.Now();
  EXPECT_GT(last, MonoTime());
  for (int i = 0; i < 10000; ++i) {
    const MonoTime now = clock.Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(RealClock, KnowsTheYear) {
  EXPECT_GT(FormatUtc(RealClock().WallNow()), "2025");
}

TEST(ManualClock, StandsStillUntilAdvanced) {
  ManualClock clock;
  const MonoTime mono = clock.Now();
  EXPECT_EQ(FormatUtc(clock.WallNow()), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(clock.Now(), mono);
  clock.Advance(milliseconds(1500));
  EXPECT_EQ(clock.Now() - mono, milliseconds(1500));
  EXPECT_EQ(FormatUtc(clock.WallNow()), "2026-01-01T00:00:01.500Z");
}

TEST(ManualClock, StepsOnlyTheWallAndAlsoBackwards) {
  ManualClock clock;
  const MonoTime mono = clock.Now();
  const WallTime wall = clock.WallNow();
  clock.StepWall(-hours(2));
  EXPECT_EQ(clock.WallNow(), wall - hours(2));
  clock.StepWall(hours(3));
  EXPECT_EQ(clock.WallNow(), wall + hours(1));
  EXPECT_EQ(clock.Now(), mono);
}

TEST(ManualClock, LosesNoStepBetweenThreads) {
  ManualClock clock;
  const MonoTime mono = clock.Now();
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) clock.Advance(nanoseconds(3));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clock.Now() - mono, nanoseconds(12000));
}

TEST(ManualClockDeathTest, TimeDoesNotPassBackwards) {
  ManualClock clock;
  EXPECT_DEATH(clock.Advance(seconds(-1)), "check failed");
}

TEST(FormatUtc, WritesAnyTimeThatFits) {
  EXPECT_EQ(FormatUtc(Wall(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatUtc(Wall(1'767'323'045'678'999'999)),
            "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(FormatUtc(Wall(951'782'400'000'000'000)),
            "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(FormatUtc(Wall(-1)), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(FormatUtc(Wall(std::numeric_limits<int64_t>::max())),
            "2262-04-11T23:47:16.854Z");
  EXPECT_EQ(FormatUtc(Wall(std::numeric_limits<int64_t>::min())),
            "1677-09-21T00:12:43.145Z");
}

}  // namespace
}  // namespace nephila
