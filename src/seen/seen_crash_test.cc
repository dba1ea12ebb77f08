// `seen` stopped at many of its writes: each URL comes out once.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "item/stage_crash_testing.h"
#include "seen/seen.h"
#include "seen/seen_testing.h"

namespace nephila::seen {
namespace {

using item::Admission;

constexpr uint64_t kUrls = 3000;

// Adds every number twice, some steps apart, and commits now and then.
class SeenWork {
 public:
  Status Run(FileSystem& fs) {
    SeenOptions options;
    options.seed = kSeed;
    options.memory_bytes = uint64_t{1} << 20;
    options.disk_bytes = uint64_t{4} << 20;
    NEPHILA_TRY(const auto seen, Start(fs, options));
    const item::RecordSink sink =
        [this](std::string_view record) -> Result<Admission> {
      if (out_.size() % 7 == 3 && !refused_) {
        refused_ = true;
        return Admission::kFull;
      }
      refused_ = false;
      out_.push_back(NumberOf(record));
      return Admission::kTaken;
    };
    uint64_t next = manifest_.next;
    while (next < 2 * kUrls || !seen->IsEmpty()) {
      for (int i = 0; i < 100 && next < 2 * kUrls; ++i) {
        const TestUrl url(next / 4 * 2 + next % 2);
        NEPHILA_TRY(const Admission added, seen->Add(url.record, url.key()));
        if (added == Admission::kFull) break;
        ++next;
      }
      if (next % 700 == 0 || next == 2 * kUrls) {
        NEPHILA_RETURN_IF_ERROR(seen->Flush());
      }
      NEPHILA_TRY(const size_t done, seen->Step(sink, 60));
      static_cast<void>(done);
      if (next % 300 == 0) NEPHILA_RETURN_IF_ERROR(Commit(*seen, next));
    }
    EXPECT_EQ(seen->account().Imbalance(), 0);
    EXPECT_EQ(seen->account().Totals().out, out_.size());
    return Commit(*seen, next);
  }

  void Check() const {
    ASSERT_EQ(out_.size(), kUrls);
    for (uint64_t i = 0; i < kUrls; ++i) ASSERT_EQ(out_[i], i);
  }

 private:
  struct Manifest {
    uint64_t next = 0;
    size_t out = 0;
  };

  Result<std::unique_ptr<Seen>> Start(FileSystem& fs,
                                      const SeenOptions& options) {
    out_.resize(manifest_.out);
    return restarts_.Start(fs, options);
  }

  Status Commit(Seen& seen, uint64_t next) {
    NEPHILA_RETURN_IF_ERROR(restarts_.Commit(seen));
    manifest_ = {next, out_.size()};
    return {};
  }

  item::Restarts<Seen> restarts_;
  bool refused_ = false;
  Manifest manifest_;
  std::vector<uint64_t> out_;
};

TEST(SeenCrash, EachUrlComesOutOnceWhereverTheMachineStops) {
  item::StopAtManyPlaces<SeenWork>(25);
}

}  // namespace
}  // namespace nephila::seen
