#include "disk_queue/queue_set.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/real_file_system.h"
#include "disk_queue/block.h"
#include "disk_queue/queue_testing.h"

namespace nephila::disk_queue {
namespace {

std::vector<std::string> ReadAll(QueueSet& set, uint64_t queue,
                                 size_t max_records = 1000000) {
  std::vector<std::string> records;
  EXPECT_OK(set.Read(queue, max_records, [&](const Record& record) {
    records.emplace_back(record.bytes);
  }));
  return records;
}

size_t Segments(FileSystem& fs) {
  const auto names = Names(fs, kDir);
  return static_cast<size_t>(std::count_if(
      names.begin(), names.end(),
      [](const std::string& name) { return name.ends_with(".segments"); }));
}

class QueueSetTest : public ::testing::Test {
 protected:
  void Make(const QueueSetOptions& options = SmallOptions()) {
    set_ = Must(QueueSet::Create(fs_, kDir, options));
  }
  void Fill(uint64_t queue, int count, const std::string& text = "record ") {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(set_->Append(queue, text + std::to_string(i)).has_value());
    }
  }

  MemoryFileSystem fs_;
  std::unique_ptr<QueueSet> set_;
};

TEST_F(QueueSetTest, GivesRecordsInTheirOrderEachQueueForItself) {
  Make();
  EXPECT_EQ(Must(set_->Append(7, "a")), 0U);
  EXPECT_EQ(Must(set_->Append(9, "b")), 0U);
  EXPECT_EQ(Must(set_->Append(7, "c")), 1U);
  EXPECT_EQ(set_->Queues(), (std::vector<uint64_t>{7, 9}));
  EXPECT_EQ(ReadAll(*set_, 7), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(ReadAll(*set_, 9), (std::vector<std::string>{"b"}));
  EXPECT_EQ(ReadAll(*set_, 8), (std::vector<std::string>{}));
}

TEST_F(QueueSetTest, HandsOnNoMoreThanAskedFor) {
  Make();
  Fill(1, 500);
  EXPECT_EQ(ReadAll(*set_, 1, 3),
            (std::vector<std::string>{"record 0", "record 1", "record 2"}));
  EXPECT_EQ(set_->Kept(1), 497U);
  EXPECT_EQ(set_->NextRead(1), 3U);
  EXPECT_EQ(set_->NextAppend(1), 500U);
  EXPECT_EQ(ReadAll(*set_, 1, 0).size(), 0U);
  EXPECT_EQ(ReadAll(*set_, 1).size(), 497U);
}

TEST_F(QueueSetTest, AppendsGoOnWhileNobodyReads) {
  QueueSetOptions options = SmallOptions();
  Make(options);
  Fill(1, 20000);
  const QueueSetStats stats = set_->stats();
  EXPECT_EQ(stats.records, 20000U);
  EXPECT_LE(stats.tail_bytes, options.memory_bytes);
  EXPECT_GT(stats.segments, 20U);
}

TEST_F(QueueSetTest, SmallQueuesTakeNoFile) {
  Make();
  for (uint64_t queue = 0; queue < 20; ++queue) Fill(queue, 2);
  EXPECT_EQ(Segments(fs_), 0U);
  EXPECT_EQ(Must(set_->Commit()), 1U);
  set_.reset();
  set_ = Must(QueueSet::Open(fs_, kDir, SmallOptions(), 1));
  EXPECT_EQ(ReadAll(*set_, 19),
            (std::vector<std::string>{"record 0", "record 1"}));
}

TEST_F(QueueSetTest, ThousandsOfQueuesStayWithinMemory) {
  QueueSetOptions options;
  options.memory_bytes = 1 << 20;
  options.codec = Codec::kLz4;
  Make(options);
  const std::string record(100, 'u');
  for (int round = 0; round < 20; ++round) {
    for (uint64_t queue = 0; queue < 3000; ++queue) {
      ASSERT_TRUE(set_->Append(queue, record).has_value());
    }
    ASSERT_LE(set_->stats().tail_bytes, options.memory_bytes * 3 / 8 + 4096);
  }
  uint64_t taken = 0;
  for (uint64_t queue = 0; queue < 3000; ++queue) {
    taken += ReadAll(*set_, queue, 10).size();
    if (queue % 100 != 0) continue;
    ASSERT_LE(set_->stats().read_bytes, options.memory_bytes / 4);
  }
  EXPECT_EQ(taken, 30000U);
}

TEST_F(QueueSetTest, AQueueWhoseBlockWasDroppedReadsOn) {
  QueueSetOptions options = SmallOptions();
  options.memory_bytes = 4096;  // two blocks
  Make(options);
  for (uint64_t queue = 0; queue < 6; ++queue) Fill(queue, 300);
  std::vector<size_t> next(6, 0);
  for (int round = 0; round < 300; ++round) {
    for (uint64_t queue = 0; queue < 6; ++queue) {
      const auto records = ReadAll(*set_, queue, 1);
      ASSERT_EQ(records.size(), 1U);
      EXPECT_EQ(records[0], "record " + std::to_string(next[queue]++));
    }
  }
}

TEST_F(QueueSetTest, OpenUndoesWhatCameAfterTheCommit) {
  Make();
  Fill(1, 200);
  EXPECT_EQ(ReadAll(*set_, 1, 50).size(), 50U);
  EXPECT_EQ(Must(set_->Commit()), 1U);
  EXPECT_EQ(ReadAll(*set_, 1, 100).size(), 100U);
  Fill(1, 300, "later ");
  Fill(2, 300, "other ");
  set_.reset();
  set_ = Must(QueueSet::Open(fs_, kDir, SmallOptions(), 1));
  EXPECT_EQ(set_->Queues(), (std::vector<uint64_t>{1}));
  EXPECT_EQ(set_->NextAppend(1), 200U);
  const auto records = ReadAll(*set_, 1);
  ASSERT_EQ(records.size(), 150U);
  EXPECT_EQ(records.front(), "record 50");
  EXPECT_EQ(records.back(), "record 199");
}

TEST_F(QueueSetTest, TheLastTwoCommitsCanBeOpened) {
  Make();
  for (int i = 0; i < 6; ++i) {
    Fill(1, 100);
    EXPECT_EQ(ReadAll(*set_, 1, 90).size(), 90U);
    EXPECT_OK(set_->BeginCommit());
    EXPECT_OK(set_->FinishCommit());
  }
  set_.reset();
  set_ = Must(QueueSet::Open(fs_, kDir, SmallOptions(), 5));
  EXPECT_EQ(set_->Kept(1), 50U);
  EXPECT_EQ(ReadAll(*set_, 1).size(), 50U);
  // The sixth is void from then on.
  set_.reset();
  EXPECT_EQ(CodeOf(QueueSet::Open(fs_, kDir, SmallOptions(), 6)), "not found");
  EXPECT_EQ(CodeOf(QueueSet::Open(fs_, kDir, SmallOptions(), 9)), "not found");
}

TEST_F(QueueSetTest, SegmentsThatWereReadGoWhenTwoCommitsAreDurable) {
  Make();
  Fill(1, 2000);
  EXPECT_EQ(Must(set_->Commit()), 1U);
  const size_t all = Segments(fs_);
  EXPECT_GT(all, 3U);
  EXPECT_EQ(ReadAll(*set_, 1).size(), 2000U);
  EXPECT_EQ(Must(set_->Commit()), 2U);
  EXPECT_EQ(Segments(fs_), all);  // commit 1 names them
  EXPECT_EQ(Must(set_->Commit()), 3U);
  EXPECT_EQ(Segments(fs_), all);  // 3 became durable after the look
  EXPECT_EQ(Must(set_->Commit()), 4U);
  EXPECT_EQ(Segments(fs_), 0U);
}

TEST_F(QueueSetTest, RecordsReadAheadComeAgainUntilTheyAreReleased) {
  Make();
  Fill(1, 300);
  std::vector<std::string> ahead;
  const auto sink = [&](const Record& record) {
    ahead.emplace_back(record.bytes);
  };
  EXPECT_EQ(Must(set_->ReadAhead(1, 200, sink)), 200U);
  set_->Release(1, 120);
  EXPECT_EQ(set_->Kept(1), 180U);
  EXPECT_EQ(set_->Unread(1), 100U);
  EXPECT_EQ(Must(set_->Commit()), 1U);
  // Goes on behind them in this life.
  ahead.clear();
  EXPECT_EQ(Must(set_->ReadAhead(1, 1, sink)), 1U);
  EXPECT_EQ(ahead.front(), "record 200");
  set_.reset();
  set_ = Must(QueueSet::Open(fs_, kDir, SmallOptions(), 1));
  ahead.clear();
  EXPECT_EQ(Must(set_->ReadAhead(1, 1000, sink)), 180U);
  EXPECT_EQ(ahead.front(), "record 120");
  EXPECT_EQ(ahead.back(), "record 299");
}

TEST_F(QueueSetTest, AReleaseBehindTheMarkDoesNothing) {
  Make();
  Fill(1, 10);
  EXPECT_EQ(ReadAll(*set_, 1, 5).size(), 5U);
  set_->Release(1, 2);
  set_->Release(8, 2);
  EXPECT_EQ(set_->Kept(1), 5U);
}

TEST_F(QueueSetTest, AnEmptyQueueKeepsItsOrdinalsUntilItIsRemoved) {
  Make();
  Fill(1, 100);
  EXPECT_FAILS(set_->Remove(1), kInvalidArgument, "queue 1 is not empty");
  EXPECT_EQ(ReadAll(*set_, 1).size(), 100U);
  EXPECT_EQ(Must(set_->Append(1, "x")), 100U);
  EXPECT_EQ(ReadAll(*set_, 1).size(), 1U);
  EXPECT_EQ(Must(set_->Commit()), 1U);
  MustDo(set_->Remove(1));
  MustDo(set_->Remove(1));
  EXPECT_EQ(set_->Queues().size(), 0U);
  EXPECT_EQ(Must(set_->Append(1, "again")), 0U);
  EXPECT_EQ(Must(set_->Commit()), 2U);
  set_.reset();
  set_ = Must(QueueSet::Open(fs_, kDir, SmallOptions(), 2));
  EXPECT_EQ(ReadAll(*set_, 1), (std::vector<std::string>{"again"}));
}

TEST_F(QueueSetTest, AScanStaysAsItIsWhileTheQueueGoesOn) {
  Make();
  Fill(1, 1000);
  EXPECT_EQ(ReadAll(*set_, 1, 100).size(), 100U);
  auto scan = set_->NewScan(1);
  EXPECT_EQ(ReadAll(*set_, 1).size(), 900U);
  Fill(1, 5, "later ");
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(set_->Commit().has_value());
  Record record;
  for (int i = 100; i < 1000; ++i) {
    ASSERT_TRUE(Must(scan->Next(record)));
    ASSERT_EQ(record.ordinal, static_cast<uint64_t>(i));
    ASSERT_EQ(record.bytes, "record " + std::to_string(i));
  }
  EXPECT_FALSE(Must(scan->Next(record)));
  EXPECT_GT(Segments(fs_), 0U);
  scan.reset();
  EXPECT_TRUE(set_->Commit().has_value());
  EXPECT_EQ(Segments(fs_), 0U);
}

TEST_F(QueueSetTest, ACommitCanBeScannedWithoutOpeningTheSet) {
  Make();
  Fill(1, 400);
  EXPECT_EQ(ReadAll(*set_, 1, 10).size(), 10U);
  EXPECT_EQ(Must(set_->Commit()), 1U);
  EXPECT_EQ(ReadAll(*set_, 1, 10).size(), 10U);
  const auto scan = Must(ScanCommit(fs_, kDir, 1, 1));
  Record record;
  uint64_t count = 0;
  while (Must(scan->Next(record))) {
    EXPECT_EQ(record.bytes, "record " + std::to_string(10 + count++));
  }
  EXPECT_EQ(count, 390U);
  EXPECT_FALSE(Must(Must(ScanCommit(fs_, kDir, 1, 5))->Next(record)));
  EXPECT_EQ(CodeOf(ScanCommit(fs_, kDir, 3, 1)), "not found");
}

TEST_F(QueueSetTest, RefusesRecordsThatAreTooLarge) {
  Make(QueueSetOptions());
  const std::string most(kMostRecordBytes, 'x');
  EXPECT_FAILS(set_->Append(1, most + "x"), kInvalidArgument, "too large");
  EXPECT_EQ(set_->Queues().size(), 0U);
  EXPECT_EQ(Must(set_->Append(1, most)), 0U);
  EXPECT_EQ(Must(set_->Append(1, "small")), 1U);
  EXPECT_EQ(ReadAll(*set_, 1).front().size(), kMostRecordBytes);
}

TEST_F(QueueSetTest, RefusesRecordsThatNoSegmentHolds) {
  Make();
  uint64_t most = 0;
  while (set_->Append(1, std::string(most + 1, 'x')).has_value()) ++most;
  EXPECT_GT(most, 800U);
  EXPECT_LT(most, 1000U);
  EXPECT_EQ(ReadAll(*set_, 1).size(), most);
}

TEST_F(QueueSetTest, SegmentsThatAreFreeAreUsedAgain) {
  Make();
  uint64_t most = 0;
  for (int i = 0; i < 60; ++i) {
    Fill(1, 100);
    Fill(2, 1);
    EXPECT_EQ(ReadAll(*set_, 1).size(), 100U);
    EXPECT_TRUE(set_->Commit().has_value());
    most = std::max<uint64_t>(most, Segments(fs_));
  }
  EXPECT_LE(most, 9U);
}

TEST(QueueSetSyncTest, ACommitOfThousandsOfQueuesSyncsFewFiles) {
  MemoryFileSystem disk;
  FaultyFileSystem fs(disk);
  QueueSetOptions options;
  options.memory_bytes = 1 << 20;
  const auto set = Must(QueueSet::Create(fs, kDir, options));
  const std::string record(1000, 'u');
  for (uint64_t queue = 0; queue < 3000; ++queue) {
    EXPECT_OK(set->Append(queue, record));
  }
  EXPECT_GT(set->stats().segments, 2000U);
  const uint64_t before = fs.operations();
  EXPECT_OK(set->Commit());
  uint64_t syncs = 0;
  for (const Operation& operation : fs.log()) {
    syncs += operation.number > before && operation.kind == OperationKind::kSync
                 ? 1
                 : 0;
  }
  EXPECT_LE(syncs, 7U);
}

TEST_F(QueueSetTest, RefusesOptionsThatCannotBe) {
  QueueSetOptions options;
  options.memory_bytes = 100;
  EXPECT_EQ(CodeOf(QueueSet::Create(fs_, kDir, options)), "invalid argument");
  options = {};
  options.block_bytes = kMostRawBytes;
  EXPECT_EQ(CodeOf(QueueSet::Create(fs_, kDir, options)), "invalid argument");
  options = {};
  options.max_open_files = 0;
  EXPECT_EQ(CodeOf(QueueSet::Create(fs_, kDir, options)), "invalid argument");
}

TEST_F(QueueSetTest, ABlockMustFitTheSegmentsThatTheSetWasMadeWith) {
  QueueSetOptions options = SmallOptions();  // segments of 1 000 bytes
  Make(options);
  Fill(1, 10);
  EXPECT_TRUE(set_->Commit().has_value());
  set_.reset();
  options.block_bytes = 2000;
  options.segment_bytes = 100000;  // means nothing to a set that is there
  EXPECT_FAILS(QueueSet::Open(fs_, kDir, options, 1), kInvalidArgument,
               "1000 bytes");
  options.block_bytes = 400;
  options.segment_bytes = 1;
  set_ = Must(QueueSet::Open(fs_, kDir, options, 1));
  EXPECT_EQ(ReadAll(*set_, 1).size(), 10U);
}

TEST_F(QueueSetTest, ACommitCostsWhatHasHappenedSinceTheLast) {
  // A queue of 2 000 segments, to which little is added.
  QueueSetOptions options = SmallOptions();
  Make(options);
  Random random(1);
  while (set_->stats().segments < 2000) {
    ASSERT_TRUE(set_->Append(1, RandomRecord(random, 380)).has_value());
  }
  EXPECT_TRUE(set_->Commit().has_value());
  uint64_t most = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(set_->Append(1, "little").has_value());
    const uint64_t before = set_->stats().bytes_written;
    EXPECT_TRUE(set_->Commit().has_value());
    most = std::max(most, set_->stats().bytes_written - before);
  }
  EXPECT_LT(most, 100U);
  const uint64_t last = set_->generation();
  const uint64_t kept = set_->Kept(1);
  set_.reset();
  set_ = Must(QueueSet::Open(fs_, kDir, options, last));
  EXPECT_EQ(ReadAll(*set_, 1).size(), kept);
}

TEST_F(QueueSetTest, IsMadeOnceInAFolder) {
  Make();
  EXPECT_EQ(CodeOf(QueueSet::Create(fs_, kDir, {})), "already exists");
  EXPECT_EQ(CodeOf(QueueSet::Open(fs_, "elsewhere", {}, 0)), "not found");
}

TEST_F(QueueSetTest, ACommitWritesOfATailOnlyWhatIsNew) {
  QueueSetOptions options;
  Make(options);
  Fill(1, 1, std::string(30000, 'x'));
  EXPECT_EQ(Must(set_->Commit()), 1U);
  const uint64_t before = set_->stats().bytes_written;
  EXPECT_GT(before, 30000U);
  Fill(1, 1, "little ");
  EXPECT_EQ(Must(set_->Commit()), 2U);
  EXPECT_EQ(Must(set_->Commit()), 3U);
  EXPECT_LT(set_->stats().bytes_written - before, 200U);
}

TEST_F(QueueSetTest, TheLogOfCommitsDoesNotGrowWithoutEnd) {
  Make(QueueSetOptions());
  uint64_t most = 0;
  const std::string record(5000, 'y');
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(set_->Append(1, record).has_value());
    ASSERT_TRUE(set_->Commit().has_value());
    EXPECT_EQ(ReadAll(*set_, 1).size(), 1U);
    uint64_t bytes = 0;
    for (const std::string& name : Names(fs_, kDir)) {
      if (name == "reserve") continue;
      const std::string path = std::string(kDir).append("/").append(name);
      bytes += Must(Must(fs_.Open(path, OpenMode::kRead))->Size());
    }
    most = std::max(most, bytes);
  }
  EXPECT_LT(most, uint64_t{3} << 20);
  set_.reset();
  EXPECT_TRUE(QueueSet::Open(fs_, kDir, SmallOptions(), 1000).has_value());
}

