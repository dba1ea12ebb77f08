#include "model/tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "model/table_makers.h"

namespace nephila::model {
namespace {

constexpr std::array<std::string_view, 11> kNames = {
    "II",    "III",   "drum",  "V",     "VI",   "VII",
    "cache", "c_opt", "beast", "store", "tiers"};
// From here on they are not the papers'.
constexpr size_t kFirstOfOurs = 9;
constexpr std::array kMakers = {MakeTable2,    MakeTable3,      MakeDrumText,
                                MakeTable5,    MakeTable6,      MakeTable7,
                                MakeCacheText, MakeCacheChoice, MakeBeast,
                                MakeStore,     MakeTiers};
static_assert(kNames.size() == kMakers.size());

std::string Join(const std::vector<double>& values) {
  std::string text;
  for (double value : values) {
    text += fmt::format("{}{:g}", text.empty() ? "" : " ", value);
  }
  return text;
}

// What is not as in the papers, or "".
std::string Changes(const Parameters& parameters) {
  Parameters given = parameters;
  Parameters papers;
  std::vector<NamedParameter> ours = Named(&given);
  std::vector<NamedParameter> theirs = Named(&papers);
  std::string text;
  auto add = [&](const std::string& change) {
    text += (text.empty() ? "" : ", ") + change;
  };
  for (size_t i = 0; i < ours.size(); ++i) {
    if (*ours[i].value == *theirs[i].value) continue;
    add(fmt::format("{} = {:g} (not {:g})", ours[i].symbol, *ours[i].value,
                    *theirs[i].value));
  }
  if (!given.pages.empty()) add("N = " + Join(given.pages));
  if (!given.ram_bytes.empty()) add("R = " + Join(given.ram_bytes));
  if (!given.store_disks.empty()) {
    add("store-D = " + Join(given.store_disks));
  }
  return text;
}

Status CheckRange(const std::string& symbol, double value, double min,
                  double max) {
  if (value >= min && value <= max) return {};
  return Unexpected(Error{ErrorCode::kInvalidArgument,
                          fmt::format("{} = {:g} is not in {:g} to {:g}",
                                      symbol, value, min, max)});
}

constexpr double kLeast = 1e-6;
constexpr double kMost = 1e30;

Status CheckParameters(const Parameters& parameters) {
  Parameters given = parameters;
  for (const NamedParameter& named : Named(&given)) {
    NEPHILA_RETURN_IF_ERROR(
        CheckRange(named.symbol, *named.value, named.min, named.max));
  }
  for (double pages : given.pages) {
    NEPHILA_RETURN_IF_ERROR(CheckRange("N", pages, 1, kMost));
  }
  for (double ram : given.ram_bytes) {
    NEPHILA_RETURN_IF_ERROR(CheckRange("R", ram, 1, kMost));
  }
  for (double disk : given.store_disks) {
    NEPHILA_RETURN_IF_ERROR(CheckRange("store-D", disk, 1, kMost));
  }
  return {};
}

}  // namespace

std::string FindPrinted(std::span<const Printed> all, double pages,
                        double ram_bytes, Method method) {
  for (const Printed& printed : all) {
    if (printed.pages == pages && printed.ram_bytes == ram_bytes &&
        printed.method == method) {
      return printed.text;
    }
  }
  return "";
}

std::vector<double> Or(const std::vector<double>& given,
                       std::initializer_list<double> papers) {
  return given.empty() ? std::vector<double>(papers) : given;
}

std::vector<double> PagesOf(const Parameters& parameters) {
  return Or(parameters.pages, {8e8, 8e9, 8e10, 8e11, 8e12});
}

std::vector<NamedParameter> Named(Parameters* parameters) {
  DrumParameters& drum = parameters->drum;
  CacheParameters& cache = parameters->cache;
  BeastParameters& beast = parameters->beast;
  StoreParameters& store = parameters->store;
  return {
      {"H", "bytes of a hash", &drum.hash_bytes, kLeast, kMost},
      {"P", "bytes of a pointer", &drum.pointer_bytes, kLeast, kMost},
      {"b", "bytes of a URL", &drum.url_bytes, kLeast, kMost},
      {"bq", "bytes of a compressed URL", &drum.compressed_bytes, kLeast,
       kMost},
      {"p", "share of unique links", &drum.unique_share, kLeast, 1},
      {"l", "links per page", &drum.links_per_page, kLeast, kMost},
      {"U", "URLs seen at the start", &drum.known_urls, 0, kMost},
      {"M", "bytes of a file's buffer", &drum.buffer_bytes, kLeast, kMost},
      {"Delta", "least bytes of a bucket", &drum.min_bucket_bytes, kLeast,
       kMost},
      {"D", "disk bytes of table II", &parameters->disk_bytes, kLeast, kMost},
      {"D0", "least disk bytes of D(n)", &drum.min_disk_bytes, kLeast, kMost},
      {"W", "disk bytes/s", &cache.disk_speed, kLeast, kMost},
      {"gamma", "bytes of a cached link", &cache.entry_bytes, kLeast, kMost},
      {"tau", "tau_h, seconds between visits to a host", &cache.host_delay_s,
       kLeast, kMost},
      {"Smax", "pages/s at which the CPU is full", &cache.max_rate, kLeast,
       kMost},
      {"mu", "links/s of the cache (CLOCK)", &cache.cache_rate, kLeast, kMost},
      {"pi", "miss rate of table VI", &parameters->miss_rate, kLeast, 1},
      {"c", "cache bytes of table VI", &parameters->cache_bytes, 0, kMost},
      {"grid", "step of c in max over c", &cache.grid_bytes, 1, kMost},
      {"step", "second step of pi(c, S), in working sets", &cache.second_step,
       1, 10},
      {"S", "pages/s of BEAST", &beast.pages_per_s, kLeast, kMost},
      {"L", "unique links per page", &beast.unique_links, 1, kMost},
      {"EB", "E[B_x], mean budget of a domain", &beast.mean_budget, kLeast,
       kMost},
      {"V", "domains in a pass", &beast.domains, kLeast, kMost},
      {"store-b", "bytes of a link in our store", &store.link_bytes, kLeast,
       kMost},
      {"store-c", "its text's ratio of compression", &store.text_ratio, kLeast,
       kMost},
      {"store-w", "bytes of a key in its buckets", &store.key_record_bytes,
       kLeast, kMost},
      {"store-p", "share of links new to it", &store.unique_share, kLeast, 1},
      {"store-k", "its buckets", &store.buckets, 1, kMost},
      {"store-T", "its runs' growth: 0 never merges", &store.tier_growth, 0,
       kMost},
  };
}

std::span<const std::string_view> TableNames() { return kNames; }

Result<Table> MakeTable(std::string_view name, const Parameters& parameters) {
  NEPHILA_RETURN_IF_ERROR(CheckParameters(parameters));
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (LowerAscii(kNames[i]) != LowerAscii(name)) continue;
    Parameters given = parameters;
    given.beast.url_bytes = given.drum.url_bytes;
    Table table = kMakers[i](given);
    std::string changes = Changes(given);
    if (!changes.empty() && i < kFirstOfOurs) {
      table.notes = {
          "Not the papers' parameters, so the printed figures need "
          "not agree: " +
          changes + "."};
      for (Figure& figure : table.figures) figure.note = 0;
    }
    double least = MinRam(given.drum);
    auto& ram = given.ram_bytes;
    if (std::any_of(ram.begin(), ram.end(),
                    [&](double r) { return r < least; })) {
      table.notes.push_back(fmt::format(
          "Theorem 2 needs R >= 2 Delta (1 + P/H) = {}: below, buckets are "
          "smaller than Delta and DRUM's figures too good.",
          FormatBytes(least)));
    }
    for (double r : Or(ram, {4e9, 8e9})) {
      if (table.name != "VI" || r > given.cache_bytes) continue;
      table.notes.push_back(
          fmt::format("No row for R = {}: c takes all of it.", FormatBytes(r)));
    }
    return table;
  }
  std::string message = std::string(name) + ": no such table; there are";
  for (std::string_view known : kNames) message.append(" ").append(known);
  return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

}  // namespace nephila::model
