#include "politeness/timed_heap.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "base/random.h"

namespace nephila::politeness {
namespace {

MonoTime At(int64_t n) { return MonoTime(std::chrono::nanoseconds(n)); }

TEST(TimedHeapTest, GivesWhatIsDueFirst) {
  TimedHeap heap;
  heap.Put(5, At(30));
  heap.Put(2, At(10));
  heap.Put(9, At(20));
  heap.Put(5, At(5));
  heap.Remove(9);
  heap.Remove(7);
  EXPECT_EQ(heap.time(), At(5));
  EXPECT_EQ(heap.Take(), 5U);
  EXPECT_EQ(heap.Take(), 2U);
  EXPECT_TRUE(heap.empty());
}

TEST(TimedHeapTest, DoesWhatASortedSetDoes) {
  TimedHeap heap;
  std::set<std::pair<int64_t, uint32_t>> sorted;
  std::vector<int64_t> times(200, -1);
  Random random(1);
  for (int i = 0; i < 50000; ++i) {
    const auto thing = static_cast<uint32_t>(random.Below(200));
    const auto time = static_cast<int64_t>(random.Below(1000));
    const bool in = times[thing] >= 0;
    ASSERT_EQ(heap.Contains(thing), in);
    if (in) sorted.erase({times[thing], thing});
    if (random.Chance(0.3)) {
      heap.Remove(thing);
      times[thing] = -1;
    } else {
      heap.Put(thing, At(time));
      sorted.insert({time, thing});
      times[thing] = time;
    }
    ASSERT_EQ(heap.size(), sorted.size());
    if (sorted.empty()) continue;
    ASSERT_EQ(heap.time(), At(sorted.begin()->first));
    if (!random.Chance(0.2)) continue;
    const uint32_t first = heap.Take();
    ASSERT_EQ(first, sorted.begin()->second);
    sorted.erase(sorted.begin());
    times[first] = -1;
  }
}

}  // namespace
}  // namespace nephila::politeness
