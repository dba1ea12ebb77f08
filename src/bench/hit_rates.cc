#include "bench/hit_rates.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "bench/drum_prediction.h"
#include "bench/link_source.h"
#include "drum/clock_cache.h"
#include "model/store_model.h"

namespace nephila::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A turn of each cache: so many that looking at the clock costs nothing, and so
// few that the keys stay in the CPU's caches.
constexpr size_t kKeysPerTurn = size_t{1} << 14;
constexpr size_t kKeysAhead = 10;  // as clock_cache.h advises
constexpr size_t kLeastBits = 12;
constexpr size_t kMostBits = 24;

struct Probe {
  explicit Probe(size_t entries)
      : cache(entries * drum::ClockCache::kEntryBytes) {}

  void Take(const std::vector<uint64_t>& keys) {
    const auto begin = SteadyClock::now();
    uint64_t sum = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (i + kKeysAhead < keys.size()) cache.Prefetch(keys[i + kKeysAhead]);
      sum += cache.CheckAndInsert(keys[i]) ? 1 : 0;
    }
    hits += sum;
    ns += std::chrono::duration<double, std::nano>(SteadyClock::now() - begin)
              .count();
  }

  drum::ClockCache cache;
  uint64_t hits = 0;
  double ns = 0;
};

// A link's time without and with a cache.
struct Verdict {
  double ns_without;
  double ns_with;
  bool pays;
};

Verdict Judge(const BenchDrumOptions& options, const TextSample& text,
              double unique_share, const HitRate& cache) {
  DrumFigures figures;
  figures.link_bytes = text.link_bytes;
  figures.text_ratio = text.arrival_order.ratio;
  figures.unique_share = unique_share;
  figures.memory_bytes = options.memory_bytes;
  figures.disk_bytes = options.disk_bytes;
  figures.threads = options.threads;
  figures.known_keys = options.preload;
  const model::StoreParameters alone = ModelOfDrum(figures);
  figures.memory_bytes -= cache.bytes;
  const double miss_rate = 1 - cache.hit_rate;
  const model::StoreParameters behind =
      model::BehindCache(ModelOfDrum(figures), miss_rate);

  const TextCosts& costs = text.arrival_order;
  const model::CodecCosts codec = {
      .ns_per_byte =
          (costs.pack_ns_per_link + costs.unpack_ns_per_link) / text.link_bytes,
      .ratio = costs.ratio};
  // CacheCosts wants times of one core, and divides by all of them itself.
  model::Machine machine = options.machine;
  machine.cores = 1;
  model::CacheCosts both = {
      .cache_ns = cache.ns_per_link,
      .miss_rate = miss_rate,
      .without = model::TimeWithCodec(codec, alone, machine),
      .with = model::TimeWithCodec(codec, behind, machine),
      .cores = options.machine.cores};
  return {model::LinkNsWithoutCache(both), model::LinkNsWithCache(both),
          model::CachePays(both)};
}

}  // namespace

void DistinctKeys::Add(uint64_t key) {
  if (!IsKept(key)) return;
  kept_.insert(key);
  while (kept_.size() > most_) {
    ++shift_;
    std::erase_if(kept_, [this](uint64_t other) { return !IsKept(other); });
  }
}

double DistinctKeys::count() const {
  return std::ldexp(static_cast<double>(kept_.size()), shift_);
}

bool DistinctKeys::IsKept(uint64_t key) const {
  return (key & ((uint64_t{1} << shift_) - 1)) == 0;
}

Result<HitRates> MeasureHitRates(LinkSource* source, uint64_t links,
                                 const std::vector<size_t>& entries) {
  std::vector<Probe> probes;
  probes.reserve(entries.size());
  for (size_t count : entries) probes.emplace_back(count);
  DistinctKeys distinct;
  std::vector<uint64_t> keys;
  std::string_view link;
  for (uint64_t done = 0; done < links; done += keys.size()) {
    keys.resize(std::min<uint64_t>(kKeysPerTurn, links - done));
    for (uint64_t& key : keys) {
      if (!source->Next(&link)) return Unexpected(source->status().error());
      key = KeyedHash(link, kHashSeed);
      distinct.Add(key);
    }
    for (Probe& probe : probes) probe.Take(keys);
  }
  HitRates rates;
  const double all = std::max(static_cast<double>(links), 1.0);
  rates.unique_share = distinct.count() / all;
  for (const Probe& probe : probes) {
    rates.caches.push_back({.entries = probe.cache.entries(),
                            .bytes = probe.cache.memory_bytes(),
                            .hit_rate = static_cast<double>(probe.hits) / all,
                            .ns_per_link = probe.ns / all});
  }
  return rates;
}

Status RunHitRates(const BenchDrumOptions& options, std::ostream& out) {
  std::vector<size_t> entries;
  for (size_t bits = kLeastBits; bits <= kMostBits; ++bits) {
    const size_t count = size_t{1} << bits;
    if (count * drum::ClockCache::kEntryBytes > options.memory_bytes / 2) break;
    entries.push_back(count);
  }
  if (entries.empty() || options.links == 0) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            "hit rates want links, and 64 KiB of memory"});
  }
  NEPHILA_TRY(const TextSample text, SampleTextOf(options));
  NEPHILA_TRY(Source source, MakeSource(options));
  NEPHILA_TRY(const HitRates rates,
              MeasureHitRates(source.links.get(), options.links, entries));
  if (!options.json) {
    out << fmt::format(
        "{} links of {}, 1 - p = {:.4f}\n"
        "{:>10} {:>11} {:>8} {:>11} {:>11} {:>8} pays\n",
        options.links, source.name, 1 - rates.unique_share, "entries", "bytes",
        "hits", "ns a link", "ns without", "with");
  }
  for (const HitRate& cache : rates.caches) {
    const Verdict verdict = Judge(options, text, rates.unique_share, cache);
    if (!options.json) {
      out << fmt::format(
          "{:>10} {:>11} {:>8.4f} {:>11.1f} {:>11.1f} {:>8.1f} {}\n",
          cache.entries, cache.bytes, cache.hit_rate, cache.ns_per_link,
          verdict.ns_without, verdict.ns_with, verdict.pays ? "yes" : "no");
      continue;
    }
    nlohmann::ordered_json line;
    line["bench"] = "hit-rates";
    line["source"] = source.name;
    line["links"] = options.links;
    line["cache_entries"] = cache.entries;
    line["cache_bytes"] = cache.bytes;
    line["hit_rate"] = cache.hit_rate;
    line["hit_rate_limit"] = 1 - rates.unique_share;
    line["ns_per_link"] = cache.ns_per_link;
    line["store_ns_without"] = verdict.ns_without;
    line["store_ns_with"] = verdict.ns_with;
    line["pays"] = verdict.pays;
    out << line.dump() << '\n';
  }
  return {};
}

}  // namespace nephila::bench
