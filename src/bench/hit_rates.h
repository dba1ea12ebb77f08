// nephila-bench drum --hit-rates: table IV of the thesis, on our stream.
//
// What a cache of recent links before the store would catch, for sizes from
// 2^12 entries on, beside the most that any could: 1 - p. And whether one pays
// (docs/drum-model.md, S6 and S7) if its memory is taken from the store's. The
// links it lets pass are taken to compress as well as all do. As repeats
// compress best, the verdict is in the cache's favour: "no" is sure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "bench/bench_drum.h"
#include "bench/link_stream.h"

namespace nephila::bench {

inline constexpr uint64_t kHitRateLinks = 20'000'000;

// How many distinct keys there were, in fixed memory: exact up to `most`, from
// there on of a share of the keys, which halves whenever there are too many.
// At two million kept the error is about 0.05 %. Takes up to 200 MB.
class DistinctKeys {
 public:
  explicit DistinctKeys(size_t most = size_t{1} << 22) : most_(most) {}
  void Add(uint64_t key);
  double count() const;

 private:
  bool IsKept(uint64_t key) const;

  const size_t most_;
  int shift_ = 0;  // keys with so many zeros at the low end are kept
  std::unordered_set<uint64_t> kept_;
};

struct HitRate {
  size_t entries = 0;
  size_t bytes = 0;
  double hit_rate = 0;
  double ns_per_link = 0;  // of the cache alone, prefetching
};
struct HitRates {
  double unique_share = 0;  // p, as counted
  std::vector<HitRate> caches;
};

// Of one walk over `links` links. Caches as large as all of `entries`, at once.
Result<HitRates> MeasureHitRates(LinkSource* source, uint64_t links,
                                 const std::vector<size_t>& entries);

// Sizes of 2^12 up to 2^24, as long as half of the memory is left to the store.
Status RunHitRates(const BenchDrumOptions& options, std::ostream& out);

}  // namespace nephila::bench
