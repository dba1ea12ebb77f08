// PairAggregator: the distinct links between domains of some pages.
//
// A page links to the same few domains again and again, and a crawl thread
// sees many pages of a domain: what it hands to `reputation` are pairs, each
// once, in the order in which they were first seen.
//
// In: pairs of domains. Out: those that differ from each other and whose
// domains differ, up to a bound. Threads: one; crawl threads have one each, and
// merge them. Cost: a probe of a table a link; 24 bytes a pair of the bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "url/keys.h"

namespace nephila::reputation {

struct DomainPair {
  url::PldKey from;
  url::PldKey to;
  bool operator==(const DomainPair&) const = default;
};

class PairAggregator {
 public:
  // REQUIRES: max_pairs > 0.
  explicit PairAggregator(size_t max_pairs);

  // False if there is no room for a pair that is new; then hand on pairs() and
  // Clear. A link inside a domain is nobody's vote, and always taken.
  bool Add(url::PldKey from, url::PldKey to);
  // Takes pairs until one has no room; returns how many it took.
  size_t Merge(std::span<const DomainPair> pairs);

  std::span<const DomainPair> pairs() const { return pairs_; }
  void Clear();

 private:
  size_t SlotOf(const DomainPair& pair) const;

  const size_t max_pairs_;
  std::vector<DomainPair> pairs_;
  std::vector<uint32_t> slots_;  // a power of two; index of a pair + 1, or 0
};

}  // namespace nephila::reputation
