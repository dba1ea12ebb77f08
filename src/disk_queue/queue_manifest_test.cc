// Commits that manifests name: what manifest n names is there until n + 2 is
// durable, however many commits there are between.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/random.h"
#include "disk_queue/queue_testing.h"

namespace nephila::disk_queue {
namespace {

class QueueManifestTest : public ::testing::Test {
 protected:
  QueueManifestTest() {
    options_ = SmallOptions();
    options_.named_by_manifests = true;
    set_ = Must(QueueSet::Create(fs_, kDir, options_));
  }
  void Fill(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string record = RandomRecord(random_, 200);
      ASSERT_TRUE(set_->Append(1, record).has_value());
      expected_.push_back(record);
    }
  }
  void Take(size_t count) {
    ASSERT_EQ(Must(set_->Read(1, count, [](const Record&) {})), count);
    expected_.erase(expected_.begin(),
                    expected_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  uint64_t Commit() {
    const uint64_t generation = Must(set_->Commit());
    committed_[generation] = expected_;
    return generation;
  }
  // A step of a crawl whose manifests fail for a while.
  uint64_t Work() {
    Fill(30);
    Take(30);
    return Commit();
  }
  // As of another process; the set goes on from there.
  void Reopen(uint64_t generation) {
    set_.reset();
    set_ = Must(QueueSet::Open(fs_, kDir, options_, generation));
    expected_ = committed_.at(generation);
    CheckRecords();
  }
  void CheckRecords() {
    const auto scan = set_->NewScan(1);
    Record record;
    for (const std::string& expected : expected_) {
      ASSERT_TRUE(Must(scan->Next(record)));
      ASSERT_EQ(record.bytes, expected);
    }
    EXPECT_FALSE(Must(scan->Next(record)));
  }

  MemoryFileSystem fs_;
  QueueSetOptions options_;
  std::unique_ptr<QueueSet> set_;
  Random random_{1};
  std::vector<std::string> expected_;
  std::map<uint64_t, std::vector<std::string>> committed_;
};

TEST_F(QueueManifestTest, CommitsWithoutManifestsFreeNothing) {
  Fill(50);
  const uint64_t first = Commit();
  set_->ManifestIsDurable(first);
  Fill(20);
  const uint64_t second = Commit();
  set_->ManifestIsDurable(second);
  // Many commits, whose manifests never became durable.
  for (int i = 0; i < 10; ++i) Work();
  EXPECT_GT(set_->stats().retired_segments, 5U);
  Reopen(second);
  for (int i = 0; i < 10; ++i) Work();
  // And the one before, if the last manifest is found damaged.
  Reopen(first);
}

TEST_F(QueueManifestTest, TwoNewerManifestsFreeWhatOneNamed) {
  Fill(50);
  set_->ManifestIsDurable(Commit());
  Take(50);
  uint64_t named = Commit();
  set_->ManifestIsDurable(named);
  const uint64_t kept = set_->stats().retired_segments;
  EXPECT_GT(kept, 3U);
  Commit();
  EXPECT_EQ(set_->stats().retired_segments, kept);
  named = Commit();
  set_->ManifestIsDurable(named);
  set_->ManifestIsDurable(named);  // says nothing new
  Commit();
  EXPECT_EQ(set_->stats().retired_segments, 0U);
}

TEST_F(QueueManifestTest, RoomIsUsedAgainAsManifestsCome) {
  uint64_t most = 0;
  for (int i = 0; i < 60; ++i) {
    const uint64_t generation = Work();
    if (i % 2 == 0) set_->ManifestIsDurable(generation);
    most = std::max<uint64_t>(most, Names(fs_, kDir).size());
  }
  EXPECT_LE(most, 16U);
  CheckRecords();
}

TEST_F(QueueManifestTest, LogsStayForTheManifestsThatNameThem) {
  // Whole commits begin new logs; that of a manifest stays.
  Fill(5);
  const uint64_t named = Commit();
  set_->ManifestIsDurable(named);
  const std::string large(390, 'y');
  uint64_t logs = 0;
  for (int i = 0; i < 8000 && logs < 3; ++i) {
    ASSERT_TRUE(set_->Append(1, large).has_value());
    expected_.push_back(large);
    Take(1);
    Commit();
    logs = 0;
    for (const std::string& name : Names(fs_, kDir)) {
      logs += name.starts_with("commits-") ? 1 : 0;
    }
  }
  EXPECT_EQ(logs, 3U);
  Reopen(named);
}

}  // namespace
}  // namespace nephila::disk_queue
