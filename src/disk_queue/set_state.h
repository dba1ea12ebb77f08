// SetState: a set of queues as a commit has it, and how a commit spells it.
//
// A queue is its records from `first` on: those in segments, then the tail,
// which is in no segment yet. A commit says of each queue that has changed
// where it stands, and of its segments and its tail only what is new: bytes of
// a queue are numbered from its beginning, so what a commit adds to a tail has
// one place, and segments ascend. So a commit costs what has happened since the
// one before, however long queues are.
// docs/formats/disk-queue.md has the bytes.
//
// Threads: any, as of plain data. Cost: linear in the bytes of the commit.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "disk_queue/segment_files.h"

namespace nephila::disk_queue {

struct QueueState {
  bool operator==(const QueueState&) const = default;

  uint64_t first = 0;             // ordinal of the first record that is kept
  uint64_t next = 0;              // of the record that is appended next
  std::vector<Segment> segments;  // oldest first
  // In the first segment: of the block that has `first`, or of the next one
  // to be read, if `first` is behind all blocks so far.
  uint64_t offset = 0;
  uint64_t tail_first = 0;  // ordinal of the tail's first record
  uint64_t tail_begin = 0;  // and the number of its first byte
  std::string tail;         // records, as in a block
};

// A segment that the state does not need, but an earlier commit names.
struct RetiredSegment {
  bool operator==(const RetiredSegment&) const = default;

  uint64_t number = 0;
  uint64_t slot = 0;
  uint64_t last_named = 0;  // by this commit
};

struct SetState {
  bool operator==(const SetState&) const = default;

  uint64_t generation = 0;
  uint64_t next_segment = 1;
  std::vector<RetiredSegment> retired;
  std::map<uint64_t, QueueState> queues;
};

// What a commit says of a queue.
struct QueueUpdate {
  uint64_t first = 0;
  uint64_t next = 0;
  uint64_t oldest = 0;            // number of its first segment; 0: it has none
  std::vector<Segment> segments;  // new ones, and the last of before if it grew
  uint64_t offset = 0;
  uint64_t tail_first = 0;
  uint64_t tail_begin = 0;
  uint64_t tail_from = 0;  // the number of the first byte of `tail`
  std::string_view tail;   // what is new of it
};
// Everything, as a whole commit says it; views `queue`.
QueueUpdate WholeUpdate(const QueueState& queue);

struct CommitHead {
  bool whole = false;  // says everything: the queues of before are forgotten
  uint64_t generation = 0;
  uint64_t next_segment = 1;
  std::vector<RetiredSegment> retired;
  uint64_t queues = 0;  // that follow
};

// A commit is the head, then its queues.
void AppendCommitHead(ByteWriter& writer, const CommitHead& head);
void AppendRemovedQueue(ByteWriter& writer, uint64_t id);
void AppendQueue(ByteWriter& writer, uint64_t id, const QueueUpdate& update);

// Applies a commit to the state of before it; false if it makes no sense.
bool ApplyCommit(std::string_view commit, SetState& state);
// Whether a set can be made from it: every segment is there once, in a slot of
// its own and within bounds, and tails are whole records.
bool MakesSense(const SetState& state, const Geometry& geometry);

}  // namespace nephila::disk_queue
