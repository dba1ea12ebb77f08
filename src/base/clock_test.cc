#include "base/clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <string>
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

TEST(RealClock, KnowsItsBoot) {
  const RealClock clock;
  const Result<std::string> id = clock.BootId();
  ASSERT_TRUE(id.has_value()) << id.error().message;
  EXPECT_EQ(id->size(), 36u) << *id;
  EXPECT_EQ(*clock.BootId(), *id);
}

TEST(RealClock, WaitsUntilADeadline) {
  const RealClock clock;
  Mutex mutex;
  CondVar changed;
  MutexLock lock(mutex);
  EXPECT_TRUE(clock.WaitUntil(changed, mutex, MonoTime::min()));
  EXPECT_TRUE(clock.WaitUntil(changed, mutex, clock.Now()));
  const MonoTime deadline = clock.Now() + milliseconds(2);
  while (!clock.WaitUntil(changed, mutex, deadline)) {
    // Nobody notifies: time alone ends this.
  }
  EXPECT_GE(clock.Now(), deadline);
}

// A thread that waits until it is told, or until a deadline.
class Sleeper {
 public:
  Sleeper(const Clock& clock, MonoTime deadline)
      : thread_([this, &clock, deadline] { Wait(clock, deadline); }) {}

  void Tell() {
    MutexLock lock(mutex_);
    told_ = true;
    changed_.NotifyAll();
  }

  Mutex& mutex() { return mutex_; }

  // Whether the deadline came first. Waits for the thread.
  bool MissedIt() {
    thread_.join();
    MutexLock lock(mutex_);
    return !told_;
  }

 private:
  void Wait(const Clock& clock, MonoTime deadline) {
    MutexLock lock(mutex_);
    while (!told_ && !clock.WaitUntil(changed_, mutex_, deadline)) {
    }
  }

  Mutex mutex_;
  CondVar changed_;
  bool told_ NEPHILA_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

void AwaitWaiters(const ManualClock& clock, size_t count) {
  while (clock.waiters() != count) std::this_thread::yield();
}

TEST(RealClock, IsWokenBeforeTheDeadline) {
  const RealClock clock;
  Sleeper sleeper(clock, MonoTime::max());
  sleeper.Tell();
  EXPECT_FALSE(sleeper.MissedIt());
}

TEST(ManualClock, WaitsForNoDeadlineThatHasPassed) {
  const ManualClock clock;
  Mutex mutex;
  CondVar changed;
  MutexLock lock(mutex);
  EXPECT_TRUE(clock.WaitUntil(changed, mutex, clock.Now()));
  EXPECT_TRUE(clock.WaitUntil(changed, mutex, MonoTime::min()));
}

TEST(ManualClock, WakesThoseWhoseTimeHasComeAndKeepsTheRest) {
  ManualClock clock;
  Sleeper early(clock, clock.Now() + seconds(1));
  Sleeper late(clock, clock.Now() + seconds(2));
  Sleeper never(clock, MonoTime::max());
  AwaitWaiters(clock, 3);
  clock.Advance(milliseconds(1500));
  EXPECT_TRUE(early.MissedIt());
  // Both have looked at the clock and wait again, or still do.
  AwaitWaiters(clock, 2);
  clock.Advance(milliseconds(500));
  EXPECT_TRUE(late.MissedIt());
  never.Tell();
  EXPECT_FALSE(never.MissedIt());
  EXPECT_EQ(clock.waiters(), 0u);
}

TEST(ManualClock, LosesNoWakeUpBetweenTheLookAndTheWait) {
  // Whichever comes first, the wait or the step: it ends. And a waiter may go
  // with its mutex as soon as it is woken, in the middle of an Advance too.
  for (int round = 0; round < 500; ++round) {
    ManualClock clock;
    std::vector<std::unique_ptr<Sleeper>> sleepers;
    for (int i = 1; i <= 3; ++i) {
      sleepers.push_back(
          std::make_unique<Sleeper>(clock, clock.Now() + seconds(i)));
    }
    std::thread other([&] {
      for (int i = 0; i < 3; ++i) clock.Advance(milliseconds(500));
    });
    sleepers[2]->Tell();
    for (int i = 0; i < 3; ++i) clock.Advance(milliseconds(500));
    EXPECT_FALSE(sleepers[2]->MissedIt());
    EXPECT_TRUE(sleepers[0]->MissedIt());
    EXPECT_TRUE(sleepers[1]->MissedIt());
    sleepers.clear();
    other.join();
  }
}

TEST(ManualClock, NotifiesOnlyWithTheMutexOfTheWaiter) {
  // Else a notification could come between a waiter's look at the clock and
  // its sleep. Without the rule this fails nearly always, with it never.
  ManualClock clock;
  Sleeper sleeper(clock, clock.Now() + seconds(1));
  AwaitWaiters(clock, 1);
  const MonoTime before = clock.Now();
  std::atomic<bool> advanced{false};
  std::thread advancer;
  {
    MutexLock lock(sleeper.mutex());
    advancer = std::thread([&] {
      clock.Advance(seconds(1));
      advanced = true;
    });
    while (clock.Now() == before) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    EXPECT_FALSE(advanced);
  }
  advancer.join();
  EXPECT_TRUE(sleeper.MissedIt());
}

TEST(ManualClock, StartsAnewAfterABoot) {
  ManualClock clock;
  clock.Advance(hours(5));
  const std::string first = *clock.BootId();
  const WallTime wall = clock.WallNow();
  EXPECT_EQ(*clock.BootId(), first);
  clock.Reboot();
  EXPECT_EQ(clock.Now(), MonoTime(seconds(1)));
  EXPECT_EQ(clock.WallNow(), wall);
  const std::string second = *clock.BootId();
  EXPECT_NE(second, first);
  EXPECT_EQ(second.size(), RealClock().BootId()->size());
  clock.Reboot();
  EXPECT_NE(*clock.BootId(), second);
  EXPECT_NE(*clock.BootId(), first);
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
