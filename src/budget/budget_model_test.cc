// `budget` beside BEAST in memory, over random work: the same URLs in the same
// order, the same queues, and both rolled back to earlier commits.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/memory_file_system.h"
#include "base/random.h"
#include "base/workers.h"
#include "budget/budget.h"
#include "budget/budget_testing.h"

namespace nephila::budget {
namespace {

class BesideModel {
 public:
  BesideModel(uint64_t seed, uint64_t first_queues, uint64_t max_queues)
      : random_(seed),
        options_(SmallOptions(first_queues, max_queues)),
        state_{ModelBeast(first_queues, max_queues, 3, 50), {}, {}} {}

  void Start() {
    auto created = Budget::Create({fs_, clock_, workers_}, "budget", options_);
    ASSERT_TRUE(created.has_value());
    budget_ = *std::move(created);
  }

  void Work(int operations) {
    for (int i = 0; i < operations && !::testing::Test::HasFatalFailure();
         ++i) {
      switch (random_.Below(10)) {
        case 0:
        case 1:
        case 2:
          AddSome();
          break;
        case 3:
          AddDegrees();
          break;
        case 4:
          Flush();
          break;
        case 5:
        case 6:
          Step(1 + random_.Below(300));
          break;
        case 7:
        case 8:
          Take(random_.Below(100));
          break;
        default:
          random_.Chance(0.5) ? Commit() : RollBack();
      }
      Compare();
    }
  }

  // Until nothing is held: every URL that was added came out once.
  void Finish() {
    for (int i = 0; i < 100'000 && !budget_->IsEmpty() &&
                    !::testing::Test::HasFatalFailure();
         ++i) {
      Flush();
      Step(1000);
      Take(1000);
      Compare();
    }
    ASSERT_TRUE(budget_->IsEmpty());
    std::set<TestUrl> once(state_.taken.begin(), state_.taken.end());
    EXPECT_EQ(once.size(), state_.taken.size());
    uint64_t added = 0;
    for (const auto& [domain, count] : state_.added) added += count;
    EXPECT_EQ(once.size(), added);
  }

  BudgetStats stats() const { return budget_->stats(); }

 private:
  struct State {
    ModelBeast model;
    std::map<uint64_t, uint64_t> added;
    std::vector<TestUrl> taken;
  };
  struct Manifest {
    std::string commit;
    State state;
  };

  void AddSome() {
    // Some domains are farms.
    const uint64_t count = random_.Below(60);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t domain =
          random_.Chance(0.7) ? random_.Below(3) : random_.Below(2000);
      const TestUrl url{domain, state_.added[domain]++, random_.Below(4)};
      const auto added = budget_->Add(EncodeUrl(url));
      ASSERT_TRUE(added.has_value());
      ASSERT_EQ(*added, item::Admission::kTaken);
      state_.model.Add(url);
    }
  }

  void AddDegrees() {
    const uint64_t domain = random_.Below(20);
    const uint64_t count = 1 + random_.Below(3);
    const auto added = budget_->AddInDegree(PldOf(domain), count);
    ASSERT_TRUE(added.has_value());
    ASSERT_EQ(*added, item::Admission::kTaken);
    state_.model.AddInDegree(domain, count);
  }

  void Flush() {
    ASSERT_TRUE(budget_->Flush().has_value());
    state_.model.Flush();
  }

  void Step(size_t max_urls) {
    const uint64_t before = budget_->stats().drum.results_delivered;
    ASSERT_TRUE(budget_->Step(max_urls).has_value());
    const uint64_t delivered = budget_->stats().drum.results_delivered - before;
    state_.model.Deliver(delivered);
    state_.model.SplitStep(max_urls);
    // The stage flushes the end of a split by itself.
    if (state_.model.WantsFlush()) state_.model.Flush();
    state_.model.Advance();
  }

  void Take(size_t max_urls) {
    std::vector<ModelBeast::Taken> taken;
    const auto count = budget_->Take(max_urls, [&](const BudgetedUrl& url) {
      taken.push_back({DecodeUrl(url.record), url.budget});
      state_.taken.push_back(taken.back().url);
    });
    ASSERT_TRUE(count.has_value());
    const std::vector<ModelBeast::Taken> expected = state_.model.Take(max_urls);
    ASSERT_EQ(taken.size(), expected.size());
    for (size_t i = 0; i < taken.size(); ++i) {
      ASSERT_EQ(taken[i].url, expected[i].url) << i;
      ASSERT_EQ(taken[i].budget, expected[i].budget) << i;
    }
  }

  void Commit() {
    auto commit = budget_->BeginCommit();
    ASSERT_TRUE(commit.has_value());
    ASSERT_TRUE(budget_->FinishCommit().has_value());
    manifests_.push_back({*std::move(commit), state_});
    if (manifests_.size() > 2) manifests_.erase(manifests_.begin());
  }

  void RollBack() {
    if (manifests_.empty()) return;
    if (manifests_.size() > 1 && random_.Chance(0.5)) manifests_.pop_back();
    budget_.reset();
    const Manifest& manifest = manifests_.back();
    auto opened = Budget::Open({fs_, clock_, workers_}, "budget", options_,
                               manifest.commit);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    budget_ = *std::move(opened);
    state_ = manifest.state;
    state_.model.ForgetFlush();
    // Of the two that can be opened the older may be gone after this.
    manifests_.erase(manifests_.begin(), manifests_.end() - 1);
  }

  void Compare() const {
    const BudgetStats stats = budget_->stats();
    ASSERT_EQ(stats.current, state_.model.current());
    ASSERT_EQ(stats.queues, state_.model.queues());
    ASSERT_EQ(stats.in_queues, state_.model.InQueues());
    ASSERT_EQ(stats.in_failed, state_.model.InFailed());
    ASSERT_EQ(stats.in_drum, state_.model.InDrum());
    ASSERT_EQ(budget_->account().Imbalance(), 0);
    ASSERT_EQ(static_cast<uint64_t>(budget_->account().Totals().held),
              stats.in_queues + stats.in_failed + stats.in_drum);
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  Workers workers_{0};
  Random random_;
  BudgetOptions options_;
  std::unique_ptr<Budget> budget_;
  State state_;
  std::vector<Manifest> manifests_;
};

class BudgetModelTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(BudgetModelTest, DoesWhatTheModelDoes) {
  const uint64_t seed = GetParam();
  BesideModel work(seed, 1 + seed % 4, 64);
  work.Start();
  work.Work(400);
  work.Finish();
  EXPECT_GT(work.stats().splits, 1U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BudgetModelTest,
                         ::testing::Range<uint64_t>(1, 13));

}  // namespace
}  // namespace nephila::budget
