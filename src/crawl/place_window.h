// PlaceWindow: which places of the ready queue are done with. Places are given
// out in order and end in any order; those before `low` are all done, which is
// where the queue may forget them.
//
// In: places that were given out, that ended. Out: low; and both again from a
// manifest. Threads: one. Memory: a byte for each place from low on, and what
// is given out ends or is parked within minutes.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"

namespace nephila::crawl {

class PlaceWindow {
 public:
  uint64_t low() const { return low_; }
  uint64_t next() const { return low_ + done_.size(); }
  uint64_t open() const { return open_; }  // given out and not done

  // REQUIRES: place == next().
  void GiveOut(uint64_t place) {
    NEPHILA_CHECK(place == next());
    done_.push_back(false);
    ++open_;
  }
  // False if it is not open.
  bool End(uint64_t place) {
    if (place < low_ || place >= next() || done_[place - low_]) return false;
    done_[place - low_] = true;
    --open_;
    while (!done_.empty() && done_.front()) {
      done_.pop_front();
      ++low_;
    }
    return true;
  }

  // After a restart all that was open is given out again: only what ended
  // counts.
  void Write(ByteWriter& writer) const {
    writer.Varint(low_);
    writer.Varint(done_.size() - open_);
    uint64_t before = low_;
    for (uint64_t i = 0; i < done_.size(); ++i) {
      if (!done_[i]) continue;
      writer.Varint(low_ + i - before);
      before = low_ + i;
    }
  }
  // The places that were done above low, ascending. False if the bytes are
  // none.
  bool Read(ByteReader& reader, std::vector<uint64_t>* ended) {
    const auto low = reader.Varint();
    const auto count = reader.Varint();
    if (!low.has_value() || !count.has_value()) return false;
    low_ = *low;
    uint64_t place = low_;
    for (uint64_t i = 0; i < *count; ++i) {
      const auto step = reader.Varint();
      if (!step.has_value()) return false;
      place += *step;
      ended->push_back(place);
    }
    return true;
  }

 private:
  uint64_t low_ = 0;
  uint64_t open_ = 0;
  std::deque<bool> done_;  // from low_ on
};

}  // namespace nephila::crawl
