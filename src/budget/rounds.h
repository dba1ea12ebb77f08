// Rounds: where BEAST stands, as numbers: which queue is read, how many there
// are, when Q_F is split and the queues double. No disk, no time.
//
// Queues are numbered for ever, from 1. A round is j of them. Reading queue c
// the window is c+1 .. c+j-1. At the end of a round Q_F is split over the j
// queues behind the window, while the window is read; then j doubles, if there
// is room, and the round that began behind c has 2j queues. With nothing in Q_F
// there is no split and the next round is as long as the last.
//
// What keeps URLs from a queue that was passed already: a pass of the Drum that
// was begun at c gives queues from c+1 on, so c may be one further when it is
// delivered, not more; and a split is over before its first queue is read.
//
// In: what happened. Out: what may be done. Threads: one. Cost: nothing.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bytes.h"
#include "budget/assignment.h"

namespace nephila::budget {

class Rounds {
 public:
  // REQUIRES: first_queues > 0.
  explicit Rounds(uint64_t first_queues)
      : queues_(first_queues), round_end_(first_queues) {}

  uint64_t current() const { return current_; }  // c
  uint64_t queues() const { return queues_; }    // j
  uint64_t splits() const { return splits_; }
  Window window() const { return {current_ + 1, current_ + queues_ - 1}; }

  // Splits of Q_F.
  bool is_splitting() const { return splitting_; }
  Window split() const { return splitting_ ? split_ : Window(); }
  // The version of Q_F that takes URLs, and the one that is being split.
  uint64_t failed_version() const { return failed_version_; }
  uint64_t split_version() const { return failed_version_ - 1; }
  bool AtRoundEnd() const { return current_ == round_end_ && !splitting_; }
  // REQUIRES: AtRoundEnd(), Q_F has URLs.
  void BeginSplit(uint64_t max_queues);
  // URLs of Q_F that wait for their queue in the Drum.
  void SplitAdded() { ++split_left_; }
  void SplitDelivered() { --split_left_; }
  uint64_t split_left() const { return split_left_; }
  // REQUIRES: is_splitting(), Q_F is read, split_left() == 0.
  void EndSplit();

  // A pass that was begun at `begun_at`, if one is on, lets c go on.
  static bool MayPass(uint64_t current, bool pass_is_on, uint64_t begun_at) {
    return !pass_is_on || begun_at >= current;
  }
  // A split does.
  bool SplitLetsPass() const {
    return !splitting_ || current_ + 1 < split_.first;
  }
  // REQUIRES: all of them do; at the end of a round Q_F is empty.
  void Advance();

  void Write(ByteWriter& writer) const;
  // False if the bytes are none.
  bool Read(ByteReader& reader);

 private:
  uint64_t current_ = 1;
  uint64_t queues_;
  uint64_t round_end_;  // the last queue of the round
  uint64_t failed_version_ = 0;
  uint64_t splits_ = 0;
  bool splitting_ = false;
  Window split_;
  uint64_t split_left_ = 0;
  uint64_t next_queues_ = 0;  // j once the split is over
};

}  // namespace nephila::budget
