// The journal: what the commits of a store say.
//
// A journal is a file of frames (base/bytes.h): a header, then one frame per
// commit. The first is whole, the others say what changed since the one
// before; so a commit is one append and one sync, however large the store. A
// journal that has grown is left for a new one, whose first frame is whole
// again. Its name is the generation of that frame, so the journal of a
// generation is the one with the largest name up to it.
// docs/formats/drum.md has the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "base/result.h"
#include "drum/batch.h"
#include "drum/memory_layers.h"
#include "drum/memory_run.h"
#include "drum/run.h"

namespace nephila::drum {

// What is fixed when a store is made.
struct StoreHeader {
  bool operator==(const StoreHeader&) const = default;

  uint64_t salt = 0;
  ValueFormat value;
  std::optional<Operation> only;
  bool log_buckets = false;
};

// A file that the state no longer needs, but an earlier commit names.
struct RetiredFile {
  std::string name;
  uint64_t last_named = 0;   // by this commit
  uint64_t batch_bytes = 0;  // what it takes of the disk for batches
};

struct StoreCounters {
  uint64_t tuples_added = 0;
  uint64_t results_delivered = 0;
  uint64_t uniques_delivered = 0;
  uint64_t passes = 0;
  uint64_t small_passes = 0;
};

// A store as a commit has it.
struct StoreState {
  StoreHeader header;
  uint64_t generation = 0;
  uint64_t next_file = 1;
  StoreCounters counters;
  std::vector<RunInfo> runs;  // newest first
  std::vector<RetiredFile> retired;
  MemoryLayers memory;
  std::vector<BatchState> batches;  // the frozen one first
  // Where it was read from: the name of the file, and where its commit ends.
  std::string journal;
  uint64_t journal_end = 0;
};

// The parts of a commit that are always whole.
struct CommitHead {
  bool whole = false;
  uint64_t generation = 0;
  uint64_t next_file = 1;
  StoreCounters counters;
  std::vector<RunInfo> runs;
  std::vector<RetiredFile> retired;
};

// A commit is the head, then the changes of the run in memory, then the
// batches, each by its own AppendTo.
void AppendCommitHead(ByteWriter& writer, const CommitHead& head);
void AppendMemoryChanges(
    ByteWriter& writer, bool emptied,
    const std::vector<std::shared_ptr<const MemoryRun>>& changes);

// Larger frames are not read: with the plan's limits on what is in memory a
// commit stays far below.
inline constexpr uint32_t kMostCommitBytes = uint32_t{3} << 30;

inline constexpr std::string_view kJournalPrefix = "journal-";
std::string JournalName(uint64_t first_generation);
// The first frame of a journal.
std::string JournalHeader(const StoreHeader& header, uint64_t first_generation);
// A commit as a frame that stands at `offset` of its journal.
std::string CommitFrame(const StoreHeader& header, uint64_t offset,
                        std::string_view commit);

// kNotFound if no journal has that generation; kCorruption, naming file and
// offset, if one should.
Result<StoreState> LoadState(FileSystem& fs, const std::string& dir,
                             uint64_t generation);
Result<uint64_t> NewestGeneration(FileSystem& fs, const std::string& dir);
// Whether `dir` holds a store.
Result<bool> HasJournal(FileSystem& fs, const std::string& dir);
// The generation in the name of a journal; nothing for other names.
std::optional<uint64_t> JournalGeneration(std::string_view name);

}  // namespace nephila::drum
