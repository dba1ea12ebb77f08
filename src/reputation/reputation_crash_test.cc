// `reputation` stopped at many of its writes: each edge is counted once.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "base/file.h"
#include "item/stage_crash_testing.h"
#include "reputation/reputation.h"

namespace nephila::reputation {
namespace {

using item::Admission;
using url::PldKey;

constexpr uint64_t kLinks = 6000;

class ReputationWork {
 public:
  Status Run(FileSystem& fs) {
    ReputationOptions options;
    options.memory_bytes = uint64_t{1} << 20;
    options.disk_bytes = uint64_t{4} << 20;
    NEPHILA_TRY(const auto reputation, Start(fs, options));
    const InDegreeSink sink =
        [&](const InDegree& in_degree) -> Result<Admission> {
      refused_ = !refused_;
      if (refused_) return Admission::kFull;
      uint64_t& count = counts_[in_degree.to.value];
      reputation->DegreeChanged(count, count + in_degree.count);
      count += in_degree.count;
      return Admission::kTaken;
    };
    uint64_t next = manifest_.next;
    while (next < kLinks || !reputation->IsEmpty()) {
      for (int i = 0; i < 100 && next < kLinks; ++i) {
        NEPHILA_TRY(const Admission added, reputation->Add(LinkOf(next)));
        if (added == Admission::kFull) break;
        ++next;
      }
      if (next % 900 == 0 || next == kLinks) {
        NEPHILA_RETURN_IF_ERROR(reputation->Flush());
      }
      NEPHILA_TRY(const size_t done, reputation->Step(sink, 60));
      static_cast<void>(done);
      if (next % 300 == 0) NEPHILA_RETURN_IF_ERROR(Commit(*reputation, next));
    }
    EXPECT_EQ(reputation->account().Imbalance(), 0);
    EXPECT_EQ(reputation->account().Totals().in, kLinks);
    histogram_ = reputation->histogram();
    return {};
  }

  void Check() const {
    std::map<uint64_t, uint64_t> expected;
    DegreeHistogram histogram;
    for (uint64_t to = 0; to < kDomains; ++to) {
      expected[to] = kLinks / 2 / kDomains;
      histogram.Move(0, expected[to]);
    }
    ASSERT_EQ(counts_, expected);
    ASSERT_EQ(histogram_, histogram);
  }

 private:
  static constexpr uint64_t kDomains = 30;
  struct Manifest {
    uint64_t next = 0;
    std::map<uint64_t, uint64_t> counts;
  };

  // Each edge twice, half of the crawl apart.
  static DomainPair LinkOf(uint64_t number) {
    const uint64_t edge = number % (kLinks / 2);
    return {PldKey{1'000'000 + edge}, PldKey{edge % kDomains}};
  }

  Result<std::unique_ptr<Reputation>> Start(FileSystem& fs,
                                            const ReputationOptions& options) {
    counts_ = manifest_.counts;
    return restarts_.Start(fs, options);
  }

  Status Commit(Reputation& reputation, uint64_t next) {
    NEPHILA_RETURN_IF_ERROR(restarts_.Commit(reputation));
    manifest_ = {next, counts_};
    return {};
  }

  item::Restarts<Reputation> restarts_;
  bool refused_ = false;
  Manifest manifest_;
  std::map<uint64_t, uint64_t> counts_;
  DegreeHistogram histogram_;
};

TEST(ReputationCrash, EachEdgeIsCountedOnceWhereverTheMachineStops) {
  item::StopAtManyPlaces<ReputationWork>(20);
}

}  // namespace
}  // namespace nephila::reputation
