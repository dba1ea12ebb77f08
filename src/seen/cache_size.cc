#include "seen/cache_size.h"

#include <algorithm>

#include "drum/clock_cache.h"
#include "model/cache_model.h"

namespace nephila::seen {
namespace {

constexpr double kGridSteps = 64;
// CLOCK in sets of 8, without help from prefetching (drum/clock_cache.h).
constexpr double kLinksPerSecond = 10e6;
// Crawls begin small: what is asked for is at least this many links.
constexpr double kFewestLinks = 1e8;
// The model weighs memory against passes over the disk. Where those do not
// matter a link that goes to the store still costs fifty times as much of the
// CPU as one that is found here, and this much catches most of the links that
// the pages of a site share (docs/performance.md, "A cache in front").
constexpr uint64_t kSmallBytes = uint64_t{4} << 20;

}  // namespace

uint64_t CacheBytes(const CacheQuestion& question) {
  if (question.choice == config::SeenCache::kOff) return 0;
  if (question.choice == config::SeenCache::kOn) {
    return question.memory_bytes / 4;
  }
  const auto memory = static_cast<double>(question.memory_bytes);
  model::DrumParameters drum;
  drum.known_urls = static_cast<double>(question.known_urls);
  drum.min_bucket_bytes = std::min(drum.min_bucket_bytes, memory / 4);
  model::CacheParameters cache;
  cache.entry_bytes = drum::ClockCache::kEntryBytes;
  cache.host_delay_s = question.host_delay_s;
  cache.cache_rate = kLinksPerSecond;
  cache.disk_speed = question.disk_bytes_per_s;
  cache.grid_bytes = memory / kGridSteps;
  // The crawl goes on for as long as it has gone.
  const double links =
      std::max(kFewestLinks, drum.known_urls / drum.unique_share);
  const model::BestCache best = model::OptimalCache(
      model::Method::kDrum, drum, cache,
      model::Uniqueness::kOnlyDuplicatesLeave, links, memory);
  const uint64_t small = std::min(kSmallBytes, question.memory_bytes / 16);
  return std::clamp(static_cast<uint64_t>(best.cache_bytes), small,
                    question.memory_bytes / 2);
}

}  // namespace nephila::seen
