#include "drum/clock_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace nephila::drum {
namespace {

// An entry: the low 61 bits of the mixed key, and flags. Two keys that agree
// in those differ by a multiple of 2^61, an eighth of all numbers, so among
// eight sets or more they belong to different ones: never a false hit.
constexpr uint64_t kUsed = uint64_t{1} << 63;
constexpr uint64_t kAgain = uint64_t{1} << 62;  // came by since the hand passed
constexpr uint64_t kHand = uint64_t{1} << 61;   // a bit of the hand, see HandOf
constexpr uint64_t kTag = kHand - 1;
constexpr int kHandShift = 61;

constexpr int kHandBits = 3;
static_assert(ClockCache::kWays == size_t{1} << kHandBits);

constexpr size_t kHugePageBytes = size_t{2} << 20;

// One to one, so that no two keys are taken for one; spreads keys that are no
// hashes over the sets.
uint64_t Mix(uint64_t key) {
  key = (key ^ (key >> 32)) * 0x9E3779B97F4A7C15;
  return (key ^ (key >> 29)) * 0xBF58476D1CE4E5B9;
}

// Where the hand of a set stands, from the flags of its first entries.
size_t HandOf(const uint64_t* entries) {
  size_t hand = 0;
  for (int i = 0; i < kHandBits; ++i) {
    hand |= ((entries[i] >> kHandShift) & 1) << i;
  }
  return hand;
}

void SetHand(uint64_t* entries, size_t hand) {
  for (int i = 0; i < kHandBits; ++i) {
    entries[i] =
        (entries[i] & ~kHand) | (uint64_t{(hand >> i) & 1} << kHandShift);
  }
}

// A bit for each entry that is `wanted`. Without a way out in the loop: to find
// the place costs a wrong guess of the branch predictor for every key, to
// compare all costs less.
uint64_t Matches(const uint64_t* entries, uint64_t wanted) {
  uint64_t matches = 0;
  for (size_t i = 0; i < ClockCache::kWays; ++i) {
    matches |= uint64_t{(entries[i] & (kUsed | kTag)) == wanted} << i;
  }
  return matches;
}

}  // namespace

void ClockCache::Free::operator()(Set* sets) const { std::free(sets); }

ClockCache::ClockCache(size_t memory_bytes)
    : sets_(std::max(memory_bytes / kSetBytes, kMinSets)) {
  const size_t bytes = sets_ * kSetBytes;
  // Huge pages where they fit: else every access misses the TLB as well.
  const bool huge = bytes >= kHugePageBytes;
  const size_t alignment = huge ? kHugePageBytes : kSetBytes;
  const size_t taken = (bytes + alignment - 1) / alignment * alignment;
  memory_.reset(static_cast<Set*>(std::aligned_alloc(alignment, taken)));
  NEPHILA_CHECK(memory_ != nullptr);
  // A wish: without it the cache is slower and the same.
  if (huge) static_cast<void>(madvise(memory_.get(), taken, MADV_HUGEPAGE));
  Clear();
}

void ClockCache::Clear() { std::memset(memory_.get(), 0, memory_bytes()); }

size_t ClockCache::SetOf(uint64_t mixed) const {
  return static_cast<size_t>((static_cast<unsigned __int128>(mixed) * sets_) >>
                             64);
}

void ClockCache::Prefetch(uint64_t key) const {
  __builtin_prefetch(memory_[SetOf(Mix(key))].entries, 1);
}

bool ClockCache::Contains(uint64_t key) const {
  const uint64_t mixed = Mix(key);
  return Matches(memory_[SetOf(mixed)].entries, (mixed & kTag) | kUsed) != 0;
}

bool ClockCache::CheckAndInsert(uint64_t key) {
  const uint64_t mixed = Mix(key);
  uint64_t* entries = memory_[SetOf(mixed)].entries;
  const uint64_t wanted = (mixed & kTag) | kUsed;
  const uint64_t matches = Matches(entries, wanted);
  if (matches != 0) {
    entries[__builtin_ctzll(matches)] |= kAgain;
    return true;
  }
  size_t hand = HandOf(entries);
  while ((entries[hand] & kAgain) != 0) {
    entries[hand] &= ~kAgain;
    hand = (hand + 1) % kWays;
  }
  entries[hand] = wanted;
  SetHand(entries, (hand + 1) % kWays);
  return false;
}

}  // namespace nephila::drum
