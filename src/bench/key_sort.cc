#include "bench/key_sort.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>
#include <vector>

namespace nephila::bench {
namespace {

constexpr size_t kDigits = 256;
constexpr size_t kFewEnough = 48;
constexpr size_t kWorthThreads = 1 << 16;

void InsertionSort(KeyedPosition* begin, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    KeyedPosition item = begin[i];
    size_t j = i;
    for (; j > 0 && begin[j - 1].key() > item.key(); --j) {
      begin[j] = begin[j - 1];
    }
    begin[j] = item;
  }
}

using Bounds = std::array<size_t, kDigits + 1>;

// Moves every item to the part of its digit; part d is [bounds[d],
// bounds[d + 1]).
void Partition(KeyedPosition* begin, size_t count, int shift, Bounds* bounds) {
  auto digit = [shift](const KeyedPosition& item) {
    return static_cast<size_t>(item.key() >> shift) & (kDigits - 1);
  };
  bounds->fill(0);
  for (size_t i = 0; i < count; ++i) ++(*bounds)[digit(begin[i]) + 1];
  for (size_t d = 0; d < kDigits; ++d) (*bounds)[d + 1] += (*bounds)[d];
  std::array<size_t, kDigits> next;
  std::copy_n(bounds->begin(), kDigits, next.begin());
  for (size_t d = 0; d < kDigits; ++d) {
    while (next[d] < (*bounds)[d + 1]) {
      KeyedPosition item = begin[next[d]];
      size_t to = digit(item);
      while (to != d) {
        std::swap(item, begin[next[to]++]);
        to = digit(item);
      }
      begin[next[d]++] = item;
    }
  }
}

void Sort(KeyedPosition* begin, size_t count, int shift) {
  if (count <= kFewEnough) {
    InsertionSort(begin, count);
    return;
  }
  if (shift < 0) return;  // all of one key
  Bounds bounds;
  Partition(begin, count, shift, &bounds);
  for (size_t d = 0; d < kDigits; ++d) {
    Sort(begin + bounds[d], bounds[d + 1] - bounds[d], shift - 8);
  }
}

}  // namespace

void SortByKey(KeyedPosition* begin, size_t count, int threads) {
  constexpr int kTopShift = 56;
  if (threads < 2 || count < kWorthThreads) {
    Sort(begin, count, kTopShift);
    return;
  }
  Bounds bounds;
  Partition(begin, count, kTopShift, &bounds);
  auto every = [&](size_t first) {
    for (size_t d = first; d < kDigits; d += static_cast<size_t>(threads)) {
      Sort(begin + bounds[d], bounds[d + 1] - bounds[d], kTopShift - 8);
    }
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < static_cast<size_t>(threads); ++i) {
    others.emplace_back(every, i);
  }
  every(0);
  for (std::thread& other : others) other.join();
}

}  // namespace nephila::bench
