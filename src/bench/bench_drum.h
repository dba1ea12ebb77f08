// nephila-bench drum: links through a store that lets each through once.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "base/codec.h"
#include "base/result.h"
#include "model/store_model.h"

namespace nephila::bench {

struct BenchDrumOptions {
  std::string store = "drum";  // see bench/stores.h
  uint64_t links = 10'000'000;
  double unique_share = 1.0 / 9;
  uint64_t preload = 0;
  uint64_t memory_bytes = uint64_t{512} << 20;
  uint64_t disk_bytes = uint64_t{4} << 30;
  int threads = 2;                            // of the store, in the background
  std::optional<Codec> codec = std::nullopt;  // of our store; else chosen
  bool page_cache = false;                    // our store without direct I/O
  std::string text_file;                      // instead of pages of the corpus
  bool shuffled = false;
  std::string directory;  // default: one below the current, removed at the end
  bool json = false;
  double time_limit_s = 0;  // 0: none
  double load_limit_s = 1200;
  uint64_t seed = 1;
  model::Machine machine;  // for the verdict of hit rates
};

// Preloads, runs, and prints one result. Progress goes to `progress` every few
// seconds. A preload that takes longer than its limit is a result too, "not
// reached", with the rate there.
Status RunBenchDrum(const BenchDrumOptions& options, std::ostream& out,
                    std::ostream& progress);

// "10M" is ten million, "1.5B" a billion and a half; K, M, B and T, either
// case.
Result<uint64_t> ParseCount(std::string_view text);

}  // namespace nephila::bench
