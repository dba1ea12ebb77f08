// Drum: a disk repository that answers in batches (IRLbot s4, thesis ch. IV).
//
// Tuples <key, value, aux> go in with an operation: check, update, both. They
// gather in buckets on disk until there are many; a pass then sorts each bucket
// in memory, merges it with the sorted runs of records in one sequential
// sweep, and hands the results to a receiver in the order of arrival: unique
// or duplicate, the stored value, aux. Meanwhile the next batch gathers.
// Memory is fixed, all disk access is sequential, and the cost per tuple
// falls as the disk for batches grows (docs/drum-model.md).
//
// Crash safety. A commit is a generation; Open gives exactly the one that is
// asked for, and the last two can be asked for. A commit during a pass names
// the frozen batch and how many results have been taken: after a crash the
// pass is done again, with the same results, and goes on behind them. So a
// receiver that commits together with its Drum sees each result once.
// A file that a commit named goes only when two newer commits are durable.
//
// Errors. kBusy from Add: the disk budget is used up until results are taken
// or commits free old files; nothing was added. kNoSpace: the disk is full;
// nothing is lost, and the same call works once there is room. kCorruption
// and read errors name file and offset, and come again if the call does. Any
// other failed write and any failed sync, if only for want of space, is final:
// every later call returns it, and the process should end.
//
// Threads: one thread uses a Drum; FinishCommit alone may run on another,
// beside all calls but BeginCommit. Work is done by the Workers, or, if those
// have no threads, in Deliver, Wait and the calls that must wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/codec.h"
#include "base/file.h"
#include "base/result.h"
#include "base/workers.h"
#include "drum/rule.h"
#include "drum/scan.h"
#include "drum/value.h"

namespace nephila::drum {

struct Tuple {
  Operation operation = Operation::kCheckUpdate;
  uint64_t key = 0;
  std::string_view value = {};  // of the store's format; empty for a check
  std::string_view aux = {};    // comes back with the result
};

struct TupleResult {
  bool unique;             // there was no record
  std::string_view value;  // the rule's answer; else the value of before
  std::string_view aux;
};

class Receiver {
 public:
  virtual ~Receiver() = default;
  // In the order of arrival. The views live until it returns. Must not call
  // the Drum: what is being handed on is not counted yet.
  virtual void Receive(std::span<const TupleResult> results) = 0;
};

struct DrumOptions {
  // What the records are. These four are fixed when a store is made.
  ValueFormat value;
  std::shared_ptr<const MergeRule> rule = nullptr;  // with values: not null
  // Every tuple has this operation; saves a byte a tuple.
  std::optional<Operation> only = std::nullopt;
  // The key of a tuple as a function of its aux, where it is one: a hash
  // instead of two bytes a tuple. Called from any thread.
  std::function<uint64_t(std::string_view aux)> key_of_aux = nullptr;

  // What the store may use (drum/plan.h). Memory is all of it; disk is for
  // batches, the records come on top. May change from one Open to the next.
  uint64_t memory_bytes = uint64_t{64} << 20;
  uint64_t disk_bytes = uint64_t{1} << 30;

  // Hand on unique results alone; duplicates are counted.
  bool unique_only = false;
  // Asked when a pass begins: what its rule will read.
  std::function<std::string()> parameters = nullptr;
  // Of the log of aux; without one, the cost model chooses.
  std::optional<Codec> codec = std::nullopt;
};

// What a Drum works with; all of it outlives the Drum.
struct DrumContext {
  FileSystem& fs;
  const Clock& clock;
  Workers& workers;
};

struct DrumStats {
  uint64_t tuples_added = 0;
  uint64_t results_delivered = 0;
  uint64_t uniques_delivered = 0;
  uint64_t passes = 0;        // delivered as a whole
  uint64_t small_passes = 0;  // of those, without a new run
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t aux_bytes = 0;      // handed in
  uint64_t aux_log_bytes = 0;  // what the log makes of them
  uint64_t runs = 0;
  uint64_t records = 0;  // in runs, shadowed ones and tombstones too
  uint64_t run_bytes = 0;
  uint64_t memory_records = 0;    // in memory, shadowed ones too
  uint64_t batch_disk_bytes = 0;  // what counts against disk_bytes
  // From one pass that FlushIfCheap begins to the end of the next, as far as
  // the last one tells.
  std::chrono::nanoseconds cheap_interval{0};
};

class Drum {
 public:
  // Makes an empty store in the directory `dir`, which must not hold one, and
  // commits it as generation 0.
  static Result<std::unique_ptr<Drum>> Create(const DrumContext& context,
                                              const std::string& dir,
                                              DrumOptions options);
  // kNotFound if there is no such commit. What lies in `dir` and belongs to
  // neither this generation nor the one before is removed: later commits are
  // void at once, and the next is `generation` + 1.
  static Result<std::unique_ptr<Drum>> Open(const DrumContext& context,
                                            const std::string& dir,
                                            DrumOptions options,
                                            uint64_t generation);
  // The newest generation that can be opened, for stores that no manifest
  // speaks for.
  static Result<uint64_t> NewestGeneration(FileSystem& fs,
                                           const std::string& dir);

  // Waits for running tasks. What is not committed is gone.
  ~Drum();
  Drum(const Drum&) = delete;
  Drum& operator=(const Drum&) = delete;

  // Where it finds the batch full and no pass on it begins the pass first, and
  // the tuple goes into the next batch. kInvalidArgument for what does not fit
  // the options, and for a check with a value.
  Status Add(const Tuple& tuple);

  // Begins a pass over what has been added so far; if one is on, as soon as
  // that is delivered, over all that is added until then. Such a wish is not
  // kept across a restart. Nothing to do for an empty batch.
  Status Flush();
  // The consumer has run dry: the same, but only while passes take less than
  // a tenth of the time. Returns whether a pass is on now.
  Result<bool> FlushIfCheap();

  // Hands on up to `max_results` results that are ready (duplicates that
  // unique_only leaves out count); returns how many. 0: none is ready now.
  // With an error some may have been handed on before it: they count, and do
  // not come again. Never waits for workers that have threads.
  Result<size_t> Deliver(Receiver& receiver, size_t max_results);
  // Waits until a result is ready, or no pass is on any more.
  Status Wait();
  // Flush and deliver until nothing is left.
  Status Drain(Receiver& receiver);
  bool PassIsOn() const;
  // No pass is on, and nothing gathers for one.
  bool IsIdle() const;

  // A commit in two steps: Begin notes the state between two calls and
  // returns its generation, Finish makes it durable. After kNoSpace from
  // Finish, call it again; if a sync failed so, that returns it again. Commit
  // is both.
  Result<uint64_t> BeginCommit();
  Status FinishCommit();
  Result<uint64_t> Commit();

  // Records as of the last pass that was delivered as a whole. The Scan stays
  // as it is while passes go on, and must not outlive the Drum.
  Result<std::unique_ptr<Scan>> NewScan(const ScanRange& range) const;

  // Fills an empty store from records that `next` yields in ascending order of
  // keys, false at the end. Takes part in the next commit.
  Status Load(
      const std::function<bool(uint64_t& key, std::string& value)>& next);

  DrumStats stats() const;
  uint64_t generation() const;  // of the last commit begun

 private:
  class Impl;
  explicit Drum(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

// The records of a commit, without the right to change anything: for looking
// at a store that no process has open.
Result<std::unique_ptr<Scan>> ScanCommit(FileSystem& fs, const std::string& dir,
                                         uint64_t generation,
                                         const ScanRange& range);

}  // namespace nephila::drum
