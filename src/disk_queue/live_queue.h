// LiveQueue: a queue in memory: where its blocks are, how far they are read
// and how far they are done with.
//
// In: blocks that were written, blocks that were read, ordinals released.
// Out: the place of the next block to read, segments that are not needed any
// more, the state for a commit. No disk: QueueSet moves the bytes.
//
// Places are in order: segments, oldest first; in them blocks; then the tail.
// `ahead` has the blocks between the first record that is kept and the last
// that was handed on, so that a release finds its block.
//
// Threads: one. Cost: constant but for what it hands out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string_view>
#include <vector>

#include "disk_queue/block.h"
#include "disk_queue/segment_files.h"
#include "disk_queue/set_state.h"
#include "disk_queue/tail.h"

namespace nephila::disk_queue {

// Where a block is. Segments are in the order of their numbers.
struct BlockPlace {
  uint64_t segment = 0;  // number; 0: before the first segment
  uint64_t offset = 0;
};

class LiveQueue {
 public:
  explicit LiveQueue(uint64_t id) : id_(id) {}
  LiveQueue(uint64_t id, QueueState state);

  uint64_t id() const { return id_; }
  uint64_t first() const { return first_; }
  uint64_t next() const { return next_; }
  uint64_t cursor() const { return cursor_; }
  Tail& tail() { return tail_; }
  const Tail& tail() const { return tail_; }
  const std::deque<Segment>& segments() const { return segments_; }

  uint64_t Append(std::string_view record) {
    tail_.Append(record);
    return next_++;
  }
  // The tail is now the block at the end of `segment`, which is the last one
  // or a new one.
  void TailBecame(const Segment& segment, uint64_t offset, bool keep_room);

  // Reading. The next record is in the tail, in the block that is loaded, or
  // in one that has to be.
  bool InTail() const { return cursor_ >= tail_.first(); }
  Block* LoadedBlock() {
    return block_ != nullptr && cursor_ < block_->end() ? block_.get()
                                                        : nullptr;
  }
  // Where the block with the next record is. REQUIRES: !InTail().
  BlockPlace WantedBlock();
  const Segment* FindSegment(uint64_t number) const;
  // The wanted block, which ends at `end` of its segment; false if it is not
  // the one that should be there.
  bool Loaded(std::unique_ptr<Block> block, const BlockPlace& place,
              uint64_t end);
  std::unique_ptr<Block> TakeBlock() { return std::move(block_); }
  // The record after the last. REQUIRES: there is one where it says.
  std::string_view ReadFromBlock();
  std::string_view ReadFromTail();

  // Appends the segments that are needed no more to `retired`.
  void Release(uint64_t ordinal, std::vector<Segment>& retired);

  // All of it, for who looks at it meanwhile.
  QueueState State() const;
  // What a commit says of it: what is new since the last one that did, or all.
  QueueUpdate Update(bool whole) const;
  // A commit has what it says now.
  void Committed();

  // For the set's own books.
  bool changed = false;      // since the last commit
  size_t counted_tail = 0;   // memory of the tail in the set's sum
  bool is_known = false;     // to a commit
  size_t counted_block = 0;  // memory of the block in the set's sum
  // Where it is in the list of queues with a block; only with counted_block.
  std::list<LiveQueue*>::iterator reading;

 private:
  struct BlockAhead {
    uint64_t first;  // ordinals
    uint64_t end;
    BlockPlace place;
  };

  BlockPlace Mark() const { return ahead_.empty() ? at_ : ahead_[0].place; }
  // Where in the first segment a reader begins.
  uint64_t FirstOffset() const;

  const uint64_t id_;
  uint64_t first_ = 0;
  uint64_t next_ = 0;
  uint64_t cursor_ = 0;  // ordinal of the next record to be handed on
  std::deque<Segment> segments_;
  BlockPlace at_;  // of the next block that was not loaded yet
  std::vector<BlockAhead> ahead_;
  std::unique_ptr<Block> block_;
  size_t block_at_ = 0;  // of the next record in the block
  Tail tail_;
  // What commits have.
  uint64_t committed_end_ = 0;  // byte of the tail
  Segment committed_last_;      // segment; number 0: none
};

}  // namespace nephila::disk_queue
