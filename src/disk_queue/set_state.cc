#include "disk_queue/set_state.h"

#include <algorithm>
#include <set>
#include <utility>

namespace nephila::disk_queue {
namespace {

// Ordinals, bytes and offsets are far below: their sums do not wrap.
constexpr uint64_t kMost = uint64_t{1} << 62;

enum class QueueChange : uint8_t { kRemoved = 0, kIs = 1 };

Result<std::vector<Segment>, ReadError> ReadSegments(ByteReader& reader) {
  NEPHILA_TRY(const uint64_t count, reader.Varint());
  std::vector<Segment> segments;
  for (uint64_t i = 0; i < count; ++i) {
    Segment segment;
    NEPHILA_TRY(segment.number, reader.Varint());
    NEPHILA_TRY(segment.slot, reader.Varint());
    NEPHILA_TRY(segment.end, reader.Varint());
    segments.push_back(segment);
  }
  return segments;
}

// What a commit says of the segments of before. False if it does not fit them.
bool ExtendSegments(QueueState& queue, uint64_t oldest,
                    const std::vector<Segment>& changed) {
  std::vector<Segment>& segments = queue.segments;
  const auto kept = std::find_if(
      segments.begin(), segments.end(),
      [&](const Segment& s) { return oldest != 0 && s.number >= oldest; });
  segments.erase(segments.begin(), kept);
  // The last of before may have grown, in its slot.
  if (!changed.empty() && !segments.empty() &&
      segments.back().number == changed.front().number &&
      segments.back().slot == changed.front().slot) {
    segments.pop_back();
  }
  for (const Segment& segment : changed) {
    if (!segments.empty() && segments.back().number >= segment.number) {
      return false;
    }
    segments.push_back(segment);
  }
  return segments.empty() ? oldest == 0 : segments.front().number == oldest;
}

// What a commit adds to the tail of before. False if it does not fit there.
bool ExtendTail(QueueState& queue, uint64_t begin, uint64_t from,
                std::string_view bytes) {
  const uint64_t end = queue.tail_begin + queue.tail.size();
  if (begin < queue.tail_begin || begin >= kMost) return false;
  if (begin >= end) {
    if (from != begin) return false;
    queue.tail.assign(bytes);
  } else {
    if (from != end) return false;
    queue.tail.erase(0, begin - queue.tail_begin);
    queue.tail.append(bytes);
  }
  queue.tail_begin = begin;
  return true;
}

Result<bool, ReadError> ApplyQueue(ByteReader& reader, SetState& state) {
  NEPHILA_TRY(const uint64_t id, reader.Varint());
  NEPHILA_TRY(const uint8_t change, reader.U8());
  if (change == static_cast<uint8_t>(QueueChange::kRemoved)) {
    return state.queues.erase(id) == 1;
  }
  if (change != static_cast<uint8_t>(QueueChange::kIs)) return false;
  QueueState& queue = state.queues[id];
  NEPHILA_TRY(queue.first, reader.Varint());
  NEPHILA_TRY(queue.next, reader.Varint());
  NEPHILA_TRY(const uint64_t oldest, reader.Varint());
  NEPHILA_TRY(const std::vector<Segment> segments, ReadSegments(reader));
  if (!ExtendSegments(queue, oldest, segments)) return false;
  NEPHILA_TRY(queue.offset, reader.Varint());
  NEPHILA_TRY(queue.tail_first, reader.Varint());
  NEPHILA_TRY(const uint64_t begin, reader.Varint());
  NEPHILA_TRY(const uint64_t from, reader.Varint());
  NEPHILA_TRY(const std::string_view tail, reader.Sized());
  return ExtendTail(queue, begin, from, tail);
}

Result<bool, ReadError> Apply(ByteReader& reader, SetState& state) {
  NEPHILA_TRY(const uint8_t whole, reader.U8());
  if (whole > 1) return false;
  if (whole == 1) state.queues.clear();
  NEPHILA_TRY(state.generation, reader.Varint());
  NEPHILA_TRY(state.next_segment, reader.Varint());
  NEPHILA_TRY(const uint64_t retired, reader.Varint());
  state.retired.clear();
  for (uint64_t i = 0; i < retired; ++i) {
    RetiredSegment segment;
    NEPHILA_TRY(segment.number, reader.Varint());
    NEPHILA_TRY(segment.slot, reader.Varint());
    NEPHILA_TRY(segment.last_named, reader.Varint());
    state.retired.push_back(segment);
  }
  NEPHILA_TRY(const uint64_t queues, reader.Varint());
  for (uint64_t i = 0; i < queues; ++i) {
    NEPHILA_TRY(const bool applied, ApplyQueue(reader, state));
    if (!applied) return false;
  }
  return reader.AtEnd();
}

// The numbers and slots of segments, each of which is there once.
class SegmentsSeen {
 public:
  SegmentsSeen(uint64_t next_segment, const Geometry& geometry)
      : next_segment_(next_segment), geometry_(geometry) {}

