// A machine that stops at any operation while a job is made or opened.
#include <gtest/gtest.h>

#include <string>

#include "base/crash_testing.h"
#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"
#include "job/job_folder.h"

namespace nephila::job {
namespace {

const std::string kDir = "crawls/one";

JobRequest Request(uint64_t seed) {
  JobRequest request;
  request.suffix_list = "com\n";
  request.process_id = 1;
  request.key_seed = seed;
  return request;
}

// Makes the job, or goes on with it. `made`: the seed of the job that is known
// to be there, 0 for none.
Status RunOn(FileSystem& fs, uint64_t seed, uint64_t& made) {
  NEPHILA_TRY(const auto job, JobFolder::OpenOrCreate(fs, kDir, Request(seed)));
  EXPECT_TRUE(made == 0 || job->key_seed() == made);
  made = job->key_seed();
  EXPECT_EQ(job->suffix_list(), "com\n");
  for (const std::string_view name :
       {kJournalDir, kManifestsDir, kArchiveDir}) {
    NEPHILA_TRY(const bool exists, fs.Exists(job->Path(name)));
    EXPECT_TRUE(exists) << name;
  }
  return {};
}

TEST(JobCrash, StoppedAnywhereThereIsAJobOrNone) {
  for (uint64_t at = 1;; ++at) {
    bool stopped = false;
    for (const StopStyle style : {StopStyle::kClean, StopStyle::kTornWrite}) {
      for (const Crash crash : kCrashes) {
        for (uint64_t again = 1; again <= 12; ++again) {
          SCOPED_TRACE(testing::Message()
                       << "stop at " << at << ", " << again << ", crash "
                       << static_cast<int>(crash));
          MemoryFileSystem memory;
          uint64_t made = 0;
          for (const auto& [stop, seed] :
               {std::pair(at, uint64_t{7}), std::pair(again, uint64_t{8})}) {
            FaultyFileSystem fs(memory, stop);
            fs.StopAt(stop, style);
            ExpectStopped(RunOn(fs, seed, made), fs);
            stopped |= fs.stopped();
            Happen(crash, memory, stop);
          }
          const auto state = JobFolder::Look(memory, kDir);
          ASSERT_TRUE(state.has_value());
          EXPECT_NE(*state, JobState::kOther);
          EXPECT_TRUE(made == 0 || *state == JobState::kJob);
          MustDo(RunOn(memory, 9, made));
          memory.LosePower(LossMode::kNothingUnsynced);
          MustDo(RunOn(memory, 10, made));
        }
      }
    }
    if (!stopped) break;
    ASSERT_LT(at, 100U);
    // Once the first attempt is through, only the second is stopped.
    if (at > 40) break;
  }
}

TEST(JobCrash, EveryLackOfSpaceLeavesAJobOrNone) {
  for (uint64_t at = 1; at <= 40; ++at) {
    for (const Fault fault : {Fault::kNoSpace, Fault::kEio}) {
      MemoryFileSystem memory;
      uint64_t made = 0;
      {
        FaultyFileSystem fs(memory, at);
        fs.FailAt(at, fault);
        static_cast<void>(RunOn(fs, 7, made).has_value());
      }
      MustDo(RunOn(memory, 8, made));
    }
  }
}

}  // namespace
}  // namespace nephila::job
