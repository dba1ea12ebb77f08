#include "drum/sort.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

std::vector<SortEntry> Entries(size_t count,
                               const std::function<uint64_t(size_t)>& key) {
  std::vector<SortEntry> entries;
  entries.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    entries.push_back({key(i), static_cast<uint32_t>(i)});
  }
  return entries;
}

// Sorts, and compares with the standard library's stable sort.
void ExpectSorts(std::vector<SortEntry> entries, int key_bits,
                 const std::string& what) {
  std::vector<SortEntry> expected = entries;
  std::stable_sort(
      expected.begin(), expected.end(),
      [](const SortEntry& a, const SortEntry& b) { return a.key < b.key; });
  std::vector<SortEntry> scratch(entries.size());
  SortEntries(entries, scratch, key_bits);
  const auto differs =
      std::mismatch(entries.begin(), entries.end(), expected.begin(),
                    [](const SortEntry& a, const SortEntry& b) {
                      return a.key == b.key && a.index == b.index;
                    });
  EXPECT_TRUE(differs.first == entries.end())
      << what << " at " << differs.first - entries.begin();
}

constexpr uint64_t Mask(int key_bits) {
  return ~uint64_t{0} >> (64 - key_bits);
}

TEST(SortTest, RandomKeysOfEveryWidthAndSizeAreSorted) {
  Random random(1);
  for (int key_bits = 48; key_bits <= 64; ++key_bits) {
    for (const size_t count : {0U, 1U, 2U, 31U, 32U, 33U, 1000U, 5000U}) {
      ExpectSorts(
          Entries(count,
                  [&](size_t) { return random.Next() & Mask(key_bits); }),
          key_bits,
          std::to_string(count) + " of " + std::to_string(key_bits) + " bits");
    }
  }
  for (const int key_bits : {48, 56, 57, 64}) {
    ExpectSorts(Entries(100'000,
                        [&](size_t) { return random.Next() & Mask(key_bits); }),
                key_bits, "100000 of " + std::to_string(key_bits) + " bits");
  }
}

TEST(SortTest, EqualKeysKeepTheOrderOfTheirArrival) {
  Random random(2);
  for (const size_t count : {31U, 32U, 33U, 100'000U}) {
    ExpectSorts(Entries(count, [](size_t) { return 7; }), 64, "all equal");
    // Each key about four times, and two keys alone.
    std::vector<uint64_t> keys(count / 4 + 1);
    for (uint64_t& key : keys) key = random.Next();
    ExpectSorts(
        Entries(count, [&](size_t) { return keys[random.Below(keys.size())]; }),
        64, "four of each");
    ExpectSorts(Entries(count, [&](size_t) { return keys[random.Below(2)]; }),
                64, "two keys");
  }
}

TEST(SortTest, OrderedKeysAreSorted) {
  for (const size_t count : {31U, 32U, 33U, 1000U, 100'000U}) {
    const uint64_t step = ~uint64_t{0} / count;
    ExpectSorts(Entries(count, [&](size_t i) { return i * step; }), 64,
                "ascending");
    ExpectSorts(Entries(count, [&](size_t i) { return (count - i) * step; }),
                64, "descending");
  }
}

// Their leading bits are all the same: an insertion sort alone would move each
// of a million entries half a million places, and this test would not end.
TEST(SortTest, KeysThatAreNoHashesAreSortedByCounting) {
  constexpr size_t kCount = 1'000'000;
  ExpectSorts(Entries(kCount, [](size_t i) { return kCount - i; }), 64,
              "small and descending");
  Random random(3);
  ExpectSorts(Entries(kCount, [&](size_t) { return random.Below(kCount); }), 56,
              "small and random");
  ExpectSorts(Entries(kCount,
                      [&](size_t) {
                        return random.Chance(0.5) ? random.Next() & 0xFFFF
                                                  : ~(random.Next() & 0xFFFF);
                      }),
              64, "at both ends");
}

// Enough of them stand wrong for the insertion pass to give up midway: what it
// has moved so far must not disturb the order of arrival.
TEST(SortTest, EqualKeysKeepTheirOrderWhenTheInsertionPassGivesUp) {
  Random random(4);
  for (const size_t count : {32U, 100U, 1000U, 50'000U}) {
    for (const uint64_t distinct : {uint64_t{2}, uint64_t{10}, uint64_t{500}}) {
      ExpectSorts(
          Entries(count, [&](size_t) { return random.Below(distinct); }), 50,
          std::to_string(count) + " of " + std::to_string(distinct));
    }
  }
}

}  // namespace
}  // namespace nephila::drum
