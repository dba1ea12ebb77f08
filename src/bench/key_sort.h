// SortByKey: keys with positions, sorted in the memory they lie in.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nephila::bench {

// H + P = 12 bytes, as the papers count them.
struct KeyedPosition {
  uint32_t high;
  uint32_t low;
  uint32_t position;

  uint64_t key() const { return uint64_t{high} << 32 | low; }
};
static_assert(sizeof(KeyedPosition) == 12);

// By key; those of one key in any order. A radix sort from the top byte down
// ("American flag"), on up to `threads` threads. Fast for keys that are spread
// evenly, correct for all. No memory but the stack's.
void SortByKey(KeyedPosition* begin, size_t count, int threads);

}  // namespace nephila::bench
