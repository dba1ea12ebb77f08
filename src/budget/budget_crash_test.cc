// `budget` stopped at many of its writes, in passes and splits too: each URL
// comes out once.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "budget/budget.h"
#include "budget/budget_testing.h"
#include "item/stage_crash_testing.h"

namespace nephila::budget {
namespace {

using item::Admission;

constexpr uint64_t kUrls = 2500;

class BudgetWork {
 public:
  Status Run(FileSystem& fs) {
    NEPHILA_TRY(const auto budget, Start(fs));
    uint64_t next = manifest_.next;
    for (uint64_t turn = 1; next < kUrls || !budget->IsEmpty(); ++turn) {
      for (int i = 0; i < 100 && next < kUrls; ++i) {
        // A farm, and others.
        const TestUrl url{next % 2 == 0 ? 0 : next % 97, next, 0};
        NEPHILA_TRY(const Admission added, budget->Add(EncodeUrl(url)));
        if (added == Admission::kFull) break;
        ++next;
      }
      if (turn % 5 == 0 || next == kUrls) {
        NEPHILA_RETURN_IF_ERROR(budget->Flush());
      }
      NEPHILA_TRY(const size_t moved, budget->Step(120));
      NEPHILA_TRY(const size_t taken,
                  budget->Take(40, [this](const BudgetedUrl& url) {
                    out_.push_back(DecodeUrl(url.record));
                  }));
      static_cast<void>(moved + taken);
      if (turn % 3 == 0) NEPHILA_RETURN_IF_ERROR(Commit(*budget, next));
    }
    EXPECT_EQ(budget->account().Imbalance(), 0);
    EXPECT_EQ(budget->account().Totals().out, kUrls);
    EXPECT_GT(budget->stats().splits, 2U);
    return {};
  }

  void Check() const {
    const std::set<TestUrl> once(out_.begin(), out_.end());
    ASSERT_EQ(out_.size(), kUrls);
    ASSERT_EQ(once.size(), kUrls);
  }

 private:
  struct Manifest {
    uint64_t next = 0;
    size_t out = 0;
  };

  Result<std::unique_ptr<Budget>> Start(FileSystem& fs) {
    BudgetOptions options = SmallOptions(2, 64);
    options.function = [] { return TestFunction(10, 10); };
    out_.resize(manifest_.out);
    return restarts_.Start(fs, options);
  }

  Status Commit(Budget& budget, uint64_t next) {
    NEPHILA_RETURN_IF_ERROR(restarts_.Commit(budget));
    manifest_ = {next, out_.size()};
    return {};
  }

  item::Restarts<Budget> restarts_;
  Manifest manifest_;
  std::vector<TestUrl> out_;
};

TEST(BudgetCrash, EachUrlComesOutOnceWhereverTheMachineStops) {
  item::StopAtManyPlaces<BudgetWork>(25);
}

}  // namespace
}  // namespace nephila::budget
