#include "seen/seen.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/memory_file_system.h"
#include "base/random.h"
#include "base/workers.h"
#include "seen/seen_testing.h"

namespace nephila::seen {
namespace {

using item::Admission;

SeenOptions SmallOptions() {
  SeenOptions options;
  options.seed = kSeed;
  options.memory_bytes = uint64_t{1} << 20;
  options.disk_bytes = uint64_t{4} << 20;
  options.settings.cache = config::SeenCache::kOff;
  return options;
}

class SeenTest : public ::testing::Test {
 protected:
  SeenTest() {
    EXPECT_TRUE(fs_.MakeDir("seen").has_value());
    sink_ = [this](std::string_view record) -> Result<Admission> {
      if (room_ == 0) return Admission::kFull;
      --room_;
      out_.push_back(NumberOf(record));
      return Admission::kTaken;
    };
  }

  void Create(const SeenOptions& options) {
    auto created = Seen::Create({fs_, clock_, workers_}, "seen", options);
    ASSERT_TRUE(created.has_value()) << created.error().message;
    seen_ = *std::move(created);
  }
  void Open(const SeenOptions& options, const std::string& commit) {
    seen_.reset();
    auto opened = Seen::Open({fs_, clock_, workers_}, "seen", options, commit);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    seen_ = *std::move(opened);
  }
  std::string Commit() {
    auto bytes = seen_->BeginCommit();
    EXPECT_TRUE(bytes.has_value());
    EXPECT_TRUE(seen_->FinishCommit().has_value());
    return *bytes;
  }
  void Add(uint64_t number) {
    const TestUrl url(number);
    for (int i = 0; i < 1000; ++i) {
      const auto added = seen_->Add(url.record, url.key());
      ASSERT_TRUE(added.has_value()) << added.error().message;
      if (*added == Admission::kTaken) return;
      Step(1000);
      Commit();
    }
    FAIL() << "no room for " << number;
  }
  size_t Step(size_t max_urls) {
    const auto done = seen_->Step(sink_, max_urls);
    EXPECT_TRUE(done.has_value());
    EXPECT_EQ(seen_->account().Imbalance(), 0);
    return *done;
  }
  void Drain() {
    ASSERT_TRUE(seen_->Flush().has_value());
    for (int i = 0; i < 100'000 && !seen_->IsEmpty(); ++i) {
      Step(1000);
      ASSERT_TRUE(seen_->Flush().has_value());
    }
    EXPECT_TRUE(seen_->IsEmpty());
  }
  uint64_t Dropped(DropReason reason) const {
    return seen_->account().Totals().dropped[static_cast<size_t>(reason)];
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  Workers workers_{0};
  item::RecordSink sink_;
  size_t room_ = SIZE_MAX;
  std::vector<uint64_t> out_;
  std::unique_ptr<Seen> seen_;
};

TEST_F(SeenTest, LetsEachUrlThroughOnceInTheOrderOfArrival) {
  Create(SmallOptions());
  Random random(1);
  std::set<uint64_t> known;
  std::vector<uint64_t> expected;
  for (int i = 0; i < 60'000; ++i) {
    const uint64_t number = random.Below(20'000);
    if (known.insert(number).second) expected.push_back(number);
    Add(number);
    if (i % 1000 == 0) Step(500);
    if (i % 9000 == 0) {
      ASSERT_TRUE(seen_->Flush().has_value());
    }
  }
  Drain();
  EXPECT_EQ(out_, expected);
  EXPECT_GT(seen_->stats().drum.passes, 2U);
  const StageTotals totals = seen_->account().Totals();
  EXPECT_EQ(totals.in, 60'000U);
  EXPECT_EQ(totals.out, expected.size());
  EXPECT_EQ(Dropped(DropReason::kDuplicate), 60'000 - expected.size());
}

TEST_F(SeenTest, ACacheChangesNothingThatComesOut) {
  SeenOptions options = SmallOptions();
  options.settings.cache = config::SeenCache::kOn;
  Create(options);
  std::vector<uint64_t> expected;
  for (uint64_t i = 0; i < 5000; ++i) {
    expected.push_back(i);
    Add(i);
    Add(i / 2);
  }
  Drain();
  EXPECT_EQ(out_, expected);
  EXPECT_GT(seen_->stats().cache_hits, 1000U);
  EXPECT_EQ(seen_->stats().drum.tuples_added + seen_->stats().cache_hits,
            10'000U);
  EXPECT_EQ(Dropped(DropReason::kDuplicate), 5000U);
}

TEST_F(SeenTest, AUrlThatWasRefusedIsNoDuplicateWhenItComesAgain) {
  SeenOptions options = SmallOptions();
  options.settings.cache = config::SeenCache::kOn;
  Create(options);
  uint64_t refused = 0;
  for (uint64_t i = 0; refused == 0 && i < 1'000'000; ++i) {
    const TestUrl url(i);
    const auto added = seen_->Add(url.record, url.key());
    ASSERT_TRUE(added.has_value());
    if (*added == Admission::kFull) refused = i;
  }
  ASSERT_GT(refused, 0U);
  const uint64_t in = seen_->account().Totals().in;
  EXPECT_EQ(in, refused);
  Add(refused);
  Drain();
  EXPECT_EQ(out_.size(), refused + 1);
  EXPECT_EQ(out_.back(), refused);
  EXPECT_EQ(Dropped(DropReason::kDuplicate), 0U);
}

TEST_F(SeenTest, DropsKnownExtensionsButNotOfSeeds) {
  Create(SmallOptions());
  TestUrl picture(1, ".jpg");
  ASSERT_TRUE(seen_->Add(picture.record, picture.key()).has_value());
  EXPECT_EQ(Dropped(DropReason::kExtension), 1U);
  EXPECT_TRUE(seen_->IsEmpty());
  picture.record.flags = item::kFromSeed;
  ASSERT_TRUE(seen_->Add(picture.record, picture.key()).has_value());
  Drain();
  EXPECT_EQ(out_, (std::vector<uint64_t>{1}));
}

TEST_F(SeenTest, WhatTheNextStageRefusesWaitsInOrder) {
  Create(SmallOptions());
  for (uint64_t i = 0; i < 10; ++i) Add(i);
  ASSERT_TRUE(seen_->Flush().has_value());
  room_ = 3;
  EXPECT_EQ(Step(100), 3U);
  EXPECT_EQ(Step(100), 0U);
  EXPECT_EQ(seen_->stats().waiting, 7U);
  EXPECT_EQ(seen_->account().Totals().held, 7);
  room_ = SIZE_MAX;
  Step(2);
  EXPECT_EQ(out_, (std::vector<uint64_t>{0, 1, 2, 3, 4}));
  Drain();
  EXPECT_EQ(out_.size(), 10U);
}

TEST_F(SeenTest, RunningDryBeginsAPassWhilePassesAreCheap) {
  Create(SmallOptions());
  EXPECT_FALSE(*seen_->RunDry());
  Add(1);
  EXPECT_EQ(Step(10), 0U);
  EXPECT_TRUE(*seen_->RunDry());
  EXPECT_EQ(Step(10), 1U);
}

TEST_F(SeenTest, OpenGivesTheStateOfACommitWithWhatWaits) {
  Create(SmallOptions());
  for (uint64_t i = 0; i < 10; ++i) Add(i);
  ASSERT_TRUE(seen_->Flush().has_value());
  room_ = 4;
  Step(100);
  Add(3);
  Add(20);
  const std::string commit = Commit();
  room_ = SIZE_MAX;
  Add(21);
  Drain();
  EXPECT_EQ(out_.size(), 12U);
  out_.resize(4);
  Open(SmallOptions(), commit);
  EXPECT_EQ(seen_->account().Totals().held, 8);
  EXPECT_EQ(seen_->account().Totals().in, 12U);
  Drain();
  EXPECT_EQ(out_, (std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20}));
  EXPECT_EQ(seen_->account().Imbalance(), 0);
}

TEST_F(SeenTest, DamagedCommitsAreRefused) {
  Create(SmallOptions());
  Add(1);
  const std::string commit = Commit();
  for (size_t size = 0; size < commit.size(); ++size) {
    const auto opened = Seen::Open({fs_, clock_, workers_}, "seen",
                                   SmallOptions(), commit.substr(0, size));
    ASSERT_FALSE(opened.has_value()) << size;
    EXPECT_EQ(opened.error().code, ErrorCode::kCorruption);
  }
  std::string newer = commit;
  newer[0] = 2;
  EXPECT_EQ(Seen::Open({fs_, clock_, workers_}, "seen", SmallOptions(), newer)
                .error()
                .code,
            ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace nephila::seen
