// TableHash: the hash of texts for tables in memory whose keys come from
// outside. Each table has a seed of its own, so that no page, server or DNS
// answer can choose keys that fall into one bucket.
//
// Its values never reach disk and never leave the process. For keys that do,
// see hash.h. tools/check_hashes.py refuses tables by text without it.
//
// Threads: any. Cost: as KeyedHash; a drawn seed is one system call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/hash.h"

namespace nephila {

// A seed from the kernel. Ends the process if the kernel has none: without
// random numbers there is no TLS either.
uint64_t DrawTableSeed();

struct TableHash {
  using is_transparent = void;

  // Draws a seed. Tests that need the same order each time give one.
  TableHash() : seed(DrawTableSeed()) {}
  explicit TableHash(uint64_t of) : seed(of) {}

  size_t operator()(std::string_view text) const {
    return KeyedHash(text, seed);
  }

  uint64_t seed;
};

}  // namespace nephila