  bool IsNew(uint64_t number, uint64_t slot) {
    // A slot for each number ever used would do.
    return number < next_segment_ && slot < next_segment_ &&
           numbers_.insert(number).second && slots_.insert(slot).second;
  }
  bool IsNew(const Segment& segment) {
    return segment.end > kSegmentHeadBytes &&
           segment.end <= geometry_.slot_bytes &&
           IsNew(segment.number, segment.slot);
  }

 private:
  const uint64_t next_segment_;
  const Geometry geometry_;
  std::set<uint64_t> numbers_;
  std::set<uint64_t> slots_;
};

bool QueueMakesSense(const QueueState& queue, SegmentsSeen& seen) {
  if (queue.first > queue.next || queue.tail_first > queue.next ||
      queue.next >= kMost) {
    return false;
  }
  uint64_t last = 0;
  for (const Segment& segment : queue.segments) {
    // Ascending: how places are compared.
    if (segment.number <= last || !seen.IsNew(segment)) return false;
    last = segment.number;
  }
  if (queue.segments.empty()) {
    if (queue.offset != 0 || queue.first < queue.tail_first) return false;
  } else if (queue.offset < kSegmentHeadBytes ||
             queue.offset > queue.segments.front().end) {
    return false;
  }
  return CountRecords(queue.tail) == queue.next - queue.tail_first;
}

}  // namespace

void AppendCommitHead(ByteWriter& writer, const CommitHead& head) {
  writer.U8(head.whole ? 1 : 0);
  writer.Varint(head.generation);
  writer.Varint(head.next_segment);
  writer.Varint(head.retired.size());
  for (const RetiredSegment& segment : head.retired) {
    writer.Varint(segment.number);
    writer.Varint(segment.slot);
    writer.Varint(segment.last_named);
  }
  writer.Varint(head.queues);
}

void AppendRemovedQueue(ByteWriter& writer, uint64_t id) {
  writer.Varint(id);
  writer.U8(static_cast<uint8_t>(QueueChange::kRemoved));
}

QueueUpdate WholeUpdate(const QueueState& queue) {
  QueueUpdate update;
  update.first = queue.first;
  update.next = queue.next;
  if (!queue.segments.empty()) update.oldest = queue.segments.front().number;
  update.segments = queue.segments;
  update.offset = queue.offset;
  update.tail_first = queue.tail_first;
  update.tail_begin = update.tail_from = queue.tail_begin;
  update.tail = queue.tail;
  return update;
}

void AppendQueue(ByteWriter& writer, uint64_t id, const QueueUpdate& update) {
  writer.Varint(id);
  writer.U8(static_cast<uint8_t>(QueueChange::kIs));
  writer.Varint(update.first);
  writer.Varint(update.next);
  writer.Varint(update.oldest);
  writer.Varint(update.segments.size());
  for (const Segment& segment : update.segments) {
    writer.Varint(segment.number);
    writer.Varint(segment.slot);
    writer.Varint(segment.end);
  }
  writer.Varint(update.offset);
  writer.Varint(update.tail_first);
  writer.Varint(update.tail_begin);
  writer.Varint(update.tail_from);
  writer.Sized(update.tail);
}

bool ApplyCommit(std::string_view commit, SetState& state) {
  ByteReader reader(commit);
  const auto applied = Apply(reader, state);
  return applied.has_value() && *applied;
}

bool MakesSense(const SetState& state, const Geometry& geometry) {
  if (state.next_segment >= kMost / geometry.slot_bytes) return false;
  SegmentsSeen seen(state.next_segment, geometry);
  for (const auto& [id, queue] : state.queues) {
    if (!QueueMakesSense(queue, seen)) return false;
  }
  for (const RetiredSegment& segment : state.retired) {
    if (segment.last_named >= state.generation ||
        !seen.IsNew(segment.number, segment.slot)) {
      return false;
    }
  }
  return true;
}

}  // namespace nephila::disk_queue
