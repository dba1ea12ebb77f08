// CacheBytes: how much of the memory a cache of recent links should have.
//
// In: what the stage may use and what it knows. Out: bytes for a ClockCache,
// 0 for none. `auto` asks the model of thesis ch. V (model/cache_model.h) with
// the figures of this store: 8 bytes an entry instead of 20, buckets that
// shrink with the memory (drum/plan.h), and a cache that takes away nothing but
// duplicates. At small sizes of the crawl the disk is no bottleneck, the rate
// without a cache is as good, and the model says none.
// Threads: any. Cost: a millisecond.
#pragma once

#include <cstdint>

#include "config/settings.h"

namespace nephila::seen {

struct CacheQuestion {
  config::SeenCache choice = config::SeenCache::kAuto;
  uint64_t memory_bytes = 0;  // of the whole stage
  uint64_t known_urls = 0;
  double host_delay_s = 40;
  double disk_bytes_per_s = 100e6;  // that this stage may have
};

uint64_t CacheBytes(const CacheQuestion& question);

}  // namespace nephila::seen
