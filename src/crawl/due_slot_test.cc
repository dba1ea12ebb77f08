#include "crawl/due_slot.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace nephila::crawl {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

const WallTime kNow(seconds(1'767'225'600) + milliseconds(345));

TEST(DueSlotTest, TheNumberOfAQueueSaysWhenItOpens) {
  for (const nanoseconds wait :
       {nanoseconds(0), nanoseconds(seconds(1)), nanoseconds(minutes(1)),
        nanoseconds(minutes(5)), nanoseconds(hours(3)),
        nanoseconds(hours(24 * 30))}) {
    const DueSlot slot = SlotFor(kNow + wait, kNow);
    EXPECT_NE(slot.queue, 0U);
    EXPECT_EQ(SlotOfQueue(slot.queue), slot);
  }
}

// All of a second or a minute are due when it opens, and at most so much late;
// an hour opens before any of it is due, and they are looked at again.
TEST(DueSlotTest, NobodyComesEarlyAndFewComeLate) {
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const nanoseconds wait(
        static_cast<int64_t>(random.Below(uint64_t{7'200'000'000'000})));
    const WallTime due = kNow + wait;
    const DueSlot slot = SlotFor(due, kNow);
    EXPECT_GE(slot.opens, due);
    EXPECT_LT(slot.opens - due, wait < minutes(2) ? seconds(1) : minutes(1));
  }
  const DueSlot day = SlotFor(kNow + hours(24), kNow);
  EXPECT_LE(day.opens, kNow + hours(24));
  EXPECT_GT(day.opens, kNow + hours(23));
  const DueSlot next = SlotFor(kNow + hours(24), day.opens);
  EXPECT_GE(next.opens, kNow + hours(24));
}

TEST(DueSlotTest, WhatIsDueOpensAtOnce) {
  EXPECT_LE(SlotFor(kNow - hours(1), kNow).opens, kNow);
  EXPECT_EQ(SlotFor(WallTime(seconds(-5)), kNow).opens, WallTime());
}

TEST(DueSlotTest, ThereAreFewHoweverManyWait) {
  std::set<DueSlot> slots;
  for (int64_t second = 0; second < 31 * 24 * 3600; second += 61) {
    slots.insert(SlotFor(kNow + seconds(second), kNow));
  }
  EXPECT_LT(slots.size(), 1'000U);
  WallTime before{};
  for (const DueSlot& slot : slots) {
    EXPECT_GE(slot.opens, before);
    before = slot.opens;
  }
}

}  // namespace
}  // namespace nephila::crawl
