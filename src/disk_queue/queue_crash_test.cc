// A set of queues that is stopped at any operation on the disk goes on from
// its last commit, and from the one before, with nothing lost or twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>

#include "base/crash_testing.h"
#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "disk_queue/queue_testing.h"

namespace nephila::disk_queue {
namespace {

class CrashedWork {
 public:
  explicit CrashedWork(uint64_t seed)
      : seed_(seed), fs_(disk_, seed), work_(fs_, SmallOptions()) {}

  // The first life, until the stop or the end of the work.
  void RunUntil(const Stop& stop) {
    fs_.StopAt(stop.at, stop.style);
    Status status = work_.Start();
    started_ = status.has_value();
    if (status.has_value()) status = work_.Run();
    ExpectStopped(status, fs_);
    CrashAndHeal(stop);
  }

  // A later life, which stops `again->at` operations after its beginning.
  void GoOn(const Stop& last, const std::optional<Stop>& again = std::nullopt) {
    if (again.has_value()) {
      fs_.StopAt(fs_.operations() + again->at, again->style);
    }
    Status status;
    if (!started_) {
      status = work_.Start();
      started_ = status.has_value();
    } else {
      status = work_.Reopen(work_.tested().CommitToOpen(last.before));
    }
    if (status.has_value()) status = work_.Run();
    ExpectStopped(status, fs_);
    if (again.has_value()) CrashAndHeal(*again);
  }

  void CheckTheEnd() { work_.CheckTheEnd(); }

 private:
  void CrashAndHeal(const Stop& stop) {
    work_.tested().Close();
    Happen(stop.crash, disk_, seed_);
    fs_.Heal();
  }

  const uint64_t seed_;
  MemoryFileSystem disk_;
  FaultyFileSystem fs_;
  QueueWork work_;
  bool started_ = false;
};

uint64_t CountOperations() {
  MemoryFileSystem disk;
  FaultyFileSystem fs(disk);
  QueueWork work(fs, SmallOptions());
  MustDo(work.Start());
  MustDo(work.Run());
  return fs.operations();
}

class QueueCrashTest : public ::testing::TestWithParam<Crash> {
 protected:
  static Stop StopOf(uint64_t at, uint64_t variant) {
    return {at, variant % 2 == 0 ? StopStyle::kClean : StopStyle::kTornWrite,
            GetParam(), variant / 2 == 1};
  }
};

TEST(QueueWorkTest, DoesEverythingThatAStopShouldHit) {
  MemoryFileSystem disk;
  FaultyFileSystem fs(disk);
  QueueWork work(fs, SmallOptions());
  MustDo(work.Start());
  MustDo(work.Run());
  const QueueSetStats stats = work.tested().set().stats();
  EXPECT_GT(stats.segments, 4U);
  EXPECT_GT(stats.bytes_read, 1000U);
  EXPECT_GT(work.tested().commits().size(), 15U);
  uint64_t removed = 0;
  uint64_t used_again = 0;
  std::set<std::string> written;
  for (const Operation& operation : fs.log()) {
    if (operation.kind == OperationKind::kRemove &&
        operation.path.ends_with(".segments")) {
      ++removed;
    }
    if (operation.kind == OperationKind::kWrite &&
        operation.path.ends_with(".segments") &&
        !written.insert(operation.path + std::to_string(operation.offset))
             .second) {
      ++used_again;
    }
  }
  EXPECT_GE(removed, 1U);
  EXPECT_GT(used_again, 5U);
  work.CheckTheEnd();
}

TEST_P(QueueCrashTest, GoesOnFromACommitWhereverTheMachineStops) {
  const uint64_t operations = CountOperations();
  uint64_t ordinal = 0;
  for (uint64_t n = 1; n <= operations; ++n, ++ordinal) {
    const Stop stop = StopOf(n, ordinal % 4);
    CrashedWork work(n);
    work.RunUntil(stop);
    work.GoOn(stop);
    work.CheckTheEnd();
    ASSERT_FALSE(HasFailure()) << "stop " << n << " variant " << ordinal % 4;
  }
  EXPECT_GT(ordinal, 100U);
}

TEST_P(QueueCrashTest, GoesOnFromACommitWhenTheRecoveryIsStoppedToo) {
  const uint64_t operations = CountOperations();
  uint64_t ordinal = 0;
  for (uint64_t n = 2 + static_cast<uint64_t>(GetParam()); n <= operations;
       n += StrideFor(operations, 25), ++ordinal) {
    // The first operations of a recovery one by one, with every way to crash:
    // a kill and then a loss of power finds what is built on data that is not
    // durable.
    for (uint64_t at = 1; at <= 20; ++at) {
      const Stop first = StopOf(n, ordinal % 4);
      Stop second = StopOf(at, at / 2 % 4);
      second.crash = kCrashes[(ordinal + at) % std::size(kCrashes)];
      CrashedWork work(n);
      work.RunUntil(first);
      work.GoOn(first, second);
      work.GoOn(second);
      work.CheckTheEnd();
      ASSERT_FALSE(HasFailure()) << "stop " << n << " then " << at;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, QueueCrashTest, ::testing::ValuesIn(kCrashes));

}  // namespace
}  // namespace nephila::disk_queue
