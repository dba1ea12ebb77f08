#include "model/store_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nephila::model {
namespace {

constexpr double kKeyBits = 64;
// The quotient of a Rice code ends in a one and is half a bit long on average.
constexpr double kRiceBits = 1.5;
constexpr double kPageBytes = 4096;
constexpr double kBlockHeaderBytes = 12;

double RunBytes(double keys) { return keys * RiceBytesPerKey(keys); }

// What passes do to the runs of Z. Bytes are kept as a sum, for there can be
// thousands of runs.
class Tiers {
 public:
  Tiers(std::vector<double> runs, double growth)
      : runs_(std::move(runs)), growth_(growth) {
    for (double keys : runs_) bytes_ += RunBytes(keys);
  }

  double bytes() const { return bytes_; }
  size_t count() const { return runs_.size(); }
  std::vector<double> Release() { return std::move(runs_); }

  // Adds a run, merged with the newest older ones while the next is not too
  // large; the bytes written.
  double Add(double keys) {
    while (!runs_.empty() && runs_.back() <= growth_ * keys) {
      bytes_ -= RunBytes(runs_.back());
      keys += runs_.back();
      runs_.pop_back();
    }
    // Without this the rounding of many subtractions would be what is left.
    if (runs_.empty()) bytes_ = 0;
    runs_.push_back(keys);
    const double written = RunBytes(keys);
    bytes_ += written;
    return written;
  }

 private:
  std::vector<double> runs_;
  const double growth_;
  double bytes_ = 0;
};

double NewKeysPerPass(const StoreParameters& parameters) {
  return parameters.unique_share * LinksPerPass(parameters);
}

}  // namespace

double RiceBytesPerKey(double keys) {
  const double bits = kKeyBits - std::log2(std::max(keys, 1.0)) + kRiceBits;
  return std::max(bits, kRiceBits) / 8;
}

double KeyRecordBytes(double buckets) { return buckets >= 256 ? 7 : 8; }

double LogBytesPerLink(const StoreParameters& parameters) {
  const double links_in_block =
      parameters.log_block_bytes / parameters.link_bytes;
  return parameters.link_bytes / parameters.text_ratio +
         (kPageBytes / 2 + kBlockHeaderBytes) / links_in_block;
}

double LinksPerPass(const StoreParameters& parameters) {
  const double on_disk =
      parameters.disk_bytes / 2 /
      (parameters.key_record_bytes + LogBytesPerLink(parameters));
  const double in_bucket = parameters.ram_bytes / 4 / parameters.sort_bytes;
  return std::min(on_disk, parameters.buckets * in_bucket);
}

std::vector<double> GrownRuns(const StoreParameters& parameters) {
  const double keys = NewKeysPerPass(parameters);
  const double passes = std::min(std::floor(parameters.known_keys / keys),
                                 static_cast<double>(kMaxPasses));
  Tiers tiers({}, parameters.tier_growth);
  const double rest = parameters.known_keys - passes * keys;
  if (rest > 0) tiers.Add(rest);
  for (double i = 0; i < passes; ++i) tiers.Add(keys);
  return tiers.Release();
}

uint64_t DoublingPasses(const StoreParameters& parameters) {
  const double passes =
      std::ceil(parameters.known_keys / NewKeysPerPass(parameters));
  return static_cast<uint64_t>(
      std::clamp(passes, 1.0, static_cast<double>(kMaxPasses)));
}

StoreAlpha AlphaStore(const StoreParameters& parameters,
                      std::vector<double> runs, uint64_t passes) {
  const double b = parameters.link_bytes;
  StoreAlpha result;
  Tiers tiers(std::move(runs), parameters.tier_growth);
  double read = 0;
  double written = 0;
  for (uint64_t i = 0; i < passes; ++i) {
    result.mean_runs += static_cast<double>(tiers.count());
    read += tiers.bytes();
    written += tiers.Add(NewKeysPerPass(parameters));
    result.most_runs =
        std::max(result.most_runs, static_cast<double>(tiers.count()));
  }
  const auto count = static_cast<double>(passes);
  const double text = b * LinksPerPass(parameters) * count;
  result.mean_runs /= count;
  result.log = 2 * LogBytesPerLink(parameters) / b;
  result.buckets = 2 * parameters.key_record_bytes / b;
  result.z_read = read / text;
  result.z_written = written / text;
  result.unique_text = parameters.unique_share;
  result.runs = tiers.Release();
  return result;
}

StoreAlpha AlphaStore(const StoreParameters& parameters) {
  return AlphaStore(parameters, GrownRuns(parameters),
                    DoublingPasses(parameters));
}

double AlphaPaper(const StoreParameters& parameters, uint64_t passes) {
  DrumParameters paper;
  paper.url_bytes = parameters.link_bytes;
  paper.unique_share = parameters.unique_share;
  paper.known_urls = parameters.known_keys;
  const double links = LinksPerPass(parameters) * static_cast<double>(passes);
  return AlphaDrum(paper, links, parameters.ram_bytes, parameters.disk_bytes);
}

LinkTime TimeWithCodec(const CodecCosts& codec,
                       const StoreParameters& parameters,
                       const Machine& machine, double* alpha) {
  StoreParameters with = parameters;
  with.text_ratio = codec.ratio;
  const double store_alpha = AlphaStore(with).alpha();
  if (alpha != nullptr) *alpha = store_alpha;
  const double b = parameters.link_bytes;
  return {.cpu_ns = b * codec.ns_per_byte / machine.cores,
          .disk_ns = 1e9 * b * store_alpha /
                     (machine.disk_bytes_per_s * machine.disk_share)};
}

size_t ChooseCodec(const std::array<CodecCosts, kCodecChoices>& codecs,
                   const StoreParameters& parameters, const Machine& machine) {
  size_t best = 0;
  std::pair<double, double> least = {0, 0};
  for (size_t i = 0; i < codecs.size(); ++i) {
    double alpha = 0;
    const double ns =
        TimeWithCodec(codecs[i], parameters, machine, &alpha).ns();
    const std::pair<double, double> cost(ns, alpha);
    if (i > 0 && cost >= least) continue;
    best = i;
    least = cost;
  }
  return best;
}

double LinkNsWithoutCache(const CacheCosts& costs) {
  const double cpu = costs.other_cpu_ns + costs.without.cpu_ns;
  return std::max(cpu / costs.cores, costs.without.disk_ns);
}

double LinkNsWithCache(const CacheCosts& costs) {
  const double cpu =
      costs.other_cpu_ns + costs.cache_ns + costs.miss_rate * costs.with.cpu_ns;
  return std::max(cpu / costs.cores, costs.miss_rate * costs.with.disk_ns);
}

bool CachePays(const CacheCosts& costs) {
  return LinkNsWithCache(costs) < LinkNsWithoutCache(costs);
}

StoreParameters BehindCache(const StoreParameters& parameters,
                            double miss_rate) {
  StoreParameters behind = parameters;
  behind.unique_share /= std::max(miss_rate, parameters.unique_share);
  return behind;
}

}  // namespace nephila::model
