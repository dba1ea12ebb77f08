#include "drum/sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "base/check.h"

namespace nephila::drum {
namespace {

constexpr int kMostDigitBits = 12;

// One stable counting pass by `bits` bits from `shift` on.
void CountingPass(std::span<const SortEntry> from, std::span<SortEntry> to,
                  int shift, int bits) {
  std::array<uint32_t, size_t{1} << kMostDigitBits> places;
  const size_t digits = size_t{1} << bits;
  const uint64_t mask = digits - 1;
  std::fill_n(places.begin(), digits, 0);
  for (const SortEntry& entry : from) ++places[entry.key >> shift & mask];
  uint32_t place = 0;
  for (size_t digit = 0; digit < digits; ++digit) {
    const uint32_t count = places[digit];
    places[digit] = place;
    place += count;
  }
  for (const SortEntry& entry : from) {
    to[places[entry.key >> shift & mask]++] = entry;
  }
}

// Sorts by the bits [low, high) in counting passes of equal width, an even
// number of them, so that the result is in `entries` again.
void CountingSort(std::span<SortEntry> entries, std::span<SortEntry> scratch,
                  int low, int high) {
  int passes = (high - low + kMostDigitBits - 1) / kMostDigitBits;
  passes += passes % 2;
  int shift = low;
  for (int pass = 0; pass < passes; ++pass) {
    const int bits = (high - shift) / (passes - pass);
    CountingPass(entries, scratch, shift, bits);
    std::swap(entries, scratch);
    shift += bits;
  }
}

// Stable; gives up when it had to move more than a few places an entry.
bool InsertionSort(std::span<SortEntry> entries) {
  size_t moves_left = 8 * entries.size() + 64;
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i - 1].key <= entries[i].key) continue;
    const SortEntry entry = entries[i];
    size_t j = i;
    while (j > 0 && entries[j - 1].key > entry.key) {
      entries[j] = entries[j - 1];
      --j;
      if (--moves_left == 0) {
        entries[j] = entry;
        return false;
      }
    }
    entries[j] = entry;
  }
  return true;
}

}  // namespace

void SortEntries(std::span<SortEntry> entries, std::span<SortEntry> scratch,
                 int key_bits) {
  NEPHILA_CHECK(entries.size() == scratch.size());
  if (entries.size() < 32) {
    std::stable_sort(
        entries.begin(), entries.end(),
        [](const SortEntry& a, const SortEntry& b) { return a.key < b.key; });
    return;
  }
  const int leading =
      std::clamp(static_cast<int>(std::bit_width(entries.size())) + 3, 2,
                 std::min(key_bits, 2 * kMostDigitBits));
  CountingSort(entries, scratch, key_bits - leading, key_bits);
  if (InsertionSort(entries)) return;
  // Entries moved past larger ones only, so equal keys are still in order.
  CountingSort(entries, scratch, 0, key_bits);
}

}  // namespace nephila::drum
