// `budget` on a disk that is full now and then: whatever call is refused for
// want of space works when it is made again, and each URL comes out once.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/memory_file_system.h"
#include "base/workers.h"
#include "budget/budget.h"
#include "budget/budget_testing.h"

namespace nephila::budget {
namespace {

using item::Admission;

constexpr uint64_t kUrls = 4000;

class FullDisk {
 public:
  Status Run() {
    BudgetOptions options = SmallOptions(2, 64);
    options.function = [] { return TestFunction(10, 10); };
    // Tails that become blocks, so that appending needs the disk too.
    options.queue_memory_bytes = uint64_t{64} << 10;
    NEPHILA_TRY(budget_,
                Budget::Create({fs_, clock_, workers_}, "budget", options));
    uint64_t next = 0;
    for (uint64_t turn = 1; next < kUrls || !budget_->IsEmpty(); ++turn) {
      if (turn % 3 == 0) fs_.SetCapacity(1);
      for (int i = 0; i < 200 && next < kUrls; ++i) {
        const std::string url =
            EncodeUrl({next % 2 == 0 ? 0 : next % 97, next, 0});
        NEPHILA_TRY(const Admission added,
                    Again([&] { return budget_->Add(url); }));
        if (added == Admission::kFull) break;
        ++next;
      }
      NEPHILA_RETURN_IF_ERROR(Again([&] { return budget_->Flush(); }));
      NEPHILA_TRY(const size_t moved,
                  Again([&] { return budget_->Step(300); }));
      NEPHILA_TRY(const size_t taken, Again([&] {
                    return budget_->Take(150, [this](const BudgetedUrl& url) {
                      EXPECT_TRUE(out_.insert(DecodeUrl(url.record)).second);
                    });
                  }));
      static_cast<void>(moved + taken);
      EXPECT_EQ(budget_->account().Imbalance(), 0);
      NEPHILA_RETURN_IF_ERROR(Commit());
    }
    return {};
  }

  size_t out() const { return out_.size(); }
  uint64_t refusals() const { return refusals_; }

 private:
  // Makes room after each refusal.
  template <typename Call>
  auto Again(const Call& call) -> decltype(call()) {
    auto result = call();
    while (!result.has_value() && result.error().code == ErrorCode::kNoSpace) {
      ++refusals_;
      fs_.SetCapacity(MemoryFileSystem::kDefaultCapacityBytes);
      result = call();
    }
    return result;
  }

  Status Commit() {
    NEPHILA_TRY(const std::string commit,
                Again([&] { return budget_->BeginCommit(); }));
    return Again([&] { return budget_->FinishCommit(); });
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  Workers workers_{0};
  std::unique_ptr<Budget> budget_;
  std::set<TestUrl> out_;
  uint64_t refusals_ = 0;
};

TEST(BudgetFault, AFullDiskDelaysAndLosesNothing) {
  FullDisk work;
  const Status status = work.Run();
  ASSERT_TRUE(status.has_value()) << status.error().message;
  EXPECT_EQ(work.out(), kUrls);
  EXPECT_GT(work.refusals(), 5U);
}

}  // namespace
}  // namespace nephila::budget
