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
      segments_(state.segments.begin(), state.segments.end()),
      tail_(state.tail_first, state.tail_begin, std::move(state.tail)) {
  if (!segments_.empty()) at_ = {segments_.front().number, state.offset};
  Committed();
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
  const auto later = std::upper_bound(
      segments_.begin(), segments_.end(), at_.segment,
      [](uint64_t number, const Segment& s) { return number < s.number; });
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

uint64_t LiveQueue::FirstOffset() const {
  if (segments_.empty()) return 0;
  const BlockPlace mark = Mark();
  const Segment& front = segments_.front();
  if (mark.segment == front.number) return mark.offset;
  // Read to its end, but not let go of yet; or not begun.
  return mark.segment > front.number ? front.end : kSegmentHeadBytes;
}

QueueState LiveQueue::State() const {
  QueueState state;
  state.first = first_;
  state.next = next_;
  state.segments.assign(segments_.begin(), segments_.end());
  state.offset = FirstOffset();
  state.tail_first = tail_.first();
  state.tail_begin = tail_.begin_byte();
  state.tail = tail_.kept();
  return state;
}

QueueUpdate LiveQueue::Update(bool whole) const {
  QueueUpdate update;
  update.first = first_;
  update.next = next_;
  if (!segments_.empty()) update.oldest = segments_.front().number;
  const uint64_t from = whole ? 0 : committed_last_.number;
  auto from_here = std::lower_bound(
      segments_.begin(), segments_.end(), from,
      [](const Segment& s, uint64_t number) { return s.number < number; });
  if (!whole && from_here != segments_.end() && *from_here == committed_last_) {
    ++from_here;
  }
  update.segments.assign(from_here, segments_.end());
  update.offset = FirstOffset();
  update.tail_first = tail_.first();
  update.tail_begin = tail_.begin_byte();
  update.tail_from =
      whole ? tail_.begin_byte() : std::max(committed_end_, tail_.begin_byte());
  update.tail = tail_.kept().substr(update.tail_from - tail_.begin_byte());
  return update;
}

void LiveQueue::Committed() {
  committed_end_ = tail_.end_byte();
  committed_last_ = segments_.empty() ? Segment() : segments_.back();
}

}  // namespace nephila::disk_queue
