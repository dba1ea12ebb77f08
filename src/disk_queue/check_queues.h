// QueueCheck: whether a set of queues on disk is what its commits say, read to
// the last block and without changing anything: frames of the log, heads of
// segments, every block between the positions of each queue, and that records
// follow each other up to where the queue ends.
//
//   In: a folder that no process works on, generations.   Out: counts, and a
//   Damage for each thing that is wrong; the rest is still looked at.
//   Not seen: blocks before the first record kept, and what no commit names.
//   Threads: one.   Memory: what LoadSet takes, and a block.
//   Cost: each block is read once; segments in the order of their queue.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/damage.h"
#include "base/file.h"
#include "disk_queue/commit_log.h"

namespace nephila::disk_queue {

struct QueueCounts {
  uint64_t queues = 0;
  uint64_t records = 0;
  uint64_t bytes = 0;  // of segments that were read
};

class QueueCheck {
 public:
  // `fs` outlives this.
  QueueCheck(FileSystem& fs, std::string dir, DamageSink sink);

  using RecordSink =
      std::function<void(uint64_t queue, std::string_view record)>;
  // Looks at a generation; queues that are as one before had them are not read
  // again. Nothing if its commit cannot be read.
  std::optional<QueueCounts> Check(uint64_t generation,
                                   const RecordSink& record = nullptr);

  // Paths of all files that the generations name.
  const std::set<std::string>& files() const { return files_; }

 private:
  void NoteLogs(uint64_t generation);
  void CheckQueue(const LoadedSet& loaded, uint64_t id, const QueueState& queue,
                  const RecordSink& record);

  FileSystem& fs_;
  const std::string dir_;
  const DamageSink sink_;
  std::set<std::string> files_;
  SetState newest_;  // that was looked at
};

}  // namespace nephila::disk_queue
