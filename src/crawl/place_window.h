// PlaceWindow: which places of the ready queue are done with. Places are given
// out in order and end in any order; those before `low` are all done, which is
// where the queue may forget them.
//
// In: places that were given out, that ended. Out: low; and both again from a
// manifest. Threads: one. Memory, and bytes of a manifest: those of the places
// that are open, however long the oldest of them has been.
#pragma once

#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"

namespace nephila::crawl {

class PlaceWindow {
 public:
  uint64_t low() const { return open_.empty() ? next_ : *open_.begin(); }
  uint64_t next() const { return next_; }
  uint64_t open() const { return open_.size(); }  // given out and not done

  // Returns whether it ended before the restart: then it is not open.
  // REQUIRES: place == next().
  bool GiveOut(uint64_t place) {
    NEPHILA_CHECK(place == next_);
    ++next_;
    if (EndedBefore(place)) return true;
    if (place < restored_until_) restored_open_.erase(place);
    open_.insert(open_.end(), place);
    return false;
  }
  // False if it is not open.
  bool End(uint64_t place) { return open_.erase(place) > 0; }

  // Whether it ended before the restart and was not given out again since.
  bool EndedBefore(uint64_t place) const {
    return place < restored_until_ && place >= restored_low_ &&
           !restored_open_.contains(place);
  }
  // How many places that are not given out ended before the restart.
  uint64_t EndedAhead() const {
    if (next_ >= restored_until_) return 0;
    return restored_until_ - next_ - restored_open_.size();
  }

  // After a restart all that was open is given out again: only what ended
  // counts.
  void Write(ByteWriter& writer) const {
    const uint64_t from = low();
    const uint64_t until = next_ < restored_until_ ? restored_until_ : next_;
    writer.Varint(from);
    writer.Varint(until - from);
    writer.Varint(open_.size() + restored_open_.size());
    uint64_t before = from;
    for (const std::set<uint64_t>* places : {&open_, &restored_open_}) {
      for (const uint64_t place : *places) {
        writer.Varint(place - before);
        before = place;
      }
    }
  }
  // False if the bytes are none. REQUIRES: it is new.
  bool Read(ByteReader& reader) {
    const auto low = reader.Varint();
    const auto size = reader.Varint();
    const auto count = reader.Varint();
    if (!low.has_value() || !size.has_value() || !count.has_value()) {
      return false;
    }
    next_ = restored_low_ = *low;
    restored_until_ = *low + *size;
    uint64_t place = *low;
    for (uint64_t i = 0; i < *count; ++i) {
      const auto step = reader.Varint();
      if (!step.has_value()) return false;
      place += *step;
      if (place >= restored_until_) return false;
      restored_open_.insert(restored_open_.end(), place);
    }
    return true;
  }
  // As version 3 of the frontier's state has it: the places above `low` that
  // ended, in two lists.
  bool ReadEnded(ByteReader& reader) {
    const auto low = reader.Varint();
    if (!low.has_value()) return false;
    next_ = restored_low_ = restored_until_ = *low;
    std::set<uint64_t> ended;
    for (const bool is_relative : {true, false}) {
      const auto count = reader.Varint();
      if (!count.has_value()) return false;
      uint64_t place = *low;
      for (uint64_t i = 0; i < *count; ++i) {
        const auto read = reader.Varint();
        if (!read.has_value()) return false;
        place = is_relative ? place + *read : *read;
        if (place < *low || !ended.insert(place).second) continue;
        // A manifest is not longer than its places are far away.
        if (place - *low > kMostRestored) return false;
        if (place >= restored_until_) restored_until_ = place + 1;
      }
    }
    for (uint64_t place = *low; place < restored_until_; ++place) {
      if (!ended.contains(place)) {
        restored_open_.insert(restored_open_.end(), place);
      }
    }
    return true;
  }

 private:
  static constexpr uint64_t kMostRestored = uint64_t{1} << 28;

  uint64_t next_ = 0;
  std::set<uint64_t> open_;
  // Of the manifest: places from low to until are open or have ended.
  uint64_t restored_low_ = 0;
  uint64_t restored_until_ = 0;
  std::set<uint64_t> restored_open_;  // not given out again yet
};

}  // namespace nephila::crawl
