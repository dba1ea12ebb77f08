// DegreeHistogram: how many domains have which in-degree, in fixed memory.
//
// It is all that a budget by rank needs: the rank of an in-degree is the number
// of domains that have at least as much. In-degrees below 256 are counted one
// by one, larger ones in 64 steps for each doubling: so ranks are exact for the
// many, and for the few above an in-degree is known to within 1.6 %, where the
// K-th largest of a large crawl lies. Every change of an in-degree moves one
// domain, exactly: no sampling, no decay, and histograms of several machines
// add up.
//
// In: in-degrees before and after. Out: ranks, points of a budget function,
// bytes. Threads: one. Cost: an addition a change; 30 KB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "item/budget_function.h"

namespace nephila::reputation {

class DegreeHistogram {
 public:
  // A domain's in-degree is now `after` > `before`; 0 is not counted.
  void Move(uint64_t before, uint64_t after);
  void Merge(const DegreeHistogram& other);

  // Domains with an in-degree of 1 or more.
  uint64_t domains() const { return domains_; }
  // How many of them have at least this in-degree; rounded to its step.
  uint64_t RankOf(uint64_t in_degree) const;

  // What `best` domains get above `base`: the budget falls linearly with the
  // rank, from `most` for rank 1 to `base` for rank `best`. Domains of equal
  // in-degree have the last of their ranks, so that never more than `best`
  // domains are raised, however many are tied. Ascending.
  std::vector<item::BudgetPoint> Interpolate(uint64_t best, uint32_t base,
                                             uint32_t most) const;

  void Write(ByteWriter& writer) const;
  // False if the bytes are none; then it is as before.
  bool Read(ByteReader& reader);

  bool operator==(const DegreeHistogram&) const = default;

 private:
  static constexpr size_t kExact = 256;
  static constexpr size_t kStepBits = 6;
  static constexpr size_t kSteps = size_t{1} << kStepBits;
  static constexpr size_t kBuckets = kExact + (64 - 8) * kSteps;

  static size_t BucketOf(uint64_t in_degree);
  // The smallest in-degree of a bucket.
  static uint64_t FirstOf(size_t bucket);

  std::array<uint64_t, kBuckets> counts_{};
  uint64_t domains_ = 0;
};

}  // namespace nephila::reputation
