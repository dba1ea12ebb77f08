#include "budget/budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/memory_file_system.h"
#include "base/random.h"
#include "base/workers.h"
#include "budget/budget_testing.h"
#include "item/budget_function.h"

namespace nephila::budget {
namespace {

using item::Admission;
using std::chrono::seconds;

class BudgetTest : public ::testing::Test {
 protected:
  void Create(const BudgetOptions& options) {
    auto created = Budget::Create({fs_, clock_, workers_}, "budget", options);
    ASSERT_TRUE(created.has_value()) << created.error().message;
    budget_ = *std::move(created);
  }
  void Add(const TestUrl& url) {
    const auto added = budget_->Add(EncodeUrl(url));
    ASSERT_TRUE(added.has_value());
    ASSERT_EQ(*added, Admission::kTaken);
  }
  void AddMany(uint64_t domain, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) Add({domain, i, 0});
  }
  // Gives all that was added its queue.
  void Settle() {
    ASSERT_TRUE(budget_->Flush().has_value());
    for (int i = 0; i < 1000 && budget_->stats().in_drum > 0; ++i) {
      ASSERT_TRUE(budget_->Step(10'000).has_value());
    }
    ASSERT_EQ(budget_->stats().in_drum, 0U);
  }
  std::vector<TestUrl> Take(size_t max_urls) {
    std::vector<TestUrl> taken;
    const auto count = budget_->Take(max_urls, [&](const BudgetedUrl& url) {
      taken.push_back(DecodeUrl(url.record));
      budgets_.push_back(url.budget);
    });
    EXPECT_TRUE(count.has_value());
    EXPECT_EQ(*count, taken.size());
    EXPECT_EQ(budget_->account().Imbalance(), 0);
    return taken;
  }
  // Everything, with the steps that it takes.
  std::vector<TestUrl> Drain() {
    std::vector<TestUrl> all;
    for (int i = 0; i < 100'000 && !budget_->IsEmpty(); ++i) {
      const std::vector<TestUrl> some = Take(100);
      all.insert(all.end(), some.begin(), some.end());
      EXPECT_TRUE(budget_->Step(1000).has_value());
      if (some.empty()) {
        EXPECT_TRUE(budget_->RunDry().has_value());
      }
    }
    EXPECT_TRUE(budget_->IsEmpty());
    return all;
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  Workers workers_{0};
  std::vector<uint64_t> budgets_;
  std::unique_ptr<Budget> budget_;
};

TEST_F(BudgetTest, AUrlComesOutAsItCameWithItsBudget) {
  Create(SmallOptions(2, 64));
  Add({1, 7, 3});
  Settle();
  EXPECT_EQ(Take(10), (std::vector<TestUrl>{{1, 7, 3}}));
  EXPECT_EQ(budgets_, (std::vector<uint64_t>{3}));
  EXPECT_TRUE(budget_->IsEmpty());
  EXPECT_EQ(budget_->account().Totals().in, 1U);
  EXPECT_EQ(budget_->account().Totals().out, 1U);
}

TEST_F(BudgetTest, AQueueTakesTheBudgetOfADomainAndNoMore) {
  Create(SmallOptions(4, 64));
  AddMany(1, 8);
  AddMany(2, 2);
  Settle();
  // Reading queue 1 the window is 2, 3 and 4: three, three and two of them.
  EXPECT_EQ(budget_->stats().in_failed, 0U);
  EXPECT_EQ(budget_->stats().current, 2U);
  EXPECT_EQ(Take(5),
            (std::vector<TestUrl>{
                {1, 0, 0}, {1, 1, 0}, {1, 2, 0}, {2, 0, 0}, {2, 1, 0}}));
  EXPECT_EQ(budget_->stats().current, 2U);
  EXPECT_EQ(Take(3), (std::vector<TestUrl>{{1, 3, 0}, {1, 4, 0}, {1, 5, 0}}));
  EXPECT_EQ(budget_->stats().current, 3U);
  EXPECT_EQ(Take(3), (std::vector<TestUrl>{{1, 6, 0}, {1, 7, 0}}));
}

TEST_F(BudgetTest, WhatFitsNoQueueWaitsAndTheQueuesDouble) {
  Create(SmallOptions(1, 1024));
  AddMany(1, 100);
  Settle();
  EXPECT_EQ(budget_->stats().in_failed, 100U);
  const std::vector<TestUrl> all = Drain();
  ASSERT_EQ(all.size(), 100U);
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(all[i].number, i);
  // 3 URLs a queue: rounds of 1, 2, 4, 8, 16 and 32 queues.
  EXPECT_EQ(budget_->stats().splits, 6U);
  EXPECT_EQ(budget_->stats().queues, 64U);
}

TEST_F(BudgetTest, TheNumberOfQueuesHasABound) {
  Create(SmallOptions(2, 4));
  AddMany(1, 200);
  Settle();
  EXPECT_EQ(Drain().size(), 200U);
  EXPECT_EQ(budget_->stats().queues, 4U);
  EXPECT_GT(budget_->stats().splits, 5U);
}

TEST_F(BudgetTest, AnIdleCrawlDoesNotSpin) {
  Create(SmallOptions(2, 64));
  for (int round = 0; round < 3; ++round) {
    Add({1, static_cast<uint64_t>(round), 0});
    Settle();
    EXPECT_EQ(Drain().size(), 1U);
    const BudgetStats before = budget_->stats();
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(*budget_->Step(100), 0U);
      EXPECT_TRUE(Take(10).empty());
      EXPECT_FALSE(*budget_->RunDry());
    }
    EXPECT_EQ(budget_->stats().current, before.current);
    EXPECT_EQ(budget_->stats().queues, 2U);
    EXPECT_EQ(budget_->stats().splits, 0U);
  }
}

TEST_F(BudgetTest, AQueueIsLeftWhenItsOwnerSaysSo) {
  BudgetOptions options = SmallOptions(4, 4);
  int asked = 0;
  bool may_leave = false;
  options.may_leave = [&]() -> Result<bool> {
    ++asked;
    return may_leave;
  };
  Create(options);
  AddMany(1, 5);  // three in a queue, two in the next
  Settle();
  EXPECT_EQ(Take(100).size(), 3U);
  EXPECT_GT(asked, 0);
  const uint64_t current = budget_->stats().current;
  EXPECT_TRUE(Take(100).empty());
  // What comes now goes to the queue behind, and is not too late for it.
  Add({2, 0, 0});
  Settle();
  EXPECT_EQ(budget_->stats().current, current);
  may_leave = true;
  EXPECT_EQ(Take(100).size(), 3U);
  EXPECT_GT(budget_->stats().current, current);
}

TEST_F(BudgetTest, NobodyIsAskedWhereNothingWaits) {
  BudgetOptions options = SmallOptions(2, 4);
  int asked = 0;
  options.may_leave = [&]() -> Result<bool> {
    ++asked;
    return true;
  };
  Create(options);
  AddMany(1, 3);
  Settle();
  EXPECT_EQ(Take(100).size(), 3U);
  EXPECT_TRUE(Take(100).empty());
  EXPECT_EQ(asked, 0);
}

TEST_F(BudgetTest, WithoutUrlsLeftOverTheQueuesDoNotDouble) {
  Create(SmallOptions(2, 64));
  for (uint64_t round = 0; round < 20; ++round) {
    for (uint64_t domain = 0; domain < 50; ++domain) Add({domain, round, 0});
    Settle();
    EXPECT_EQ(Drain().size(), 50U);
  }
  EXPECT_EQ(budget_->stats().queues, 2U);
  EXPECT_EQ(budget_->stats().splits, 0U);
  EXPECT_GT(budget_->stats().current, 15U);
}

TEST_F(BudgetTest, AQuietDomainHasNoCreditToPourOut) {
  Create(SmallOptions(2, 2));
  for (uint64_t i = 0; i < 30; ++i) {
    Add({1, i, 0});
    Settle();
    Drain();
  }
  AddMany(2, 20);
  Settle();
  EXPECT_EQ(budget_->stats().in_queues, 3U);
  EXPECT_EQ(budget_->stats().in_failed, 17U);
}

TEST_F(BudgetTest, InDegreesRaiseBudgetsAndAreSaid) {
  std::vector<std::pair<uint64_t, uint64_t>> changes;
  BudgetOptions options = SmallOptions(2, 64);
  options.degree_changed = [&](uint64_t before, uint64_t after) {
    changes.emplace_back(before, after);
  };
  Create(options);
  ASSERT_TRUE(budget_->AddInDegree(PldOf(1), 2).has_value());
  ASSERT_TRUE(budget_->AddInDegree(PldOf(1), 3).has_value());
  AddMany(1, 20);
  AddMany(2, 20);
  Settle();
  EXPECT_EQ(changes,
            (std::vector<std::pair<uint64_t, uint64_t>>{{0, 2}, {2, 5}}));
  EXPECT_EQ(budget_->stats().in_queues, 15U + 3U);
}

TEST_F(BudgetTest, TheDelayOfAHostCapsWhatAQueueTakes) {
  BudgetOptions options = SmallOptions(2, 64);
  options.host_delay = seconds(40);
  options.function = [] { return TestFunction(30, 30); };
  Create(options);
  // The first queues take 100 s each.
  for (uint64_t i = 0; i < 20; ++i) {
    Add({1, i, 0});
    Settle();
    EXPECT_EQ(Take(1).size(), 1U);
    clock_.Advance(seconds(100));
  }
  EXPECT_NEAR(static_cast<double>(budget_->stats().queue_time.count()), 100e9,
              10e9);
  AddMany(2, 30);
  for (uint64_t i = 0; i < 30; ++i) Add({3, i, i % 8});
  Settle();
  const uint64_t in_queues = budget_->stats().in_queues;
  // Two of the domain with one host, and about 8 times as many of the other.
  EXPECT_GE(in_queues, 2U + 10U);
  EXPECT_LE(in_queues, 2U + 30U);
  uint64_t of_one_host = 0;
  for (const TestUrl& url : Take(in_queues)) of_one_host += url.domain == 2;
  EXPECT_EQ(of_one_host, 2U);
}

TEST_F(BudgetTest, ZeroBudgetsComeSlowlyAndAreNotLost) {
  BudgetOptions options = SmallOptions(2, 64);
  options.function = [] {
    return item::EncodeBudgetFunction(config::BudgetPolicy::kPopular, 10, 100,
                                      {});
  };
  Create(options);
  AddMany(1, 10);
  Settle();
  EXPECT_EQ(budget_->stats().in_queues, 1U);
  EXPECT_EQ(Drain().size(), 10U);
}

TEST_F(BudgetTest, BytesThatAreNoRecordAreRefused) {
  Create(SmallOptions(2, 64));
  const auto added = budget_->Add("nothing");
  ASSERT_FALSE(added.has_value());
  EXPECT_EQ(added.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(budget_->IsEmpty());
}

TEST_F(BudgetTest, DamagedCommitsAreRefused) {
  Create(SmallOptions(1, 64));
  AddMany(1, 10);
  Settle();
  Take(1);
  const auto commit = budget_->BeginCommit();
  ASSERT_TRUE(commit.has_value());
  ASSERT_TRUE(budget_->FinishCommit().has_value());
  budget_.reset();
  for (size_t size = 0; size < commit->size(); ++size) {
    const auto opened =
        Budget::Open({fs_, clock_, workers_}, "budget", SmallOptions(1, 64),
                     commit->substr(0, size));
    ASSERT_FALSE(opened.has_value()) << size;
    EXPECT_EQ(opened.error().code, ErrorCode::kCorruption);
  }
}

TEST_F(BudgetTest, ACommitWithLessThanTheQueuesHaveIsRefused) {
  Create(SmallOptions(2, 64));
  AddMany(1, 10);
  Settle();
  const auto commit = budget_->BeginCommit();
  ASSERT_TRUE(commit.has_value());
  ASSERT_TRUE(budget_->FinishCommit().has_value());
  budget_.reset();
  // Version, two generations, then what came in.
  std::string wrong = *commit;
  ASSERT_EQ(wrong[3], 10);
  wrong[3] = 1;
  const auto opened = Budget::Open({fs_, clock_, workers_}, "budget",
                                   SmallOptions(2, 64), wrong);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::kCorruption);
}

// The paper's example of spam: a few domains with most of the URLs. In each
// queue they have no more than their budget, whatever waits behind it.
TEST_F(BudgetTest, SpamFarmsGetTheirBudgetAndNoMore) {
  Create(SmallOptions(2, 1024));
  Random random(4);
  constexpr uint64_t kDomains = 3000;
  std::map<uint64_t, uint64_t> numbers;
  uint64_t urls = 0;
  for (int i = 0; i < 40'000; ++i) {
    const uint64_t domain =
        random.Chance(0.9) ? random.Below(30) : random.Below(kDomains);
    Add({domain, numbers[domain]++, 0});
    ++urls;
    if (i % 10'000 == 9999) Settle();
  }
  std::set<TestUrl> seen;
  std::map<uint64_t, uint64_t> last;
  while (!budget_->IsEmpty()) {
    ASSERT_TRUE(budget_->Step(5000).has_value());
    std::map<uint64_t, uint64_t> in_queue;
    const uint64_t current = budget_->stats().current;
    while (budget_->stats().current == current) {
      const std::vector<TestUrl> some = Take(1);
      if (some.empty()) break;
      EXPECT_TRUE(seen.insert(some[0]).second);
      if (budget_->stats().current == current) {
        EXPECT_LE(++in_queue[some[0].domain], 3U);
      }
    }
  }
  EXPECT_EQ(seen.size(), urls);
}

}  // namespace
}  // namespace nephila::budget
