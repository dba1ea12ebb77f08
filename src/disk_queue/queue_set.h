// QueueSet: many FIFO queues of records on disk, in one folder.
//
// Records go in at the end of a queue and come out at its beginning, in order,
// whatever happens in between. A queue is a number; thousands of them cost no
// file and no buffer but their own bytes. The last records of a queue are its
// tail, in memory; a full tail becomes a block of a segment file, and where
// memory runs short the largest tails do before they are full. An append never
// waits for a reader.
//
// Each record has an ordinal in its queue, from 0. Read takes records for
// good. ReadAhead hands them on and keeps them: they come again after a
// restart, until Release says up to where they are done with.
//
// Crash safety, as of a Drum (drum/drum.h). A commit is a generation; Open
// gives exactly the one that is asked for, and the last two can be asked for:
// what was appended since is gone, what was read since comes again. Tails go
// into the commit's one append, as far as they are new. A segment goes only
// when two newer commits than the last that needs it are durable; or, if
// manifests name commits, two newer manifests (`named_by_manifests`): then the
// generations that the last two manifests name can be asked for.
//
// Errors. kNoSpace: the disk is full; nothing is lost, nothing was appended,
// and the same call works once there is room. Commits have a reserve for that,
// so that what is read makes room, for later blocks at least. kCorruption and
// read errors name file and offset, and come again if the call does. Any other
// failed write and any failed sync is final: every later call returns it, and
// the process should end.
//
// Threads: one thread uses a set; FinishCommit alone may run on another,
// beside all calls but BeginCommit, and so may a scan that was made before.
// Cost: docs/performance.md; memory is that of the options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "base/file.h"
#include "base/result.h"
#include "disk_queue/queue_scan.h"

namespace nephila::disk_queue {

// Most may change from one Open to the next.
struct QueueSetOptions {
  // Tails, blocks that are being read, a commit that is being written. Queues
  // themselves take about 300 bytes each on top.
  uint64_t memory_bytes = uint64_t{64} << 20;
  // A tail of this size becomes a block; up to 2 MiB.
  uint64_t block_bytes = uint64_t{64} << 10;
  // Files are cut into segments, each of one queue. These two are fixed when a
  // set is made. A segment holds several blocks, and no record is larger.
  uint64_t segment_bytes = uint64_t{256} << 10;
  uint64_t segments_per_file = 512;
  // A file has 128 MiB and is opened in microseconds; descriptors are scarcer
  // (crawl/descriptor_plan.h).
  uint32_t max_open_files = 16;
  // Commits count only as manifests name them: nothing is freed or used again
  // but by ManifestIsDurable.
  bool named_by_manifests = false;
  // lz4 costs a third of zstd's time and leaves a fifth more
  // (docs/performance.md).
  Codec codec = Codec::kLz4;
};

struct QueueSetStats {
  uint64_t queues = 0;
  uint64_t records = 0;  // kept
  uint64_t segments = 0;
  uint64_t segment_bytes = 0;
  uint64_t retired_segments = 0;  // yet to be removed
  uint64_t tail_bytes = 0;        // of memory
  uint64_t read_bytes = 0;        // of memory: blocks that are being read
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;  // with commits
};

class QueueSet {
 public:
  using Sink = std::function<void(const Record& record)>;

  // Makes an empty set in the directory `dir`, which must not hold one, and
  // commits it as generation 0. `fs` outlives it.
  static Result<std::unique_ptr<QueueSet>> Create(
      FileSystem& fs, const std::string& dir, const QueueSetOptions& options);
  // kNotFound if there is no such commit. What lies in `dir` and belongs to
  // neither this generation nor the one before is removed: later commits are
  // void at once, and the next is `generation` + 1.
  static Result<std::unique_ptr<QueueSet>> Open(FileSystem& fs,
                                                const std::string& dir,
                                                const QueueSetOptions& options,
                                                uint64_t generation);

  // What is not committed is gone.
  ~QueueSet();
  QueueSet(const QueueSet&) = delete;
  QueueSet& operator=(const QueueSet&) = delete;

  // Returns the record's ordinal. A queue begins with its first record.
  // kInvalidArgument for more than kMostRecordBytes (block.h), or than a
  // segment holds.
  Result<uint64_t> Append(uint64_t queue, std::string_view record);

  // Hands on up to `max_records` records; returns how many: less only at the
  // end of the queue. The sink must not call the set. With an error some may
  // have been handed on before it; they count, and do not come again.
  Result<size_t> Read(uint64_t queue, size_t max_records, const Sink& sink);
  Result<size_t> ReadAhead(uint64_t queue, size_t max_records,
                           const Sink& sink);
  // Records before `ordinal` are done with. REQUIRES: they were handed on.
  void Release(uint64_t queue, uint64_t ordinal);

  // Forgets an empty queue; a later one of its number begins at 0 again.
  // kInvalidArgument if it keeps records.
  Status Remove(uint64_t queue);

  // Records that a queue keeps, and those that were not handed on.
  uint64_t Kept(uint64_t queue) const;
  uint64_t Unread(uint64_t queue) const;
  // The ordinal that the next Append, ReadAhead returns; 0 for no queue.
  uint64_t NextAppend(uint64_t queue) const;
  uint64_t NextRead(uint64_t queue) const;
  // All queues, ascending.
  std::vector<uint64_t> Queues() const;

  // What a queue keeps, as of now. While the scan lives no segment is removed.
  std::unique_ptr<QueueScan> NewScan(uint64_t queue) const;

  // A commit in two steps: Begin notes the state between two calls and
  // returns its generation, Finish makes it durable. After kNoSpace from
  // Finish, call it again: until then Begin returns kInvalidArgument. Commit is
  // both, after what is left to finish of the commit before.
  Result<uint64_t> BeginCommit();
  Status FinishCommit();
  Result<uint64_t> Commit();
  // A manifest that names this generation is durable: what the one before the
  // last named, and no later one, is freed by the next commit. REQUIRES: its
  // commit is finished.
  void ManifestIsDurable(uint64_t generation);

  QueueSetStats stats() const;
  uint64_t generation() const;  // of the last commit begun

 private:
  class Impl;
  explicit QueueSet(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace nephila::disk_queue
