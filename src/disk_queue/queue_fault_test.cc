// A full disk loses nothing; any other failed write or sync is the end.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/crash_testing.h"
#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "disk_queue/commit_log.h"
#include "disk_queue/queue_testing.h"

namespace nephila::disk_queue {
namespace {

class QueueFaultTest : public ::testing::Test {
 protected:
  QueueFaultTest() : fs_(disk_), tested_(fs_, SmallOptions()) {
    MustDo(tested_.Create());
  }
  void Fill(uint64_t queue, int count) {
    Random random(queue);
    for (int i = 0; i < count; ++i) {
      MustDo(tested_.Append(queue, RandomRecord(random, 100)));
    }
  }

  MemoryFileSystem disk_;
  FaultyFileSystem fs_;
  TestedSet tested_;
};

// The same calls whenever it is run, each of which is made again if the disk is
// full, up to `times`; nothing if a sync failed so, which is final.
class FullDiskWork {
 public:
  FullDiskWork(FileSystem& fs, uint64_t times)
      : tested_(fs, SmallOptions()), times_(times) {}

  void Create() { MustDo(tested_.Create()); }
  bool Run() {
    Random random(1);
    for (int i = 0; i < 300; ++i) {
      const uint64_t queue = random.Below(5);
      const std::string record = RandomRecord(random, 100);
      if (!Insist([&] { return tested_.Append(queue, record); })) return false;
      if (i % 7 == 6) MustDo(tested_.Read(random.Below(5), 6));
      if (i % 29 == 28 && !Insist([&] { return Commit(); })) return false;
    }
    return Insist([&] { return Commit(); });
  }
  // As the next process finds it.
  void CheckWhatIsThere() {
    tested_.CheckScans();
    const uint64_t generation = tested_.set().generation();
    Model expected = tested_.model();
    for (auto& [id, queue] : expected) queue.cursor = queue.first;
    tested_.Close();
    MustDo(tested_.Open(generation));
    EXPECT_EQ(tested_.model(), expected);
    tested_.CheckDrained();
  }

  uint64_t refused() const { return refused_; }
  TestedSet& tested() { return tested_; }

 private:
  // Finishes the one that is left over, as Commit does.
  Status Commit() {
    const bool again = commit_refused_;
    const Status status = again ? tested_.FinishAgain() : tested_.Commit();
    commit_refused_ = !status.has_value();
    return status;
  }
  template <typename Call>
  bool Insist(const Call& call) {
    for (uint64_t i = 0; i <= times_; ++i) {
      const Status status = call();
      if (status.has_value()) return true;
      // A sync that failed is final, whatever it failed for.
      if (CodeOf(status) == "i/o error") return false;
      EXPECT_EQ(CodeOf(status), "no space");
      ++refused_;
    }
    return false;
  }

