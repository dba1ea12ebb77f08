#include "disk_queue/live_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace nephila::disk_queue {

LiveQueue::LiveQueue(uint64_t id, QueueState state)
    : id_(id),
      first_(state.first),
      next_(state.next),
      cursor_(state.first),
      segments_(std::move(state.segments)),
      tail_(state.tail_first, state.tail_begin, std::move(state.tail)) {
  if (!segments_.empty()) at_ = {segments_.front().number, state.offset};
  committed_end = tail_.end_byte();
  // A tail that begins before the first record kept: those were read.
  if (tail_.first() < first_) {
    for (uint64_t i = tail_.first(); i < first_; ++i) tail_.Read();
    tail_.Release(first_);
  }
}

void LiveQueue::TailBecame(const Segment& segment, uint64_t offset,
                           bool keep_room) {
  if (segments_.empty() || segments_.back().number != segment.number) {
    segments_.push_back(segment);
  } else {
    segments_.back() = segment;
  }
  // A reader that is in the tail goes on in the block, or behind it.
  if (cursor_ > tail_.first()) {
    ahead_.push_back({tail_.first(), next_, {segment.number, offset}});
    at_ = {segment.number, segment.end};
  }
  tail_.Clear(next_, keep_room);
}

const Segment* LiveQueue::FindSegment(uint64_t number) const {
  const auto found = std::lower_bound(
      segments_.begin(), segments_.end(), number,
      [](const Segment& segment, uint64_t n) { return segment.number < n; });
  return found != segments_.end() && found->number == number ? &*found
                                                             : nullptr;
}

BlockPlace LiveQueue::WantedBlock() {
  if (!ahead_.empty() && cursor_ < ahead_.back().end) {
    return ahead_.back().place;
  }
  const Segment* const segment = FindSegment(at_.segment);
  if (segment != nullptr && at_.offset < segment->end) return at_;
  const auto later =
      std::find_if(segments_.begin(), segments_.end(),
                   [&](const Segment& s) { return s.number > at_.segment; });
  if (later != segments_.end()) at_ = {later->number, kSegmentHeadBytes};
  return at_;
}

bool LiveQueue::Loaded(std::unique_ptr<Block> block, const BlockPlace& place,
                       uint64_t end) {
  if (block->first > cursor_ || block->end() <= cursor_ ||
      block->end() > tail_.first()) {
    return false;
  }
  if (ahead_.empty() || cursor_ >= ahead_.back().end) {
    ahead_.push_back({block->first, block->end(), place});
    at_ = {place.segment, end};
  }
  block_ = std::move(block);
  block_at_ = 0;
  for (uint64_t i = block_->first; i < cursor_; ++i) {
    NextRecord(block_->raw, block_at_);
  }
  return true;
}

std::string_view LiveQueue::ReadFromBlock() {
  ++cursor_;
  return NextRecord(block_->raw, block_at_);
}

std::string_view LiveQueue::ReadFromTail() {
  ++cursor_;
  return tail_.Read();
}

void LiveQueue::Release(uint64_t ordinal, std::vector<Segment>& retired) {
  NEPHILA_CHECK(ordinal <= cursor_);
  if (ordinal <= first_) return;
  first_ = ordinal;
  const auto needed =
      std::find_if(ahead_.begin(), ahead_.end(),
                   [&](const BlockAhead& b) { return b.end > ordinal; });
  ahead_.erase(ahead_.begin(), needed);
  if (tail_.first() < ordinal) tail_.Release(ordinal);
  if (first_ == next_) {
    // An empty queue keeps no file, not even one that has room.
    retired.insert(retired.end(), segments_.begin(), segments_.end());
    segments_.clear();
    at_ = {};
    return;
  }
  // A segment goes when the first record kept is behind it and another segment
  // is there to append to.
  const BlockPlace mark = Mark();
  size_t gone = 0;
  while (gone + 1 < segments_.size() &&
         (segments_[gone].number < mark.segment ||
          (segments_[gone].number == mark.segment &&
           mark.offset >= segments_[gone].end))) {
    retired.push_back(segments_[gone++]);
  }
  segments_.erase(segments_.begin(),
                  segments_.begin() + static_cast<std::ptrdiff_t>(gone));
}

QueueState LiveQueue::State() const {
  QueueState state;
  state.first = first_;
  state.next = next_;
  state.segments = segments_;
  state.tail_first = tail_.first();
  state.tail_begin = tail_.begin_byte();
  if (!segments_.empty()) {
    const BlockPlace mark = Mark();
    const Segment& front = segments_.front();
    if (mark.segment == front.number) {
      state.offset = mark.offset;
    } else {
      // Read to its end, but not let go of yet; or not begun.
      state.offset =
          mark.segment > front.number ? front.end : kSegmentHeadBytes;
    }
  }
  return state;
}

}  // namespace nephila::disk_queue
