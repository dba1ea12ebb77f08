// BucketMerge: one bucket of a pass, sorted and merged with the records.
//
// Where the pass spends its time. Every run is swept once, front to back;
// blocks that hold no key of the bucket's tuples are not even read, unless
// records expire or the run is to be folded into the new one.
//
// Threads: one per object; it keeps its memory from bucket to bucket.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "drum/batch.h"
#include "drum/block_file.h"
#include "drum/memory_layers.h"
#include "drum/memory_run.h"
#include "drum/results.h"
#include "drum/rule.h"
#include "drum/run.h"
#include "drum/sort.h"

namespace nephila::drum {

// The records of a store, newest first: what is in memory, then the runs.
struct Records {
  MemoryLayers memory;
  std::vector<std::shared_ptr<const Run>> runs;
};

struct MergeInput {
  const Batch* batch = nullptr;
  Records records;
  const MergeRule* rule = nullptr;  // with values
  size_t read_ahead_bytes = 0;
  PassResults* results = nullptr;
  // Where changed records go: a new run, into which those in memory and the
  // `folded_runs` newest runs are folded; or, if null, the caller's memory.
  RunWriter* writer = nullptr;
  size_t folded_runs = 0;
};

class BucketMerge {
 public:
  explicit BucketMerge(const MergeInput& input) : input_(input) {}

  // Merges neighbouring buckets, [first, end): a range of the new run. Without
  // a writer what they changed is added to `changes`.
  Status Merge(uint32_t first, uint32_t end, MemoryRun& changes);

 private:
  Status MergeBucket(uint32_t bucket, MemoryRun& changes);
  Status LoadKeys(uint32_t bucket);
  Status LoadTuples(uint32_t bucket);
  void Sort(uint32_t bucket);

  // Without values.
  Status MergeKeys(uint32_t bucket, MemoryRun& changes);
  void MarkKnown(std::span<const uint64_t> keys, size_t& position);
  Status SweepRuns(uint32_t bucket);
  std::string TakeBits(MemoryRun& changes);

  // With values.
  Status MergeValues(uint32_t bucket, MemoryRun& changes);
  Status ExpireUntil(RecordSource& records, uint64_t key, bool to_end,
                     MemoryRun& changes);
  void MeetTuples(size_t begin, size_t end, bool in_store, bool alive,
                  MemoryRun& changes);
  std::string TakeAnswers();

  Status WriteRun(uint32_t bucket, const MemoryRun& changes,
                  RunWriter::Part& part) const;
  std::vector<std::unique_ptr<RecordSource>> Sources(uint32_t bucket,
                                                     size_t runs) const;

  const MergeInput input_;
  BlockBuffer buffer_;
  std::vector<SortEntry> entries_;
  std::vector<SortEntry> scratch_;
  std::vector<uint64_t> keys_;  // the different ones, ascending
  std::vector<uint8_t> known_;  // one for each of them
  // For stores with values or several operations: of each tuple, by arrival.
  struct TuplePlace {
    uint64_t offset = 0;  // of its value in `tuples_`
    uint32_t size = 0;
    Operation operation = Operation::kCheck;
  };
  struct Answer {
    uint64_t offset = 0;
    uint32_t size = 0;
    bool unique = false;
  };
  std::vector<TuplePlace> places_;     // with values
  std::vector<Operation> operations_;  // without, if they differ
  std::vector<Answer> answers_;
  std::string tuples_;
  std::string answer_bytes_;
  std::string record_;
  std::string answer_;
};

}  // namespace nephila::drum
