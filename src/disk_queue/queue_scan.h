// QueueScan: the records of a queue, looked at and not taken.
//
// A scan is of the moment it was made: what is appended or let go of later
// does not change it. It reads with files and memory of its own, one block at
// a time.
//
// Out: records in order, with their ordinals; kCorruption with file and offset
// where the disk has something else, and it comes again.
// Threads: one per scan; it may be another than the set's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "disk_queue/block.h"
#include "disk_queue/segment_files.h"
#include "disk_queue/set_state.h"

namespace nephila::disk_queue {

struct Record {
  uint64_t ordinal = 0;
  std::string_view bytes;
};

class QueueScan {
 public:
  // `pin` lives as long as the scan: what the segments stay for. `fs` outlives
  // it.
  QueueScan(FileSystem& fs, const std::string& dir, uint64_t set_salt,
            const Geometry& geometry, uint64_t queue, QueueState state,
            std::shared_ptr<const int> pin);

  // False at the end. The bytes live until the next call.
  Result<bool> Next(Record& record);

 private:
  Status NextBlock();

  const std::shared_ptr<const int> pin_;
  const uint64_t queue_;
  const QueueState state_;
  SegmentFiles files_;
  uint64_t ordinal_;  // of the next record
  size_t segment_ = 0;
  uint64_t offset_;
  Block block_;
  size_t at_ = 0;  // in the block, or in the tail
  bool in_tail_ = false;
};

// A queue as a commit has it, without the right to change anything: for
// looking at a set that no process has open. kNotFound if there is no such
// commit; a queue that is not there is empty.
Result<std::unique_ptr<QueueScan>> ScanCommit(FileSystem& fs,
                                              const std::string& dir,
                                              uint64_t generation,
                                              uint64_t queue);

}  // namespace nephila::disk_queue
