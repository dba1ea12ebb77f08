// How stages use a Drum alike.
//
// In: tuples, receivers. Out: what a stage says of them. Threads: as of a Drum.
// Cost: nothing beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/metrics.h"
#include "base/result.h"
#include "drum/drum.h"
#include "item/admission.h"

namespace nephila::drum {

// Drum::Add for a stage, whose bound is the Drum's disk: where that is used up
// it refuses.
inline Result<item::Admission> AddTo(Drum& drum, const Tuple& tuple) {
  Status added = drum.Add(tuple);
  if (added.has_value()) return item::Admission::kTaken;
  if (added.error().code == ErrorCode::kBusy) return item::Admission::kFull;
  return Unexpected(std::move(added).error());
}

// A pass over all that has gathered, followed until it is delivered.
class FreshPass {
 public:
  // Begins one while passes are cheap; one that is on already counts as it.
  Status Begin(Drum& drum) {
    NEPHILA_TRY(const bool is_on, drum.FlushIfCheap());
    until_ = drum.stats().passes + (is_on ? 1 : 0);
    return {};
  }
  // Also if there was none to begin.
  bool IsOver(const Drum& drum) const { return drum.stats().passes >= until_; }

 private:
  uint64_t until_ = 0;
};

// Drum::Deliver of a Drum with unique_only: duplicates, which come to nobody,
// are dropped by `reason` and no longer held. Returns how many they were.
template <typename Reason>
Result<uint64_t> DeliverUnique(Drum& drum, Receiver& receiver,
                               size_t max_results, StageAccount& account,
                               Reason reason) {
  const DrumStats before = drum.stats();
  const auto delivered = drum.Deliver(receiver, max_results);
  // With an error too, for some may have come before it.
  const DrumStats after = drum.stats();
  const uint64_t duplicates =
      (after.results_delivered - before.results_delivered) -
      (after.uniques_delivered - before.uniques_delivered);
  account.Drop(reason, duplicates);
  account.Hold(-static_cast<int64_t>(duplicates));
  if (!delivered.has_value()) return Unexpected(delivered.error());
  return duplicates;
}

}  // namespace nephila::drum
