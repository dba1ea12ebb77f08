#include "job/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/crash_testing.h"
#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/hash.h"
#include "base/memory_file_system.h"
#include "base/source_path_testing.h"
#include "job/flip_testing.h"

namespace nephila::job {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Records = std::vector<HistoryRecord>;

constexpr uint64_t kSalt = 0x0123456789abcdef;
const WallTime kBegin{seconds(1'767'225'600)};

HistoryNumbers Numbers(uint64_t pages) {
  return {{"pages", pages}, {"bytes", pages * 1000}, {"waiting", 7}};
}

class HistoryTest : public testing::Test {
 protected:
  HistoryTest() { MustDo(fs_.MakeDir("job")); }

  void Open(size_t most = History::kMostRecords) {
    history_.reset();
    history_ = Must(History::Open(fs_, "job", kSalt, most));
  }
  Status Append(uint64_t second) {
    return history_->Append(kBegin + seconds(second), seconds(second),
                            Numbers(second));
  }
  // Of the file; what is damaged in it is left in `damaged_`.
  Records Read(FileSystem& fs) {
    Records records;
    auto reader = Must(HistoryReader::Open(fs, "job", kSalt));
    HistoryRecord record;
    while (reader.Next(&record)) records.push_back(record);
    damaged_ = reader.damaged();
    torn_ = reader.torn_bytes();
    return records;
  }
  Records Read() { return Read(fs_); }

  MemoryFileSystem fs_;
  std::unique_ptr<History> history_;
  std::vector<uint64_t> damaged_;
  uint64_t torn_ = 0;
};

TEST_F(HistoryTest, WhatIsAppendedIsReadBackWithItsNames) {
  Open();
  MustDo(Append(0));
  MustDo(Append(10));
  const Records records = Read();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].run, 1U);
  EXPECT_EQ(records[1].when, kBegin + seconds(10));
  EXPECT_EQ(records[1].elapsed, milliseconds(10'000));
  EXPECT_EQ(records[1].numbers, Numbers(10));
  EXPECT_EQ(records[1].Get("bytes"), 10'000U);
  EXPECT_EQ(records[1].Get("not there"), 0U);
  EXPECT_EQ(torn_, 0U);
}

TEST_F(HistoryTest, NamesMayComeAndGo) {
  Open();
  MustDo(Append(0));
  HistoryNumbers more = Numbers(1);
  more.emplace_back("outcome.timeout", 3);
  MustDo(history_->Append(kBegin, seconds(1), more));
  MustDo(Append(2));
  const Records records = Read();
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].Get("outcome.timeout"), 0U);
  EXPECT_EQ(records[1].numbers, more);
  EXPECT_EQ(records[2].numbers, Numbers(2));
}

TEST_F(HistoryTest, ARunGoesOnWhereTheTimeOfTheLastOneEnded) {
  Open();
  MustDo(Append(0));
  MustDo(Append(30));
  Open();
  EXPECT_EQ(history_->run(), 2U);
  EXPECT_EQ(history_->elapsed_before(), seconds(30));
  MustDo(Append(5));
  const Records records = Read();
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[2].run, 2U);
  EXPECT_EQ(records[2].elapsed, seconds(35));
}

TEST_F(HistoryTest, ATornTailIsCutByTheNextStart) {
  Open();
  MustDo(Append(0));
  MustDo(Append(10));
  const std::string whole = Get(fs_, "job/history");
  MustDo(Append(20));
  const std::string longer = Get(fs_, "job/history");
  for (size_t size = whole.size() + 1; size < longer.size(); ++size) {
    Put(fs_, "job/history", longer.substr(0, size));
    EXPECT_EQ(Read().size(), 2U);
    EXPECT_EQ(torn_, size - whole.size());
    EXPECT_EQ(damaged_.size(), 0U);
    Open();
    EXPECT_EQ(Get(fs_, "job/history"), whole);
    MustDo(Append(1));
    EXPECT_EQ(Read().size(), 3U);
  }
}

TEST_F(HistoryTest, AFlippedBitCostsTheRecordThatItIsIn) {
  Open();
  for (uint64_t i = 0; i < 6; ++i) MustDo(Append(i));
  const std::string good = Get(fs_, "job/history");
  const Records all = Read();
  for (size_t at = 0; at < good.size(); ++at) {
    Put(fs_, "job/history", Flipped(good, at, at % 8));
    const auto opened = HistoryReader::Open(fs_, "job", kSalt);
    if (!opened.has_value()) {
      EXPECT_EQ(CodeOf(opened), "corruption");
      // The next start begins anew, and the old one is there to be looked at.
      Open();
      EXPECT_EQ(Read().size(), 0U);
      EXPECT_EQ(Get(fs_, "job/history.damaged"), Flipped(good, at, at % 8));
      continue;
    }
    const Records left = Read();
    const bool is_tail = damaged_.empty() && torn_ > 0;
    EXPECT_TRUE(!damaged_.empty() || is_tail) << at;
    for (const HistoryRecord& record : left) {
      EXPECT_NE(std::find(all.begin(), all.end(), record), all.end());
    }
    // Without their names records say nothing.
    EXPECT_TRUE(left.size() == 5 || left.empty()) << at;
    // The next start leaves a file without damage.
    Open();
    EXPECT_EQ(Read(), left);
    EXPECT_TRUE(damaged_.empty() && torn_ == 0) << at;
  }
}

TEST_F(HistoryTest, DamagedNamesCostTheirRecordsAndNoOthers) {
  Open();
  for (uint64_t i = 0; i < 200; ++i) MustDo(Append(i));
  const std::string good = Get(fs_, "job/history");
  Put(fs_, "job/history", Flipped(good, good.find("waiting"), 1));
  EXPECT_EQ(Read().size(), 136U);
  EXPECT_EQ(damaged_.size(), 1U);
}

TEST_F(HistoryTest, ItStaysSmallAndKeepsTheWholeTime) {
  constexpr size_t kMost = 64;
  Open(kMost);
  for (uint64_t i = 0; i < 20'000; ++i) {
    MustDo(Append(i * 10));
    ASSERT_LE(history_->records(), kMost);
  }
  const Records records = Read();
  EXPECT_EQ(records.size(), history_->records());
  EXPECT_GE(records.size(), kMost / 4);
  EXPECT_EQ(records.front().elapsed, seconds(0));
  EXPECT_GE(records.back().elapsed + history_->spacing(), seconds(199'990));
  for (size_t i = 1; i < records.size(); ++i) {
    const auto gap = records[i].elapsed - records[i - 1].elapsed;
    EXPECT_LE(gap, 2 * history_->spacing()) << i;
  }
  EXPECT_LT(Get(fs_, "job/history").size(), 10'000U);
  // And so it does after a restart.
  Open(kMost);
  EXPECT_EQ(history_->records(), records.size());
  EXPECT_GT(history_->spacing(), seconds(0));
}

TEST_F(HistoryTest, TheEndsOfRunsOutliveTheThinning) {
  Open(64);
  for (uint64_t i = 0; i < 40; ++i) MustDo(Append(i));
  Open(64);
  for (uint64_t i = 0; i < 300; ++i) MustDo(Append(i));
  const Records records = Read();
  ASSERT_GT(records.size(), 2U);
  bool has_end = false;
  for (const HistoryRecord& record : records) {
    has_end |= record.run == 1 && record.elapsed == seconds(39);
  }
  EXPECT_TRUE(has_end);
}

TEST_F(HistoryTest, AFullDiskSkipsRecordsAndNothingElse) {
  Open();
  MustDo(Append(0));
  FaultyFileSystem faulty(fs_, 1);
  auto history = Must(History::Open(faulty, "job", kSalt));
  faulty.FailAt(faulty.operations() + 1, Fault::kNoSpace);
  EXPECT_OK(history->Append(kBegin, seconds(1), Numbers(1)));
  EXPECT_EQ(history->refused(), 1U);
  EXPECT_OK(history->Append(kBegin, seconds(2), Numbers(2)));
  const Records records = Read();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].numbers, Numbers(2));
}

TEST_F(HistoryTest, OtherErrorsOfTheDiskAreErrors) {
  FaultyFileSystem faulty(fs_, 1);
  auto history = Must(History::Open(faulty, "job", kSalt));
  faulty.FailAt(faulty.operations() + 1, Fault::kEio);
  EXPECT_FAILS(history->Append(kBegin, seconds(1), Numbers(1)), kIo,
               "job/history");
}

// Two runs with a thinning each, stopped at every operation and in every way:
// what is left is a history that goes on, and what was synced is in it.
TEST_F(HistoryTest, AStopAtEveryWriteLeavesAHistory) {
  const auto work = [](FileSystem& fs, uint64_t* synced) -> Status {
    for (int run = 0; run < 2; ++run) {
      NEPHILA_TRY(const auto history, History::Open(fs, "job", kSalt, 8));
      for (uint64_t i = 0; i < 12; ++i) {
        NEPHILA_RETURN_IF_ERROR(
            history->Append(kBegin, seconds(i), Numbers(i)));
        if (i % 5 != 4) continue;
        NEPHILA_RETURN_IF_ERROR(history->Sync());
        *synced = static_cast<uint64_t>(run) * 11 + i;
      }
    }
    return {};
  };
  uint64_t operations = 0;
  {
    MemoryFileSystem fs;
    MustDo(fs.MakeDir("job"));
    FaultyFileSystem faulty(fs, 1);
    uint64_t synced = 0;
    MustDo(work(faulty, &synced));
    operations = faulty.operations();
  }
  ASSERT_GT(operations, 30U);
  for (uint64_t at = 1; at <= operations; ++at) {
    for (const Crash crash : kCrashes) {
      SCOPED_TRACE(at);
      MemoryFileSystem fs;
      MustDo(fs.MakeDir("job"));
      MustDo(fs.SyncDir("."));
      FaultyFileSystem faulty(fs, at);
      faulty.StopAt(at, StopStyle::kTornWrite);
      uint64_t synced = 0;
      ExpectStopped(work(faulty, &synced), faulty);
      Happen(crash, fs, at);
      auto history = Must(History::Open(fs, "job", kSalt, 8));
      EXPECT_GE(history->elapsed_before(), seconds(synced / 2));
      EXPECT_OK(history->Append(kBegin, seconds(1), Numbers(1), true));
      Read(fs);
      EXPECT_TRUE(damaged_.empty() && torn_ == 0);
    }
  }
}

TEST_F(HistoryTest, OneThatIsLostWhileItIsWrittenIsBegunAnew) {
  for (const bool is_removed : {true, false}) {
    SCOPED_TRACE(is_removed);
    Open(8);
    for (uint64_t i = 0; i < 3; ++i) MustDo(Append(i));
    if (is_removed) {
      MustDo(fs_.Remove("job/history"));
    } else {
      Put(fs_, "job/history", Flipped(Get(fs_, "job/history"), 3, 1));
    }
    for (uint64_t i = 3; i < 100; ++i) MustDo(Append(i));
    MustDo(history_->Sync());
    const Records records = Read();
    EXPECT_GE(records.size(), 1U);
    EXPECT_EQ(records.size(), history_->records());
    EXPECT_TRUE(damaged_.empty() && torn_ == 0);
    EXPECT_EQ(Must(fs_.Exists("job/history.damaged")), !is_removed);
  }
}

TEST_F(HistoryTest, ALaterVersionIsSetAsideAndNamedToWhoReadsIt) {
  Open();
  std::string bytes;
  {
    // A head as version 2 would have it.
    std::string payload;
    ByteWriter writer(payload);
    writer.Sized("nephila history");
    writer.Varint(2);
    AppendFrame(bytes, payload, KeyedHash("nephila history", 0));
  }
  Put(fs_, "job/history", bytes);
  EXPECT_FAILS(HistoryReader::Open(fs_, "job", kSalt), kUnsupported,
               "version 2");
  Open();
  EXPECT_EQ(Get(fs_, "job/history.later"), bytes);
  MustDo(Append(1));
  EXPECT_EQ(Read().size(), 1U);
}

TEST_F(HistoryTest, ThatOfAnotherJobIsNone) {
  Open();
  MustDo(Append(1));
  EXPECT_FAILS(HistoryReader::Open(fs_, "job", kSalt + 1), kCorruption,
               "this job");
}

// testdata/job/README.md says how a new one is made.
TEST_F(HistoryTest, TheBytesAreThoseOfTheGoldenFile) {
  Open();
  MustDo(Append(0));
  MustDo(Append(10));
  Open();
  HistoryNumbers more = Numbers(1);
  more.emplace_back("memory", uint64_t{1} << 30);
  MustDo(history_->Append(kBegin + seconds(60), seconds(3), more));
  const std::string written = Get(fs_, "job/history");
  std::ifstream file(SourcePath("testdata/job/history-v1"), std::ios::binary);
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  if (written != golden) {
    const std::string path = testing::TempDir() + "/history-v1";
    std::ofstream(path, std::ios::binary) << written;
    ADD_FAILURE() << "the bytes have changed; they are in " << path;
  }
  Put(fs_, "job/history", golden);
  const Records records = Read();
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[2].elapsed, seconds(13));
  EXPECT_EQ(records[2].numbers, more);
}

}  // namespace
}  // namespace nephila::job
