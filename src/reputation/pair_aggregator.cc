#include "reputation/pair_aggregator.h"

#include <bit>

#include "base/check.h"

namespace nephila::reputation {

PairAggregator::PairAggregator(size_t max_pairs)
    : max_pairs_(max_pairs), slots_(std::bit_ceil(2 * max_pairs)) {
  NEPHILA_CHECK(max_pairs > 0 && max_pairs < UINT32_MAX);
}

// The slot of the pair, or the empty one where it belongs.
size_t PairAggregator::SlotOf(const DomainPair& pair) const {
  // Both keys are hashes by a secret seed already.
  uint64_t hash = pair.from.value * 0x9E3779B97F4A7C15 ^ pair.to.value;
  hash ^= hash >> 32;
  size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] != 0 && pairs_[slots_[slot] - 1] != pair) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

bool PairAggregator::Add(url::PldKey from, url::PldKey to) {
  if (from == to) return true;
  const DomainPair pair{from, to};
  const size_t slot = SlotOf(pair);
  if (slots_[slot] != 0) return true;
  if (pairs_.size() >= max_pairs_) return false;
  pairs_.push_back(pair);
  slots_[slot] = static_cast<uint32_t>(pairs_.size());
  return true;
}

size_t PairAggregator::Merge(std::span<const DomainPair> pairs) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (!Add(pairs[i].from, pairs[i].to)) return i;
  }
  return pairs.size();
}

void PairAggregator::Clear() {
  pairs_.clear();
  slots_.assign(slots_.size(), 0);
}

}  // namespace nephila::reputation
