// Pass: a frozen batch meets the records, and its results are handed on.
//
// Merging: tasks on the Workers take bucket after bucket. Nothing is handed on
// before the last bucket, as arrival order goes across all of them. Then the
// aux log is read once more, some blocks ahead of need; each record's bucket
// follows from its key, and the next result of that bucket is its own.
//
// A pass changes nothing but files that no commit knows: given up at any
// moment it leaves no trace, and done again it comes out the same.
//
// Threads: one owns it; the work is done by the Workers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/workers.h"
#include "drum/aux_block.h"
#include "drum/batch.h"
#include "drum/bucket_merge.h"
#include "drum/drum.h"
#include "drum/memory_run.h"
#include "drum/results.h"
#include "drum/run.h"

namespace nephila::drum {

struct PassOptions {
  std::shared_ptr<const Batch> batch;
  Records records;
  std::shared_ptr<const MergeRule> rule;
  std::function<uint64_t(std::string_view aux)> key_of_aux;
  bool unique_only = false;
  // A new run with this number takes the changes, those in memory and the
  // newest `folded_runs`. 0: they stay in memory.
  uint64_t run_number = 0;
  size_t folded_runs = 0;
  uint64_t results_number = 0;  // of the file for results, if it comes to that
};

class Pass {
 public:
  // All of these outlive the pass.
  struct Context {
    FileSystem& fs;
    const std::string& dir;
    uint64_t salt;
    IoCounts& counts;
    Workers& workers;
    const Plan& plan;
    const Clock& clock;
  };

  Pass(const Context& context, PassOptions options);
  // Waits for running tasks; removes the run unless it was taken.
  ~Pass();
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  // Posts the tasks.
  Status Start();
  // The time that merging took; taking the results is not our time.
  std::chrono::nanoseconds merge_time() const { return merge_time_; }
  // The changes do not fit into memory: to be done again with a new run.
  bool outgrown() NEPHILA_EXCLUDES(mutex_);
  // Every bucket is merged. The error that ended the merge, if one did.
  Result<bool> IsMerged();
  struct Delivered {
    uint64_t results = 0;
    uint64_t uniques = 0;
  };
  // Hands on up to `max_results` results, none if the next block is not there
  // yet, and adds them to `delivered`: those before an error too.
  Status Deliver(Receiver& receiver, size_t max_results, Delivered& delivered);
  // Passes over results that the receiver has from before a restart.
  void SkipResults(uint64_t count) { to_skip_ = count; }
  bool IsDelivered() const;

  // Runs tasks or waits until there is something to deliver, or an error.
  void WaitForProgress();

  // What the merge made. REQUIRES: merged.
  std::shared_ptr<const MemoryRun> changes() const { return changes_; }
  const std::optional<RunInfo>& run() const { return run_; }
  // The file of the run is the caller's from now on.
  void TakeRun() { run_taken_ = true; }
  const PassOptions& options() const { return options_; }

 private:
  struct Block;  // of the aux log, read ahead

  void RunTask(size_t task);
  void FinishMerge();
  void Fail(Error error);
  void PostReads();
  void Post(Workers::Task task, Workers::Urgency urgency);
  void EndTask();
  bool IsReady(const Block& block);
  // Puts the next results of a block into `out_`.
  Status TakeResults(Block& block, size_t max_results, Delivered& taken);
  void HandOn(Receiver& receiver);

  const Context context_;
  const PassOptions options_;
  const bool with_values_;
  PassResults results_;
  std::unique_ptr<RunWriter> writer_;
  std::vector<std::unique_ptr<BucketMerge>> merges_;
  // Neighbouring buckets are merged in groups of so many, a task at a time.
  const uint32_t group_buckets_;
  std::vector<std::unique_ptr<MemoryRun>> group_changes_;
  std::shared_ptr<const MemoryRun> changes_;
  std::optional<RunInfo> run_;
  bool run_taken_ = false;
  MonoTime began_{};
  std::chrono::nanoseconds merge_time_{0};

  Mutex mutex_;
  CondVar changed_;
  uint32_t next_group_ NEPHILA_GUARDED_BY(mutex_) = 0;
  size_t merges_left_ NEPHILA_GUARDED_BY(mutex_) = 0;
  size_t tasks_ NEPHILA_GUARDED_BY(mutex_) = 0;  // posted and not ended
  bool ending_ NEPHILA_GUARDED_BY(mutex_) = false;
  bool merged_ NEPHILA_GUARDED_BY(mutex_) = false;
  bool outgrown_ NEPHILA_GUARDED_BY(mutex_) = false;
  uint64_t changes_bytes_ NEPHILA_GUARDED_BY(mutex_) = 0;
  std::optional<Error> error_ NEPHILA_GUARDED_BY(mutex_);

  // Delivery; the owner's, but for what a Block shares with its task.
  std::deque<std::shared_ptr<Block>> ahead_;
  std::vector<std::shared_ptr<Block>> spare_;
  size_t next_read_ = 0;
  size_t blocks_done_ = 0;
  uint64_t to_skip_ = 0;
  std::vector<TupleResult> out_;
  std::string answers_;  // of the results in out_
};

}  // namespace nephila::drum