TEST(QueueSetOnDiskTest, WorksOnARealDisk) {
  const auto real = MakeRealFileSystem();
  FileSystem& fs = *real;
  const std::string dir = ::testing::TempDir() + "/nephila_queue_set_test" +
                          std::to_string(getpid());
  MustDo(RemoveAll(fs, dir));
  QueueSetOptions options = SmallOptions();
  options.block_bytes = 4096;
  options.segment_bytes = 1 << 14;
  auto set = Must(QueueSet::Create(fs, dir, options));
  for (int i = 0; i < 20000; ++i) {
    ASSERT_TRUE(set->Append(static_cast<uint64_t>(i % 3), std::to_string(i))
                    .has_value());
  }
  EXPECT_EQ(Must(set->Commit()), 1U);
  set.reset();
  set = Must(QueueSet::Open(fs, dir, options, 1));
  for (uint64_t queue = 0; queue < 3; ++queue) {
    const auto records = ReadAll(*set, queue);
    ASSERT_EQ(records.size(), (20000 + 2 - queue) / 3);
    EXPECT_EQ(records.front(), std::to_string(queue));
    EXPECT_EQ(records[5000], std::to_string(15000 + queue));
  }
  set.reset();
  MustDo(RemoveAll(fs, dir));
}

}  // namespace
}  // namespace nephila::disk_queue
