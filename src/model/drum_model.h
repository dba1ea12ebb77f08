// The cost of a batched uniqueness check: thesis ch. IV, Theorems 1 to 3.
//
// Pure functions of the papers' symbols, in bytes, links and seconds; units are
// decimal, as the printed figures have them. alpha is how often each byte of
// the text of all links is read or written: omega = alpha b n. Equation numbers
// are the thesis'. No bounds are checked: arguments are positive. Threads: any.
#pragma once

#include <string_view>

namespace nephila::model {

struct DrumParameters {
  double hash_bytes = 8;           // H
  double pointer_bytes = 4;        // P
  double url_bytes = 110;          // b
  double compressed_bytes = 5.5;   // bq, of a URL in Polybot's file
  double unique_share = 1.0 / 9;   // p, of the links that arrive
  double links_per_page = 59;      // l
  double known_urls = 1e8;         // U, in URLseen at the start
  double buffer_bytes = 256'000;   // M, of one open file
  double min_bucket_bytes = 32e6;  // Delta
  double min_disk_bytes = 1e12;    // what D(n) starts from (s IV.5)
};

enum class Method { kMercatorB, kPolybot, kDrum };
std::string_view MethodName(Method method);

// Theorem 1, (1) and (2), after `links` = n at `ram_bytes` = R.
double AlphaMercatorB(const DrumParameters& parameters, double links,
                      double ram_bytes);
double AlphaPolybot(const DrumParameters& parameters, double links,
                    double ram_bytes);

// Theorem 2, (7), with `disk_bytes` = D for buckets.
double AlphaDrum(const DrumParameters& parameters, double links,
                 double ram_bytes, double disk_bytes);

// Any of them; the disk matters to DRUM alone.
double Alpha(Method method, const DrumParameters& parameters, double links,
             double ram_bytes, double disk_bytes);

// D(n) = max(pHn, 1 TB), s IV.5.
double DiskForLinks(const DrumParameters& parameters, double links);

// Lambda of (7): with R^2 below it memory is the bottleneck, else the disk.
double Lambda(const DrumParameters& parameters, double disk_bytes);

// R that Theorem 2 asks for: 2 Delta (1 + P/H).
double MinRam(const DrumParameters& parameters);

struct DrumLayout {
  bool memory_bound;    // R^2 < Lambda
  double buckets;       // k: k_0 if memory-bound, else k_1 (12)
  double bucket_bytes;  // r (8)
  double disk_bytes;    // what the buckets and their text take (9)
};
DrumLayout Layout(const DrumParameters& parameters, double ram_bytes,
                  double disk_bytes);

// k_m (10): more buckets would leave no room for r >= Delta.
double MaxBuckets(const DrumParameters& parameters, double ram_bytes);

// The right side of (13). Printed to show that it is no condition: k_1 <= k_m
// holds for every R >= MinRam(), as then 2R - 2 Delta (H + P)/H >= R.
double RamByEquation13(const DrumParameters& parameters, double disk_bytes);

// (17) and what stands below it: the disk that R can just fill, k and r there.
double OptimalDisk(const DrumParameters& parameters, double ram_bytes);
double OptimalBuckets(const DrumParameters& parameters, double ram_bytes);
double OptimalBucketBytes(const DrumParameters& parameters, double ram_bytes);

// The lower bounds: 2 + p, p, and 2 + p + 2H/b (ss IV.2, IV.4).
double AlphaBound(Method method, const DrumParameters& parameters);

// The quadratic term alone, what omega tends to: (5), (6), and that of (15) for
// DRUM at D = D_opt.
double OmegaLimit(Method method, const DrumParameters& parameters, double links,
                  double ram_bytes);

// Theorem 3, (18): pages/s at `disk_speed` = W bytes/s.
double DiskRate(const DrumParameters& parameters, double alpha,
                double disk_speed);

}  // namespace nephila::model
