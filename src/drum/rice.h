// Rice coding of ascending 64-bit keys, for the blocks of runs.
//
// The gap between two neighbours, less one, is cut into a quotient and a
// remainder of `parameter` bits. Remainders stand in one row, quotients in
// unary in another: so a decoder takes 64 bits of quotients at a time and
// knows where each remainder is, and no key waits for the one before. Hashes
// cost log2(mean gap) + 1.47 to 1.56 bits each, where the entropy is
// log2(mean gap) + 1.44. A quotient from kRiceEscape on (one in 10^8 at most
// for hashes) is marked in the row and stored apart as 64 bits, so that any
// gap has a code.
//
//   u8 parameter, varint escapes, u64 * escapes, remainders, quotients
//
// Cost: linear, a few ns a key; one percent of the time of `nephila bench drum
// --preload 100M`, whose bytes_per_key are these codes.
//
// Each row ends with a whole byte. The first key and the number of keys are not
// in it: they stand elsewhere.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nephila::drum {

// A remainder can then be had with one load from its first byte.
inline constexpr unsigned kMaxRiceParameter = 56;
inline constexpr uint64_t kRiceEscape = 40;

// The best one for `gaps` gaps that add up to `sum` and fall as those of random
// keys do.
unsigned RiceParameter(uint64_t sum, uint64_t gaps);

// The bits that a gap takes; `gap` is the difference of two keys.
constexpr uint64_t RiceBits(uint64_t gap, unsigned parameter) {
  const uint64_t quotient = (gap - 1) >> parameter;
  return parameter + 1 + (quotient < kRiceEscape ? quotient : kRiceEscape + 64);
}

// Above the sum of RiceBits by at most this many: the fixed parts, and what the
// two rows leave unused at their ends.
inline constexpr uint64_t kRiceExtraBits = 8 * (1 + 3) + 2 * 7;

// How many of `keys` fit: the most for which their code and `beside(n)`, the
// bits that n keys take otherwise, which must not fall with n, stay within
// `capacity_bits`.
template <typename Beside>
size_t RiceFit(std::span<const uint64_t> keys, unsigned parameter,
               uint64_t capacity_bits, Beside beside) {
  uint64_t bits = kRiceExtraBits;
  size_t taken = 0;
  for (; taken < keys.size(); ++taken) {
    if (taken > 0) bits += RiceBits(keys[taken] - keys[taken - 1], parameter);
    if (bits + beside(taken + 1) > capacity_bits) break;
  }
  return taken;
}

// Appends the code of all gaps of `keys`. REQUIRES: keys ascend, at least one
// and fewer than 2^21.
void RiceEncode(std::span<const uint64_t> keys, unsigned parameter,
                std::string& out);

// Fills `keys` from its second on; its first must be there. Returns how many of
// `bytes` the code took, or nothing if they are not the code of that many
// ascending keys. Never looks outside of `bytes`.
std::optional<size_t> RiceDecode(std::string_view bytes,
                                 std::span<uint64_t> keys);

}  // namespace nephila::drum
