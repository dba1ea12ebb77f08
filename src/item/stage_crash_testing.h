// A stage stopped at many places of its work, and gone on with from its last
// commit. For tests only.
//
// A Work is a class with
//   Status Run(FileSystem& fs)  goes on from its newest durable commit, or from
//                               the beginning, to the end; kStopped if the
//                               machine stops
//   void Check()                compares what came out with what should have
// It lives through all stops, as the user's memory of the manifest does.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/crash_testing.h"
#include "base/faulty_file_system.h"
#include "base/file.h"
#include "base/memory_file_system.h"
#include "base/result.h"
#include "base/workers.h"

namespace nephila::item {

// What the user knows of a stage over all stops: where its newest durable
// commit is.
template <typename Stage>
class Restarts {
 public:
  // As of that commit, or new in a folder of its own.
  template <typename Options>
  Result<std::unique_ptr<Stage>> Start(FileSystem& fs, const Options& options) {
    if (!commit_.empty()) {
      return Stage::Open({fs, clock_, workers_}, dir_, options, commit_);
    }
    dir_ = "job/" + std::to_string(++attempts_);
    NEPHILA_RETURN_IF_ERROR(EnsureDir(fs, dir_));
    return Stage::Create({fs, clock_, workers_}, dir_, options);
  }

  Status Commit(Stage& stage) {
    NEPHILA_TRY(std::string commit, stage.BeginCommit());
    NEPHILA_RETURN_IF_ERROR(stage.FinishCommit());
    commit_ = std::move(commit);
    return {};
  }

  ManualClock& clock() { return clock_; }

 private:
  ManualClock clock_;
  Workers workers_{0};
  std::string dir_;
  int attempts_ = 0;
  std::string commit_;
};

template <typename Work>
void RunTo(MemoryFileSystem& disk, Work& work, uint64_t stop, Crash crash) {
  FaultyFileSystem faulty(disk, stop);
  faulty.StopAt(stop,
                stop % 2 == 0 ? StopStyle::kClean : StopStyle::kTornWrite);
  const Status status = work.Run(faulty);
  ExpectStopped(status, faulty);
  if (!status.has_value()) Happen(crash, disk, stop);
}

// At about `stops` places of the work each way to stop happens, and again a
// few operations into the recovery.
template <typename Work>
void StopAtManyPlaces(uint64_t stops) {
  uint64_t operations = 0;
  {
    MemoryFileSystem disk;
    FaultyFileSystem counting(disk);
    Work work;
    const Status status = work.Run(counting);
    ASSERT_TRUE(status.has_value()) << status.error().message;
    work.Check();
    operations = counting.operations();
  }
  ASSERT_GT(operations, stops);
  const uint64_t stride = StrideFor(operations, stops);
  for (size_t way = 0; way < std::size(kCrashes); ++way) {
    for (uint64_t n = 1 + way; n <= operations; n += stride) {
      MemoryFileSystem disk;
      Work work;
      RunTo(disk, work, n, kCrashes[way]);
      RunTo(disk, work, 1 + n % 37, kCrashes[n % std::size(kCrashes)]);
      const Status status = work.Run(disk);
      ASSERT_TRUE(status.has_value())
          << "stop " << n << " way " << way << ": " << status.error().message;
      work.Check();
      ASSERT_FALSE(::testing::Test::HasFailure())
          << "stop " << n << " way " << way;
    }
  }
}

}  // namespace nephila::item
