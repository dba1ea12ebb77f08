// `budget` with workers that have threads, and with commits that are finished
// beside it.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/memory_file_system.h"
#include "base/workers.h"
#include "budget/budget.h"
#include "budget/budget_testing.h"

namespace nephila::budget {
namespace {

using item::Admission;

// Adds URLs of some farms and of many others, takes what comes, and commits on
// another thread all the while.
TEST(BudgetThreads, EachUrlComesOutOnceWhileOthersWork) {
  constexpr uint64_t kUrls = 20'000;
  MemoryFileSystem fs;
  RealClock clock;
  Workers workers(2);
  BudgetOptions options = SmallOptions(2, 256);
  options.function = [] { return TestFunction(40, 40); };
  auto budget = Budget::Create({fs, clock, workers}, "budget", options);
  ASSERT_TRUE(budget.has_value());
  std::set<TestUrl> out;
  uint64_t next = 0;
  for (uint64_t turn = 1; next < kUrls || !(*budget)->IsEmpty(); ++turn) {
    for (int i = 0; i < 500 && next < kUrls; ++i) {
      const TestUrl url{next % 2 == 0 ? next % 10 : next % 997, next, 0};
      const auto added = (*budget)->Add(EncodeUrl(url));
      ASSERT_TRUE(added.has_value());
      if (*added == Admission::kFull) break;
      ++next;
    }
    const auto moved = (*budget)->Step(700);
    ASSERT_TRUE(moved.has_value());
    const auto taken = (*budget)->Take(300, [&](const BudgetedUrl& url) {
      EXPECT_TRUE(out.insert(DecodeUrl(url.record)).second);
    });
    ASSERT_TRUE(taken.has_value());
    if (*moved == 0 && *taken == 0) {
      ASSERT_TRUE((*budget)->Flush().has_value());
      ASSERT_TRUE((*budget)->Wait().has_value());
    }
    if (turn % 4 == 0) {
      ASSERT_TRUE((*budget)->BeginCommit().has_value());
      Status finished;
      std::thread other([&] { finished = (*budget)->FinishCommit(); });
      ASSERT_TRUE((*budget)->Step(50).has_value());
      other.join();
      ASSERT_TRUE(finished.has_value());
    }
  }
  EXPECT_EQ(out.size(), kUrls);
  EXPECT_EQ((*budget)->account().Imbalance(), 0);
}

// What a domain gets in each queue: never more than its budget; and its URLs
// that had not to wait in Q_F keep their order.
TEST(BudgetThreads, OrderWithinADomainIsKeptWhereBudgetsSuffice) {
  MemoryFileSystem fs;
  RealClock clock;
  Workers workers(2);
  BudgetOptions options = SmallOptions(4, 256);
  options.function = [] { return TestFunction(100'000, 100'000); };
  auto budget = Budget::Create({fs, clock, workers}, "budget", options);
  ASSERT_TRUE(budget.has_value());
  std::map<uint64_t, uint64_t> next_of;
  uint64_t out = 0;
  uint64_t next = 0;
  while (out < 10'000) {
    for (int i = 0; i < 300 && next < 10'000; ++i, ++next) {
      ASSERT_TRUE(
          (*budget)->Add(EncodeUrl({next % 7, next / 7, 0})).has_value());
    }
    ASSERT_TRUE((*budget)->Flush().has_value());
    ASSERT_TRUE((*budget)->Wait().has_value());
    ASSERT_TRUE((*budget)->Step(1000).has_value());
    ASSERT_TRUE((*budget)
                    ->Take(1000,
                           [&](const BudgetedUrl& url) {
                             const TestUrl test = DecodeUrl(url.record);
                             EXPECT_EQ(test.number, next_of[test.domain]++);
                             ++out;
                           })
                    .has_value());
  }
  EXPECT_EQ((*budget)->stats().splits, 0U);
}

}  // namespace
}  // namespace nephila::budget