  TestedSet tested_;
  const uint64_t times_;
  uint64_t refused_ = 0;
  bool commit_refused_ = false;
};

TEST_F(QueueFaultTest, AFullDiskLosesNothing) {
  // Every operation of the work is tried on a disk that is full there once,
  // and for a while; the call is then made again.
  MemoryFileSystem disk;
  FaultyFileSystem counting(disk);
  FullDiskWork counted(counting, 0);
  counted.Create();
  const uint64_t first = counting.operations() + 1;
  ASSERT_TRUE(counted.Run());
  const uint64_t operations = counting.operations();
  ASSERT_GT(operations, first + 60);
  for (const uint64_t times : {uint64_t{1}, uint64_t{3}}) {
    uint64_t refused = 0;
    uint64_t lived = 0;
    uint64_t final = 0;
    for (uint64_t n = first; n <= operations; ++n) {
      MemoryFileSystem full_disk;
      FaultyFileSystem full(full_disk, n);
      FullDiskWork work(full, times);
      work.Create();
      full.FailAt(n, Fault::kNoSpace, times);
      const bool done = work.Run();
      ASSERT_GE(full.operations(), n);
      refused += work.refused();
      if (!done) {
        ++final;
        // A sync that failed is final, and says so again and again.
        EXPECT_FALSE(work.tested().set().Append(1, "x").has_value());
        continue;
      }
      ++lived;
      work.CheckWhatIsThere();
      ASSERT_FALSE(HasFailure()) << "operation " << n << ", " << times;
    }
    // Both happened: blocks that found no room, and syncs.
    EXPECT_GT(refused, lived / 4);
    EXPECT_GT(lived, 20U);
    EXPECT_GT(final, 20U);
  }
}

TEST_F(QueueFaultTest, ACommitThatFoundNoRoomIsMadeByTheNext) {
  Fill(1, 5);  // in tails: the commit's frame is all that is written
  // With the reserve and without.
  fs_.FailAt(fs_.operations() + 1, Fault::kNoSpace, 3);
  EXPECT_FAILS(tested_.set().Commit(), kNoSpace, "commits-");
  EXPECT_FAILS(tested_.set().BeginCommit(), kInvalidArgument, "not finished");
  EXPECT_FAILS(tested_.set().Commit(), kNoSpace, "commits-");
  Fill(2, 3);
  // The one that was begun is made, and then one with what came since.
  EXPECT_EQ(Must(tested_.set().Commit()), 2U);
  for (const uint64_t generation : {1, 2}) {
    const LoadedSet loaded = Must(LoadSet(disk_, kDir, generation));
    EXPECT_EQ(loaded.state.queues.at(1).next, 5U);
    EXPECT_EQ(loaded.state.queues.contains(2), generation == 2);
  }
  tested_.CheckScans();
}

TEST_F(QueueFaultTest, TheReserveIsGivenUpForACommitAndMadeAgain) {
  const auto has_reserve = [&] {
    return Must(disk_.Exists(kDir + "/reserve"));
  };
  ASSERT_TRUE(has_reserve());
  Fill(1, 5);
  // The commit finds no room, then its reserve's; that finds none again.
  fs_.FailAt(fs_.operations() + 1, Fault::kNoSpace);
  fs_.FailAt(fs_.operations() + 6, Fault::kNoSpace);
  MustDo(tested_.Commit());
  EXPECT_FALSE(has_reserve());
  MustDo(tested_.Commit());
  EXPECT_TRUE(has_reserve());
}

TEST_F(QueueFaultTest, AFullDiskMakesItsOwnRoom) {
  disk_.SetCapacity(40 << 10);
  Random random(1);
  for (int round = 0; round < 5; ++round) {
    while (tested_.Append(1, RandomRecord(random, 100)).has_value()) {
    }
    // Nothing more can be written; but what is there can be read, and that can
    // be committed, and then there is room for as much again.
    MustDo(tested_.Read(1, 100));
    for (int i = 0; i < 3; ++i) MustDo(tested_.Commit());
    for (int i = 0; i < 60; ++i) {
      MustDo(tested_.Append(1, RandomRecord(random, 100)));
    }
  }
  tested_.CheckScans();
  tested_.CheckDrained();
}

TEST_F(QueueFaultTest, RoomThatIsMadeIsUsed) {
  disk_.SetCapacity(8 << 10);
  Random random(1);
  uint64_t appended = 0;
  while (tested_.Append(1, RandomRecord(random, 100)).has_value()) ++appended;
  EXPECT_GT(appended, 20U);
  EXPECT_FAILS(tested_.Append(1, std::string(100, 'x')), kNoSpace, ".segment");
  tested_.CheckScans();
  disk_.SetCapacity(1 << 20);
  MustDo(tested_.Append(1, std::string(100, 'x')));
  MustDo(tested_.Commit());
  tested_.CheckDrained();
}

TEST_F(QueueFaultTest, AnyOtherFailedWriteIsFinal) {
  Fill(1, 3);
  fs_.FailAt(fs_.operations() + 1, Fault::kEio);
  Random random(2);
  Status status;
  while (status.has_value()) {
    status = tested_.Append(1, RandomRecord(random, 100));
  }
  EXPECT_EQ(CodeOf(status), "i/o error");
  EXPECT_EQ(CodeOf(tested_.set().Append(2, "x")), "i/o error");
  EXPECT_EQ(CodeOf(tested_.set().Read(1, 1, [](const Record&) {})),
            "i/o error");
  EXPECT_EQ(CodeOf(tested_.set().BeginCommit()), "i/o error");
  EXPECT_EQ(CodeOf(tested_.set().FinishCommit()), "i/o error");
  EXPECT_EQ(CodeOf(tested_.set().Remove(1)), "i/o error");
}

TEST_F(QueueFaultTest, AFailedSyncIsFinal) {
  Fill(1, 100);
  fs_.FailAt(fs_.operations() + 1, Fault::kSyncFails);
  EXPECT_EQ(CodeOf(tested_.Commit()), "i/o error");
  EXPECT_EQ(CodeOf(tested_.set().FinishCommit()), "i/o error");
  EXPECT_EQ(CodeOf(tested_.set().Append(2, "x")), "i/o error");
}

TEST_F(QueueFaultTest, AReadThatFailsCanBeDoneAgain) {
  Fill(1, 200);
  MustDo(tested_.Read(1, 5));
  fs_.FailReadAt(fs_.reads() + 1, 3);
  // What is in memory is handed on before, and counts.
  EXPECT_EQ(CodeOf(tested_.Read(1, 200)), "i/o error");
  EXPECT_EQ(CodeOf(tested_.Read(1, 200)), "i/o error");
  EXPECT_EQ(CodeOf(tested_.Read(1, 200)), "i/o error");
  tested_.CheckDrained();
}

TEST_F(QueueFaultTest, ShortReadsAndWritesAreGoneOnWith) {
  fs_.ShortWritesEvery(2);
  fs_.ShortReadsEvery(2);
  Fill(1, 300);
  MustDo(tested_.Commit());
  tested_.CheckScans();
  tested_.CheckDrained();
}

}  // namespace
}  // namespace nephila::disk_queue
