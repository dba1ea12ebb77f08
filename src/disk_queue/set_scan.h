// SetScan: the queues of a set as a commit has them, without the right to
// change anything: for looking at a set that another process may have open.
//
// Segments of a commit that is two commits old may be used again meanwhile;
// what is read then is kCorruption or kNotFound, never a wrong record.
//   In: a folder, a generation.   Out: queues, and a scan of each.
//   Threads: one.   Memory: what LoadSet takes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "disk_queue/commit_log.h"
#include "disk_queue/queue_scan.h"

namespace nephila::disk_queue {

class SetScan {
 public:
  struct Queue {
    uint64_t id = 0;
    uint64_t first = 0;  // ordinal of the first record that is kept
    uint64_t next = 0;   // behind the last
    uint64_t bytes = 0;  // on disk
    uint64_t records() const { return next - first; }
  };

  // kNotFound if there is no such commit. `fs` outlives this.
  static Result<SetScan> Open(FileSystem& fs, std::string dir,
                              uint64_t generation);

  // Ascending.
  std::vector<Queue> Queues() const;
  // Nothing of a queue that is not there.
  uint64_t Records(uint64_t queue) const;
  uint64_t Bytes(uint64_t queue) const;
  // Independent of this, but for the file system.
  std::unique_ptr<QueueScan> Scan(uint64_t queue) const;

 private:
  SetScan(FileSystem& fs, std::string dir, LoadedSet loaded)
      : fs_(&fs), dir_(std::move(dir)), loaded_(std::move(loaded)) {}

  FileSystem* fs_;
  std::string dir_;
  LoadedSet loaded_;
};

}  // namespace nephila::disk_queue
