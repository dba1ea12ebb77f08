#include "model/drum_model.h"

#include <algorithm>
#include <cmath>

namespace nephila::model {
namespace {

// 2UH + pHn: the hashes that a pass reads and writes, summed over the passes.
double HashBytes(const DrumParameters& a, double links) {
  return a.hash_bytes * (2 * a.known_urls + a.unique_share * links);
}

// H + P: a hash in memory. H + b: a link on disk. b + 4P: Polybot's node.
double InMemory(const DrumParameters& a) {
  return a.hash_bytes + a.pointer_bytes;
}
double OnDisk(const DrumParameters& a) { return a.hash_bytes + a.url_bytes; }
double TreeNode(const DrumParameters& a) {
  return a.url_bytes + 4 * a.pointer_bytes;
}

}  // namespace

std::string_view MethodName(Method method) {
  switch (method) {
    case Method::kMercatorB:
      return "Mercator-B";
    case Method::kPolybot:
      return "Polybot";
    case Method::kDrum:
      break;
  }
  return "DRUM";
}

double AlphaMercatorB(const DrumParameters& parameters, double links,
                      double ram_bytes) {
  const DrumParameters& a = parameters;
  return 2 * HashBytes(a, links) * InMemory(a) / (a.url_bytes * ram_bytes) +
         AlphaBound(Method::kMercatorB, a);
}

double AlphaPolybot(const DrumParameters& parameters, double links,
                    double ram_bytes) {
  const DrumParameters& a = parameters;
  double file =
      a.compressed_bytes * (2 * a.known_urls + a.unique_share * links);
  return 2 * file * TreeNode(a) / (a.url_bytes * ram_bytes) +
         AlphaBound(Method::kPolybot, a);
}

double AlphaDrum(const DrumParameters& parameters, double links,
                 double ram_bytes, double disk_bytes) {
  const DrumParameters& a = parameters;
  double per_byte = OnDisk(a) / disk_bytes;
  if (ram_bytes * ram_bytes < Lambda(a, disk_bytes)) {
    per_byte = 8 * a.buffer_bytes * InMemory(a) / (ram_bytes * ram_bytes);
  }
  return per_byte * HashBytes(a, links) / a.url_bytes +
         AlphaBound(Method::kDrum, a);
}

double Alpha(Method method, const DrumParameters& parameters, double links,
             double ram_bytes, double disk_bytes) {
  switch (method) {
    case Method::kMercatorB:
      return AlphaMercatorB(parameters, links, ram_bytes);
    case Method::kPolybot:
      return AlphaPolybot(parameters, links, ram_bytes);
    case Method::kDrum:
      break;
  }
  return AlphaDrum(parameters, links, ram_bytes, disk_bytes);
}

double DiskForLinks(const DrumParameters& parameters, double links) {
  return std::max(parameters.unique_share * parameters.hash_bytes * links,
                  parameters.min_disk_bytes);
}

double Lambda(const DrumParameters& parameters, double disk_bytes) {
  return 8 * parameters.buffer_bytes * disk_bytes * InMemory(parameters) /
         OnDisk(parameters);
}

double MinRam(const DrumParameters& parameters) {
  return 2 * parameters.min_bucket_bytes *
         (1 + parameters.pointer_bytes / parameters.hash_bytes);
}

DrumLayout Layout(const DrumParameters& parameters, double ram_bytes,
                  double disk_bytes) {
  const DrumParameters& a = parameters;
  double spare = ram_bytes * ram_bytes - Lambda(a, disk_bytes);
  DrumLayout layout{};
  layout.memory_bound = spare < 0;
  // 8MA of (12) is Lambda.
  double root = layout.memory_bound ? 0 : std::sqrt(spare);
  layout.buckets = (ram_bytes - root) / (4 * a.buffer_bytes);
  layout.bucket_bytes = (ram_bytes - 2 * a.buffer_bytes * layout.buckets) *
                        a.hash_bytes / InMemory(a);
  layout.disk_bytes =
      layout.buckets * layout.bucket_bytes * OnDisk(a) / a.hash_bytes;
  return layout;
}

double MaxBuckets(const DrumParameters& parameters, double ram_bytes) {
  const DrumParameters& a = parameters;
  return (ram_bytes - a.min_bucket_bytes * InMemory(a) / a.hash_bytes) /
         (2 * a.buffer_bytes);
}

double RamByEquation13(const DrumParameters& parameters, double disk_bytes) {
  const DrumParameters& a = parameters;
  double bucket = a.min_bucket_bytes * InMemory(a) / a.hash_bytes;
  double a_bytes = InMemory(a) * disk_bytes / OnDisk(a);
  return bucket + 2 * a.buffer_bytes * a_bytes / bucket;
}

double OptimalDisk(const DrumParameters& parameters, double ram_bytes) {
  return ram_bytes * ram_bytes * OnDisk(parameters) /
         (8 * parameters.buffer_bytes * InMemory(parameters));
}

double OptimalBuckets(const DrumParameters& parameters, double ram_bytes) {
  return ram_bytes / (4 * parameters.buffer_bytes);
}

double OptimalBucketBytes(const DrumParameters& parameters, double ram_bytes) {
  return ram_bytes * parameters.hash_bytes / (2 * InMemory(parameters));
}

double AlphaBound(Method method, const DrumParameters& parameters) {
  double p = parameters.unique_share;
  switch (method) {
    case Method::kMercatorB:
      return 2 + p;
    case Method::kPolybot:
      return p;
    case Method::kDrum:
      break;
  }
  return 2 + p + 2 * parameters.hash_bytes / parameters.url_bytes;
}

double OmegaLimit(Method method, const DrumParameters& parameters, double links,
                  double ram_bytes) {
  const DrumParameters& a = parameters;
  double unique_links_squared = a.unique_share * links * links;
  double mercator = 2 * InMemory(a) * a.hash_bytes / ram_bytes;
  switch (method) {
    case Method::kMercatorB:
      return mercator * unique_links_squared;
    case Method::kPolybot:
      return 2 * TreeNode(a) * a.compressed_bytes / ram_bytes *
             unique_links_squared;
    case Method::kDrum:
      break;
  }
  return mercator / OptimalBuckets(a, ram_bytes) * unique_links_squared;
}

double DiskRate(const DrumParameters& parameters, double alpha,
                double disk_speed) {
  return disk_speed /
         (alpha * parameters.url_bytes * parameters.links_per_page);
}

}  // namespace nephila::model
