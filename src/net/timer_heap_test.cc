#include "net/timer_heap.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"

namespace nephila::net {
namespace {

MonoTime At(int64_t ns) { return MonoTime(std::chrono::nanoseconds(ns)); }

TEST(TimerHeap, TakesInTheOrderOfTimeThenOfComing) {
  TimerHeap heap;
  std::vector<int> ran;
  const auto add = [&](int64_t time, int name) {
    heap.Add(At(time), [&ran, name] { ran.push_back(name); });
  };
  add(3, 30);
  add(1, 10);
  add(2, 20);
  add(1, 11);
  add(3, 31);
  while (!heap.empty()) heap.TakeFirst()();
  EXPECT_EQ(ran, (std::vector<int>{10, 11, 20, 30, 31}));
}

TEST(TimerHeap, AnIdIsNeverUsedAgain) {
  TimerHeap heap;
  const TimerId first = heap.Add(At(1), [] {});
  EXPECT_NE(first, TimerId::kNone);
  EXPECT_TRUE(heap.Cancel(first));
  EXPECT_FALSE(heap.Cancel(first));
  const TimerId second = heap.Add(At(1), [] {});  // in the same slot
  EXPECT_NE(first, second);
  EXPECT_FALSE(heap.Cancel(first));
  EXPECT_EQ(heap.size(), 1U);
  heap.TakeFirst()();
  EXPECT_FALSE(heap.Cancel(second));
  EXPECT_FALSE(heap.Cancel(TimerId::kNone));
}

TEST(TimerHeap, ACancelledFunctionIsDestroyedAtOnce) {
  TimerHeap heap;
  const auto held = std::make_shared<int>(0);
  const TimerId id = heap.Add(At(1), [held] {});
  EXPECT_EQ(held.use_count(), 2);
  heap.Cancel(id);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(TimerHeap, DoesAsASortedMapDoes) {
  Random random(7);
  TimerHeap heap;
  std::map<std::pair<int64_t, uint64_t>, TimerId> model;
  uint64_t order = 1;
  for (int i = 0; i < 50'000; ++i) {
    const uint64_t what = random.Below(10);
    if (what < 5 || model.empty()) {
      const auto time = static_cast<int64_t>(random.Below(1000));
      model[{time, order++}] = heap.Add(At(time), [] {});
    } else if (what < 8) {
      auto found = model.lower_bound(
          {static_cast<int64_t>(random.Below(1000)), uint64_t{0}});
      if (found == model.end()) found = model.begin();
      ASSERT_TRUE(heap.Cancel(found->second));
      model.erase(found);
    } else {
      ASSERT_EQ(heap.first_time(), At(model.begin()->first.first));
      ASSERT_EQ(heap.first_order(), model.begin()->first.second);
      heap.TakeFirst();
      model.erase(model.begin());
    }
    ASSERT_EQ(heap.size(), model.size());
  }
}

}  // namespace
}  // namespace nephila::net
