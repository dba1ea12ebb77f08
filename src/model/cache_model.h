// A cache of recent links before the disk: thesis ch. V, Theorems 4 and 5.
//
// The thesis sends pi n links to the disk and keeps p as it was. But a cache
// removes only duplicates: of the links that pass, p / pi are unique, and pn of
// them in all, as before. `Uniqueness` chooses; both are printed side by side.
// pi is then at least p. Pure functions, decimal units; c < R. Threads: any.
#pragma once

#include <functional>

#include "model/drum_model.h"

namespace nephila::model {

struct CacheParameters {
  double entry_bytes = 20;       // gamma, of CLOCK
  double host_delay_s = 40;      // tau_h
  double max_rate = 4000;        // S_max, pages/s at which the CPU is full
  double cache_rate = 2e6;       // mu(c), links/s of CLOCK
  double disk_speed = 101.25e6;  // W, bytes/s: 15 % of 675 MB/s
  double grid_bytes = 50e6;  // the step of c in max over c; R / 10 000 at least
  // pi(c, S) from table IV: 1 without a cache, 0.84 below one working set
  // gamma tau_h l S, then 0.38, 0.26 and 0.22, with a step at 1, at
  // `second_step` and at 10 of them. The thesis says 4 for the second, its
  // table VII comes out with 2.
  double second_step = 2;
};

enum class Uniqueness { kAsInThesis, kOnlyDuplicatesLeave };

// Theorem 4, (19), by bisection in [0, max_rate]; phi is the CPU share that
// crawling at a rate takes, non-decreasing, and 1 at max_rate.
double CacheRate(double cache_rate, double links_per_page, double max_rate,
                 const std::function<double(double)>& phi);

// (21): the same for phi = S / S_max.
double CacheRate(double cache_rate, double links_per_page, double max_rate);

// pi(c, S), s V.3.
double MissRate(const DrumParameters& drum, const CacheParameters& cache,
                double cache_bytes, double pages_per_s);

// alpha(pi n, R - c), with D(pi n).
double CachedAlpha(Method method, const DrumParameters& drum,
                   Uniqueness uniqueness, double links, double ram_bytes,
                   double cache_bytes, double miss_rate);

// Theorem 5, (22), for the pi(c, S) above: the highest S with h(S) <= W / bl.
// 0 if the cache leaves no memory.
double HybridRate(Method method, const DrumParameters& drum,
                  const CacheParameters& cache, Uniqueness uniqueness,
                  double links, double ram_bytes, double cache_bytes);

struct BestCache {
  double cache_bytes;
  double pages_per_s;
};

// max over c of (22), on the grid (table VII).
BestCache BestHybrid(Method method, const DrumParameters& drum,
                     const CacheParameters& cache, Uniqueness uniqueness,
                     double links, double ram_bytes);

// c_opt and S_opt of (24), on the grid; mu(0) is infinite, so without a cache
// the CPU allows S_max. The cache pays if cache_bytes > 0.
BestCache OptimalCache(Method method, const DrumParameters& drum,
                       const CacheParameters& cache, Uniqueness uniqueness,
                       double links, double ram_bytes);

}  // namespace nephila::model
