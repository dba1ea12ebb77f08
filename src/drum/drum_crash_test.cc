// A Drum that is stopped at any operation on the disk loses nothing that was
// committed, and gives each result once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/crash_testing.h"
#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "drum/drum.h"
#include "drum/drum_testing.h"
#include "drum/drum_workload_testing.h"

namespace nephila::drum {
namespace {

// How many operations a test stops at, unless NEPHILA_LONG_TESTS asks for all.
constexpr uint64_t kStops = 60;
// At least of the first operations of a recovery; they are few.
constexpr uint64_t kRecoveryOperations = 40;

// The operations of the work from beginning to end.
uint64_t CountOperations() {
  TestMachine machine;
  FaultyFileSystem fs(machine.fs);
  Workload work(machine, fs);
  MustDo(work.Start());
  MustDo(work.Run());
  EXPECT_FALSE(work.store().wrong());
  return fs.operations();
}

class CrashedWork {
 public:
  explicit CrashedWork(uint64_t seed)
      : seed_(seed), fs_(machine_.fs, seed), work_(machine_, fs_) {}

  // The first life, until the stop or the end of the work.
  void RunUntil(const Stop& stop) {
    fs_.StopAt(stop.at, stop.style);
    Status status = work_.Start();
    if (status.has_value()) status = work_.Run();
    ExpectStopped(status, fs_);
    CrashAndHeal(stop);
  }

  // A later life, which stops `again->at` operations after its beginning.
  void GoOn(const Stop& last, const std::optional<Stop>& again = std::nullopt) {
    if (again.has_value()) {
      fs_.StopAt(fs_.operations() + again->at, again->style);
    }
    const std::vector<uint64_t> commits = work_.store().commits();
    Status status;
    if (commits.empty()) {
      status = work_.Start();
    } else {
      status = work_.Reopen(last.before && !in_flight_ ? commits.front()
                                                       : commits.back());
    }
    if (status.has_value()) status = work_.Run();
    ExpectStopped(status, fs_);
    if (again.has_value()) CrashAndHeal(*again);
  }

  void CheckTheEnd() { work_.CheckTheEnd(machine_); }

 private:
  void CrashAndHeal(const Stop& stop) {
    in_flight_ = work_.store().commit_in_flight();
    work_.store().Close();
    Happen(stop.crash, machine_.fs, seed_);
    fs_.Heal();
  }

  const uint64_t seed_;
  TestMachine machine_;
  FaultyFileSystem fs_;
  Workload work_;
  bool in_flight_ = false;
};

// The variants of a stop; a walk takes them in turn, a long one all.
uint64_t FirstVariant(uint64_t ordinal) {
  return LongTests() ? 0 : ordinal % 4;
}
uint64_t LastVariant(uint64_t ordinal) { return LongTests() ? 3 : ordinal % 4; }

class DrumCrashTest : public ::testing::TestWithParam<Crash> {
 protected:
  static Stop StopOf(uint64_t at, uint64_t variant) {
    return {at, variant % 2 == 0 ? StopStyle::kClean : StopStyle::kTornWrite,
            GetParam(), variant / 2 == 1};
  }
};

TEST(DrumWorkloadTest, DoesEverythingThatAStopShouldHit) {
  TestMachine machine;
  FaultyFileSystem fs(machine.fs);
  Workload work(machine, fs);
  MustDo(work.Start());
  std::set<std::string> runs;
  uint64_t most_runs = 0;
  bool merged = false;
  for (uint64_t step = 1; step <= work.steps(); ++step) {
    MustDo(work.Run(step));
    for (const std::string& name : FilesOf(machine.fs, kDir, ".run")) {
      runs.insert(name);
    }
    const uint64_t now = work.store().drum().stats().runs;
    merged |= now < most_runs;
    most_runs = std::max(most_runs, now);
  }
  const DrumStats stats = work.store().drum().stats();
  EXPECT_GT(stats.small_passes, 2U);
  EXPECT_GT(stats.passes, stats.small_passes + 2);
  EXPECT_GT(runs.size(), 2U);
  EXPECT_TRUE(merged);
  EXPECT_GT(stats.uniques_delivered, 0U);
  EXPECT_LT(stats.uniques_delivered, stats.results_delivered);
  work.CheckTheEnd(machine);
}

TEST_P(DrumCrashTest, GoesOnFromACommitWhereverTheMachineStops) {
  const uint64_t operations = CountOperations();
  uint64_t ordinal = 0;
  // Each way begins at another operation, so that together they hit more.
  for (uint64_t n = 1 + static_cast<uint64_t>(GetParam()); n <= operations;
       n += StrideFor(operations, kStops), ++ordinal) {
    for (uint64_t variant = FirstVariant(ordinal);
         variant <= LastVariant(ordinal); ++variant) {
      const Stop stop = StopOf(n, variant);
      CrashedWork work(n);
      work.RunUntil(stop);
      work.GoOn(stop);
      work.CheckTheEnd();
      ASSERT_FALSE(HasFailure()) << "stop " << n << " variant " << variant;
    }
  }
  EXPECT_GT(ordinal, 10U);
}

TEST_P(DrumCrashTest, GoesOnFromACommitWhenTheRecoveryIsStoppedToo) {
  const uint64_t operations = CountOperations();
  uint64_t ordinal = 0;
  for (uint64_t n = 2 + static_cast<uint64_t>(GetParam()); n <= operations;
       n += StrideFor(operations, kStops), ++ordinal) {
    for (uint64_t variant = FirstVariant(ordinal);
         variant <= LastVariant(ordinal); ++variant) {
      const Stop first = StopOf(n, variant);
      // Of the recovery a few places of the first ones and of later ones, with
      // every way to crash: a kill and then a loss of power finds what is
      // built on data that is not durable.
      Stop second = StopOf(1 + ordinal * 7 % kRecoveryOperations, variant / 2);
      second.crash = kCrashes[ordinal / 4 % std::size(kCrashes)];
      CrashedWork work(n);
      work.RunUntil(first);
      work.GoOn(first, second);
      work.GoOn(second);
      work.CheckTheEnd();
      ASSERT_FALSE(HasFailure())
          << "stop " << n << " variant " << variant << " then " << second.at;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DrumCrashTest, ::testing::ValuesIn(kCrashes));

}  // namespace
}  // namespace nephila::drum
