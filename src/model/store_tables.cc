// Our own store beside the paper's, and what each policy of its runs costs.

#include <fmt/core.h>

#include <array>
#include <utility>

#include "model/table_makers.h"

namespace nephila::model {
namespace {

constexpr double kGiB = 1 << 30;

std::string Share(double value) { return fmt::format("{:.3f}", value); }

std::string Gib(double bytes) { return fmt::format("{:g} GiB", bytes / kGiB); }

std::vector<double> KeysOf(const Parameters& parameters) {
  return Or(parameters.pages, {1e7, 1e8, 1e9, 1e10, 1e11});
}

// The store at one size on one disk.
StoreParameters At(const Parameters& parameters, double keys, double disk) {
  StoreParameters store = parameters.store;
  store.ram_bytes = Or(parameters.ram_bytes, {store.ram_bytes}).front();
  store.known_keys = keys;
  store.disk_bytes = disk;
  return store;
}

constexpr std::array<std::pair<const char*, double>, 6> kPolicies = {{
    {"rewrite every pass", kRewrite},
    {"T = 8", 8},
    {"T = 4", 4},
    {"T = 2", 2},
    {"T = 1", 1},
    {"never merge", 0},
}};

}  // namespace

Table MakeStore(const Parameters& parameters) {
  Table table{"store",
              "alpha of our own store and its parts, while it doubles",
              {"keys", "D", "links a pass", "passes", "log", "buckets",
               "Z read", "Z written", "unique text", "runs"},
              "Theorem 2",
              false};
  for (double disk : Or(parameters.store_disks, {4 * kGiB, 8 * kGiB})) {
    for (double keys : KeysOf(parameters)) {
      const StoreParameters store = At(parameters, keys, disk);
      const uint64_t passes = DoublingPasses(store);
      const StoreAlpha parts = AlphaStore(store);
      table.figures.push_back(
          {{FormatPages(keys), Gib(disk),
            fmt::format("{:.1f}M", LinksPerPass(store) / 1e6),
            std::to_string(passes), Share(parts.log), Share(parts.buckets),
            Share(parts.z_read), Share(parts.z_written),
            Share(parts.unique_text), fmt::format("{:.1f}", parts.mean_runs)},
           "(S4)",
           parts.alpha(),
           "",
           AlphaPaper(store, passes)});
    }
  }
  const StoreParameters store = At(parameters, 1, kGiB);
  table.notes = {
      fmt::format("b = {:g}, c = {:g}, w = {:g}, p = {:.4g}, R = {:g} MiB, "
                  "k = {:g}, T = {:g}; N are keys in Z here, D is for the two "
                  "batches of a pass.",
                  store.link_bytes, store.text_ratio, store.key_record_bytes,
                  store.unique_share, store.ram_bytes / (1 << 20),
                  store.buckets, store.tier_growth),
      "Theorem 2: the paper's DRUM for the same links, b, p, N, R and D."};
  return table;
}

Table MakeTiers(const Parameters& parameters) {
  Table table{
      "tiers",
      "bytes of Z read and written for a link, by what is merged",
      {"keys", "D", "policy", "read", "written", "runs, mean", "runs, most"},
      "",
      false};
  const double disk = Or(parameters.store_disks, {4 * kGiB}).front();
  for (double keys : KeysOf(parameters)) {
    for (const auto& [name, growth] : kPolicies) {
      StoreParameters store = At(parameters, keys, disk);
      store.tier_growth = growth;
      const StoreAlpha parts = AlphaStore(store);
      const double b = store.link_bytes;
      table.figures.push_back(
          {{FormatPages(keys), Gib(disk), name, Share(parts.z_read * b),
            Share(parts.z_written * b), fmt::format("{:.1f}", parts.mean_runs),
            fmt::format("{:g}", parts.most_runs)},
           "(S4)",
           (parts.z_read + parts.z_written) * b});
    }
  }
  return table;
}

}  // namespace nephila::model
