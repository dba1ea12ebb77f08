// QueueSet::Impl: the queues in memory, and what moves between them and the
// disk. For queue_set.cc; the contract is that of QueueSet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "disk_queue/block.h"
#include "disk_queue/commit_log.h"
#include "disk_queue/live_queue.h"
#include "disk_queue/queue_scan.h"
#include "disk_queue/queue_set.h"
#include "disk_queue/segment_files.h"
#include "disk_queue/set_state.h"
#include "disk_queue/slot_table.h"

namespace nephila::disk_queue {

class QueueSet::Impl {
 public:
  Impl(FileSystem& fs, std::string dir, const QueueSetOptions& options,
       const SetHead& head);

  // Commits the empty set as generation 0.
  Status Create();
  // Takes the queues out of `loaded`.
  Status Restore(LoadedSet& loaded);

  Result<uint64_t> Append(uint64_t id, std::string_view record);
  Result<size_t> ReadAhead(uint64_t id, size_t max_records, const Sink& sink);
  void Release(uint64_t id, uint64_t ordinal);
  Status Remove(uint64_t id);
  Result<uint64_t> BeginCommit();
  Status FinishCommit() { return log_.Finish(); }
  bool IsCommitting() const { return log_.IsPending(); }
  void ManifestIsDurable(uint64_t generation);

  const LiveQueue* Find(uint64_t id) const {
    const auto found = queues_.find(id);
    return found == queues_.end() ? nullptr : found->second.get();
  }
  std::vector<uint64_t> Queues() const;
  std::unique_ptr<QueueScan> NewScan(uint64_t id) const;
  QueueSetStats Stats() const;
  uint64_t generation() const { return generation_; }

 private:
  LiveQueue* Find(uint64_t id) {
    return const_cast<LiveQueue*>(std::as_const(*this).Find(id));
  }
  uint64_t tail_budget() const;
  uint64_t read_budget() const;
  uint64_t most_record_bytes() const;
  // Whether every queue may keep the room of a full tail.
  bool TailsFit() const {
    return queues_.size() * 2 * options_.block_bytes <= tail_budget();
  }

  void Changed(LiveQueue& queue);
  void CountTail(LiveQueue& queue);
  void DropBlock(LiveQueue& queue);
  // Writes the tail as a block.
  Status Flush(LiveQueue& queue, bool keep_room);
  Result<Segment> WriteTail(const LiveQueue& queue, uint64_t& offset);
  // Writes the largest tails until there is room for `bytes` more.
  Status MakeRoom(uint64_t bytes);
  void FindVictims();
  Status Load(LiveQueue& queue);
  // Frees the slots of segments that no commit needs; files that are empty
  // then.
  std::vector<uint64_t> FreeSegments();
  std::string CommitBytes(uint64_t generation, bool whole);
  // What no commit from this one on names can go.
  uint64_t KeepFrom() const;

  FileSystem& fs_;
  const std::string dir_;
  const QueueSetOptions options_;
  const SetHead head_;
  CommitLog log_;
  SegmentFiles files_;
  SlotTable slots_;
  BlockPacker packer_;
  std::string packed_;

  uint64_t generation_ = 0;
  // Of the last durable manifest, and of the one before.
  uint64_t manifest_ = 0;
  uint64_t manifest_before_ = 0;
  uint64_t next_segment_ = 1;
  std::unordered_map<uint64_t, std::unique_ptr<LiveQueue>> queues_;
  std::vector<RetiredSegment> retired_;
  // Since the last commit was begun.
  std::vector<uint64_t> changed_;
  std::vector<uint64_t> removed_;
  std::set<uint64_t> unsynced_;  // files
  bool new_names_ = false;

  uint64_t tail_memory_ = 0;
  uint64_t read_memory_ = 0;
  std::list<LiveQueue*> reading_;  // with a block, the one used last in front
  struct Victim {
    size_t memory;
    uint64_t id;
  };
  std::vector<Victim> victims_;  // the largest last
  std::unique_ptr<Block> spare_;
  const std::shared_ptr<int> pin_ = std::make_shared<int>();
};

}  // namespace nephila::disk_queue
