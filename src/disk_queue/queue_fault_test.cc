// A full disk loses nothing; any other failed write or sync is the end.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/crash_testing.h"
#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
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

TEST_F(QueueFaultTest, AFullDiskLosesNothing) {
  // Every operation of the work is tried on a disk that is full there once,
  // and for a while; the step is then done again.
  for (const uint64_t times : {uint64_t{1}, uint64_t{3}}) {
    MemoryFileSystem disk;
    FaultyFileSystem fs(disk);
    QueueWork counted(fs, SmallOptions());
    MustDo(counted.Start());
    MustDo(counted.Run());
    const uint64_t operations = fs.operations();
    for (uint64_t n = 8; n <= operations; n += LongTests() ? 1 : 3) {
      MemoryFileSystem full_disk;
      FaultyFileSystem full(full_disk, n);
      TestedSet tested(full, SmallOptions());
      MustDo(tested.Create());
      full.FailAt(n, Fault::kNoSpace, times);
      Random random(n);
      uint64_t refused = 0;
      bool final = false;
      for (int i = 0; i < 300 && !final; ++i) {
        const uint64_t queue = random.Below(5);
        const Status status = tested.Append(queue, RandomRecord(random, 100));
        if (!status) {
          ASSERT_EQ(CodeOf(status), "no space");
          ++refused;
        }
        if (i % 7 == 6) MustDo(tested.Read(random.Below(5), 6));
        if (i % 29 != 28) continue;
        auto begun = tested.set().BeginCommit();
        ASSERT_TRUE(begun.has_value());
        Status finished = tested.set().FinishCommit();
        for (uint64_t again = 0; !finished && again < times; ++again) {
          ASSERT_EQ(CodeOf(finished), "no space");
          finished = tested.set().FinishCommit();
        }
        // A sync that failed so is final, and says so again and again.
        final = !finished.has_value();
      }
      if (final) {
        EXPECT_FALSE(tested.set().Append(1, "x").has_value());
        continue;
      }
      EXPECT_LE(refused, times);
      tested.CheckScans();
      tested.CheckDrained();
      ASSERT_FALSE(HasFailure()) << "operation " << n;
    }
  }
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
