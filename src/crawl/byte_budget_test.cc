#include "crawl/byte_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

namespace nephila::crawl {
namespace {

TEST(ByteBudgetTest, TakesUpToItsLimit) {
  ByteBudget budget(100);
  EXPECT_TRUE(budget.TryTake(60));
  EXPECT_FALSE(budget.TryTake(41));
  EXPECT_FALSE(budget.IsUsedUp());
  EXPECT_TRUE(budget.TryTake(40));
  EXPECT_TRUE(budget.IsUsedUp());
  budget.Give(100);
  EXPECT_EQ(budget.used(), 0U);
}

TEST(ByteBudgetTest, TakeMayGoOverTheLimit) {
  ByteBudget budget(100);
  budget.Take(150);
  EXPECT_TRUE(budget.IsUsedUp());
  EXPECT_FALSE(budget.TryTake(0));
  budget.Give(60);
  EXPECT_TRUE(budget.TryTake(10));
}

TEST(ByteChargeTest, GivesItsBytesBackOnceWhereverItWasMoved) {
  ByteBudget budget(100);
  {
    ByteCharge charge(&budget);
    EXPECT_TRUE(charge.TryGrow(30));
    EXPECT_FALSE(charge.TryGrow(71));
    charge.Grow(10);
    ByteCharge other(std::move(charge));
    EXPECT_EQ(other.bytes(), 40U);
    EXPECT_EQ(budget.used(), 40U);
    ByteCharge third(&budget);
    third.Grow(5);
    third = std::move(other);
    EXPECT_EQ(budget.used(), 40U);
    third.Set(12);
    EXPECT_EQ(budget.used(), 12U);
  }
  EXPECT_EQ(budget.used(), 0U);
}

TEST(ByteChargeTest, ACopyIsChargedToNobody) {
  ByteBudget budget(100);
  ByteCharge charge(&budget);
  charge.Grow(30);
  const ByteCharge copy(charge);
  EXPECT_EQ(copy.bytes(), 0U);
  EXPECT_EQ(budget.used(), 30U);
}

TEST(ByteChargeTest, ThreadsShareABudgetAndNeverGoOverItsLimit) {
  ByteBudget budget(1000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&budget] {
      for (int round = 0; round < 2000; ++round) {
        ByteCharge charge(&budget);
        const bool fits = charge.TryGrow(300);
        EXPECT_EQ(charge.bytes(), fits ? 300U : 0U);
        EXPECT_LE(budget.used(), 1000U);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used(), 0U);
}

}  // namespace
}  // namespace nephila::crawl
