#include "model/cache_model.h"

#include <algorithm>
#include <array>
#include <limits>

namespace nephila::model {
namespace {

// pi from `multiple` working sets on (s V.3, after table IV).
struct MissStep {
  double multiple;
  double miss_rate;
};

constexpr double kMissBelowWorkingSet = 0.84;

// A finer grid changes no digit that is printed.
constexpr double kMaxGridSteps = 10'000;

std::array<MissStep, 3> MissSteps(const CacheParameters& cache) {
  return {{{10, 0.22}, {cache.second_step, 0.26}, {1, 0.38}}};
}

// What the cache lets pass at least: the unique links, if only duplicates
// leave.
double LimitMissRate(const DrumParameters& drum, Uniqueness uniqueness,
                     double miss_rate) {
  if (uniqueness == Uniqueness::kAsInThesis) return miss_rate;
  return std::max(miss_rate, drum.unique_share);
}

// gamma tau_h l, so that times S it is the working set in bytes.
double WorkingSetPerRate(const DrumParameters& drum,
                         const CacheParameters& cache) {
  return cache.entry_bytes * cache.host_delay_s * drum.links_per_page;
}

// The best c on the grid, with the rate at c limited by limit(c).
template <typename Limit>
BestCache Search(Method method, const DrumParameters& drum,
                 const CacheParameters& cache, Uniqueness uniqueness,
                 double links, double ram_bytes, Limit limit) {
  BestCache best{0, 0};
  double grid = std::max(cache.grid_bytes, ram_bytes / kMaxGridSteps);
  auto steps = static_cast<int>(ram_bytes / grid);
  for (int i = 0; i <= steps; ++i) {
    double c = i * grid;
    double rate = std::min(limit(c), HybridRate(method, drum, cache, uniqueness,
                                                links, ram_bytes, c));
    if (rate > best.pages_per_s) best = {c, rate};
  }
  return best;
}

}  // namespace

double CacheRate(double cache_rate, double links_per_page, double max_rate,
                 const std::function<double(double)>& phi) {
  double low = 0;
  double high = max_rate;
  for (int i = 0; i < 200; ++i) {
    double middle = (low + high) / 2;
    bool fits = links_per_page * middle <= cache_rate * (1 - phi(middle));
    (fits ? low : high) = middle;
  }
  return low;
}

double CacheRate(double cache_rate, double links_per_page, double max_rate) {
  return cache_rate * max_rate / (links_per_page * max_rate + cache_rate);
}

double MissRate(const DrumParameters& drum, const CacheParameters& cache,
                double cache_bytes, double pages_per_s) {
  if (cache_bytes == 0) return 1;
  double working_set = WorkingSetPerRate(drum, cache) * pages_per_s;
  for (const MissStep& step : MissSteps(cache)) {
    if (cache_bytes >= step.multiple * working_set) return step.miss_rate;
  }
  return kMissBelowWorkingSet;
}

double CachedAlpha(Method method, const DrumParameters& drum,
                   Uniqueness uniqueness, double links, double ram_bytes,
                   double cache_bytes, double miss_rate) {
  DrumParameters behind = drum;
  miss_rate = LimitMissRate(drum, uniqueness, miss_rate);
  if (uniqueness == Uniqueness::kOnlyDuplicatesLeave) {
    behind.unique_share /= miss_rate;
  }
  double passed = miss_rate * links;
  return Alpha(method, behind, passed, ram_bytes - cache_bytes,
               DiskForLinks(behind, passed));
}

double HybridRate(Method method, const DrumParameters& drum,
                  const CacheParameters& cache, Uniqueness uniqueness,
                  double links, double ram_bytes, double cache_bytes) {
  if (cache_bytes >= ram_bytes) return 0;
  auto rate_at = [&](double miss_rate) {
    miss_rate = LimitMissRate(drum, uniqueness, miss_rate);
    double alpha = CachedAlpha(method, drum, uniqueness, links, ram_bytes,
                               cache_bytes, miss_rate);
    return DiskRate(drum, alpha * miss_rate, cache.disk_speed);
  };
  if (cache_bytes == 0) return rate_at(1);
  // pi is a step function of S, so h is inverted step by step: each miss rate
  // holds up to the S at which the cache no longer has its multiple.
  double best = rate_at(kMissBelowWorkingSet);
  for (const MissStep& step : MissSteps(cache)) {
    double holds_to =
        cache_bytes / (step.multiple * WorkingSetPerRate(drum, cache));
    best = std::max(best, std::min(rate_at(step.miss_rate), holds_to));
  }
  return best;
}

BestCache BestHybrid(Method method, const DrumParameters& drum,
                     const CacheParameters& cache, Uniqueness uniqueness,
                     double links, double ram_bytes) {
  return Search(method, drum, cache, uniqueness, links, ram_bytes,
                [](double) { return std::numeric_limits<double>::max(); });
}

BestCache OptimalCache(Method method, const DrumParameters& drum,
                       const CacheParameters& cache, Uniqueness uniqueness,
                       double links, double ram_bytes) {
  double with_cache =
      CacheRate(cache.cache_rate, drum.links_per_page, cache.max_rate);
  return Search(method, drum, cache, uniqueness, links, ram_bytes,
                [&](double c) { return c == 0 ? cache.max_rate : with_cache; });
}

}  // namespace nephila::model
