#include "fetch/connection_budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace nephila::fetch {
namespace {

class Asked final : public ConnectionBudget::Member {
 public:
  void CloseIdleSoon(size_t count) override { asked += count; }
  std::atomic<size_t> asked{0};
};

TEST(ConnectionBudgetTest, GivesOutAsManySlotsAsThereAre) {
  ConnectionBudget budget(3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(budget.TryTake());
  EXPECT_FALSE(budget.TryTake());
  budget.Give(1);
  EXPECT_TRUE(budget.TryTake());
  EXPECT_EQ(budget.used(), 3U);
  // A connection that is open counts, whatever the limit.
  budget.Take(1);
  EXPECT_EQ(budget.used(), 4U);
  EXPECT_FALSE(budget.TryTake());
  budget.Give(4);
  EXPECT_EQ(budget.used(), 0U);
}

TEST(ConnectionBudgetTest, IsTightBeforeItIsUsedUp) {
  ConnectionBudget budget(16);
  for (int i = 0; i < 13; ++i) EXPECT_TRUE(budget.TryTake());
  EXPECT_FALSE(budget.is_tight());
  EXPECT_TRUE(budget.TryTake());
  EXPECT_TRUE(budget.is_tight());
  EXPECT_TRUE(budget.TryTake());
}

TEST(ConnectionBudgetTest, AsksTheOtherMembersToCloseIdleConnections) {
  ConnectionBudget budget(3);
  Asked one;
  Asked two;
  budget.Join(&one);
  budget.Join(&two);
  budget.Squeeze(&one, 5);
  EXPECT_EQ(one.asked, 0U);
  EXPECT_EQ(two.asked, 5U);
  budget.Leave(&two);
  budget.Squeeze(nullptr, 2);
  EXPECT_EQ(one.asked, 2U);
  EXPECT_EQ(two.asked, 5U);
  budget.Leave(&one);
}

TEST(ConnectionBudgetTest, AWaiterIsWokenByAGive) {
  const ManualClock clock;  // its deadline never comes
  ConnectionBudget budget(1);
  EXPECT_TRUE(budget.TryTake());
  std::thread waiter(
      [&] { budget.WaitForGive(clock, clock.Now() + std::chrono::hours(1)); });
  while (clock.waiters() == 0) std::this_thread::yield();
  budget.Give(1);
  waiter.join();
}

TEST(ConnectionBudgetTest, AWaiterGivesUpAtItsDeadline) {
  ManualClock clock;
  ConnectionBudget budget(1);
  std::thread waiter([&] {
    budget.WaitForGive(clock, clock.Now() + std::chrono::seconds(1));
  });
  while (clock.waiters() == 0) std::this_thread::yield();
  clock.Advance(std::chrono::seconds(1));
  waiter.join();
}

TEST(ConnectionBudgetTest, NeverMoreThanTheLimitOnManyThreads) {
  constexpr size_t kLimit = 5;
  ConnectionBudget budget(kLimit);
  std::atomic<size_t> held{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 10'000; ++turn) {
        if (!budget.TryTake()) continue;
        EXPECT_LE(held.fetch_add(1) + 1, kLimit);
        held.fetch_sub(1);
        budget.Give(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used(), 0U);
}

}  // namespace
}  // namespace nephila::fetch
