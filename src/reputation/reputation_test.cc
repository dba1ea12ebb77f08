#include "reputation/reputation.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/memory_file_system.h"
#include "base/random.h"
#include "base/workers.h"
#include "item/budget_function.h"

namespace nephila::reputation {
namespace {

using item::Admission;
using url::PldKey;

ReputationOptions SmallOptions() {
  ReputationOptions options;
  options.seed = 3;
  options.memory_bytes = uint64_t{1} << 20;
  options.disk_bytes = uint64_t{4} << 20;
  return options;
}

class ReputationTest : public ::testing::Test {
 protected:
  ReputationTest() {
    EXPECT_TRUE(fs_.MakeDir("reputation").has_value());
    // As `budget` does: adds up, and says what has changed.
    sink_ = [this](const InDegree& in_degree) -> Result<Admission> {
      if (room_ == 0) return Admission::kFull;
      --room_;
      uint64_t& count = counts_[in_degree.to.value];
      reputation_->DegreeChanged(count, count + in_degree.count);
      count += in_degree.count;
      return Admission::kTaken;
    };
  }

  void Create(const ReputationOptions& options) {
    auto created =
        Reputation::Create({fs_, clock_, workers_}, "reputation", options);
    ASSERT_TRUE(created.has_value()) << created.error().message;
    reputation_ = *std::move(created);
  }
  std::string Commit() {
    auto bytes = reputation_->BeginCommit();
    EXPECT_TRUE(bytes.has_value());
    EXPECT_TRUE(reputation_->FinishCommit().has_value());
    return *bytes;
  }
  void Link(uint64_t from, uint64_t to) {
    const auto added = reputation_->Add({PldKey{from}, PldKey{to}});
    ASSERT_TRUE(added.has_value());
    ASSERT_EQ(*added, Admission::kTaken);
  }
  void Drain() {
    for (int i = 0; i < 100'000 && !reputation_->IsEmpty(); ++i) {
      ASSERT_TRUE(reputation_->Flush().has_value());
      ASSERT_TRUE(reputation_->Step(sink_, 1000).has_value());
      ASSERT_EQ(reputation_->account().Imbalance(), 0);
    }
    ASSERT_TRUE(reputation_->IsEmpty());
  }
  uint64_t Budget(uint64_t in_degree) const {
    const std::string bytes = reputation_->MakeFunction();
    return item::BudgetFunction::Read(bytes)->Budget(in_degree);
  }
  // Domain 1 is linked to by 1 domain, ... domain n by n.
  void MakeWeb(uint64_t n) {
    for (uint64_t to = 1; to <= n; ++to) {
      for (uint64_t from = 1; from <= to; ++from) Link(1000 + from, to);
    }
    Drain();
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  Workers workers_{0};
  InDegreeSink sink_;
  size_t room_ = SIZE_MAX;
  std::map<uint64_t, uint64_t> counts_;
  std::unique_ptr<Reputation> reputation_;
};

TEST_F(ReputationTest, CountsTheOtherDomainsThatLinkToADomain) {
  Create(SmallOptions());
  Random random(1);
  std::map<uint64_t, std::set<uint64_t>> neighbours;
  uint64_t inside = 0;
  for (int i = 0; i < 50'000; ++i) {
    const uint64_t from = random.Below(500);
    const uint64_t to = random.Below(1 + random.Below(500));
    Link(from, to);
    if (from == to) {
      ++inside;
    } else {
      neighbours[to].insert(from);
    }
    if (i % 7000 == 0) Drain();
  }
  Drain();
  uint64_t edges = 0;
  DegreeHistogram histogram;
  for (const auto& [to, from] : neighbours) {
    EXPECT_EQ(counts_[to], from.size()) << to;
    edges += from.size();
    histogram.Move(0, from.size());
  }
  EXPECT_EQ(counts_.size(), neighbours.size());
  EXPECT_EQ(reputation_->histogram(), histogram);
  const StageTotals totals = reputation_->account().Totals();
  EXPECT_EQ(totals.in, 50'000U);
  EXPECT_EQ(totals.out, edges);
  EXPECT_EQ(totals.dropped[0], inside);
  EXPECT_EQ(totals.dropped[1], 50'000 - inside - edges);
  EXPECT_GT(reputation_->stats().cache_hits, 0U);
}

TEST_F(ReputationTest, EdgesToADomainAreHandedOnTogether) {
  Create(SmallOptions());
  for (uint64_t from = 1; from <= 100; ++from) Link(from, 7777);
  room_ = 1;
  Drain();
  EXPECT_EQ(counts_[7777], 100U);
}

TEST_F(ReputationTest, WhatIsNotTakenComesAgain) {
  Create(SmallOptions());
  Link(1, 2);
  Link(1, 3);
  ASSERT_TRUE(reputation_->Flush().has_value());
  room_ = 1;
  EXPECT_EQ(*reputation_->Step(sink_, 10), 1U);
  EXPECT_EQ(*reputation_->Step(sink_, 10), 0U);
  EXPECT_EQ(reputation_->account().Totals().held, 1);
  EXPECT_TRUE(*reputation_->RunDry());
  room_ = 1;
  EXPECT_EQ(*reputation_->Step(sink_, 10), 1U);
  EXPECT_EQ(counts_, (std::map<uint64_t, uint64_t>{{2, 1}, {3, 1}}));
}

TEST_F(ReputationTest, TopKIsInterpolatedByRank) {
  ReputationOptions options = SmallOptions();
  options.settings.top_k = "5";
  options.settings.most = 410;
  Create(options);
  EXPECT_EQ(Budget(1000), 10U);  // nothing is known yet
  MakeWeb(20);
  EXPECT_EQ(Budget(0), 10U);
  EXPECT_EQ(Budget(15), 10U);
  EXPECT_EQ(Budget(16), 10U);
  EXPECT_EQ(Budget(17), 110U);
  EXPECT_EQ(Budget(19), 310U);
  EXPECT_EQ(Budget(20), 410U);
  EXPECT_EQ(Budget(21), 410U);
}

TEST_F(ReputationTest, KMayBeAShare) {
  ReputationOptions options = SmallOptions();
  options.settings.top_k = "50%";
  Create(options);
  MakeWeb(20);
  EXPECT_EQ(reputation_->stats().best, 10U);
  EXPECT_EQ(Budget(11), 10U);
  EXPECT_GT(Budget(12), 1000U);
}

TEST_F(ReputationTest, OtherPoliciesAreSettings) {
  ReputationOptions options = SmallOptions();
  options.settings.top_k = "3";
  options.settings.policy = config::BudgetPolicy::kPopular;
  Create(options);
  MakeWeb(20);
  EXPECT_EQ(Budget(17), 0U);
  EXPECT_EQ(Budget(18), 10'000U);
  EXPECT_EQ(Budget(20), 10'000U);
  const std::string commit = Commit();
  const std::pair<config::BudgetPolicy, uint64_t> others[] = {
      {config::BudgetPolicy::kEqual, 10},
      {config::BudgetPolicy::kProportional, 200},
      {config::BudgetPolicy::kInverse, 500}};
  for (const auto& [policy, budget] : others) {
    options.settings.policy = policy;
    reputation_.reset();
    auto opened = Reputation::Open({fs_, clock_, workers_}, "reputation",
                                   options, commit);
    ASSERT_TRUE(opened.has_value());
    reputation_ = *std::move(opened);
    EXPECT_EQ(Budget(20), budget);
  }
}

TEST_F(ReputationTest, ATopKThatIsNoneIsRefused) {
  ReputationOptions options = SmallOptions();
  options.settings.top_k = "many";
  const auto created =
      Reputation::Create({fs_, clock_, workers_}, "reputation", options);
  ASSERT_FALSE(created.has_value());
  EXPECT_EQ(created.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(ReputationTest, DamagedCommitsAreRefused) {
  Create(SmallOptions());
  MakeWeb(5);
  Link(8, 9);
  ASSERT_TRUE(reputation_->Flush().has_value());
  room_ = 0;
  ASSERT_TRUE(reputation_->Step(sink_, 10).has_value());
  const std::string commit = Commit();
  reputation_.reset();
  for (size_t size = 0; size < commit.size(); ++size) {
    const auto opened =
        Reputation::Open({fs_, clock_, workers_}, "reputation", SmallOptions(),
                         commit.substr(0, size));
    ASSERT_FALSE(opened.has_value()) << size;
    EXPECT_EQ(opened.error().code, ErrorCode::kCorruption);
  }
}

}  // namespace
}  // namespace nephila::reputation
