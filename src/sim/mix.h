// Mix: 64 well-mixed bits from a few numbers. Everything in the simulated web
// is drawn by it, so that a page depends on nothing but its name and the seed;
// changing it changes every simulated web.
//
// Threads: any. Cost: 1 ns a number.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace nephila::sim {

inline uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t state = a ^ (b * 0xD6E8FEB86659FD93);
  return NextSplitMix(state);
}
inline uint64_t Mix(uint64_t a, uint64_t b, uint64_t c) {
  return Mix(Mix(a, b), c);
}

// In [0, 1).
inline double ToUnit(uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

// In [0, n), each about equally likely. Without a division: the high half of
// the product (Lemire 2019), whose bias is below n / 2^64.
inline uint64_t ToBelow(uint64_t bits, uint64_t n) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(bits) *
                                static_cast<unsigned __int128>(n)) >>
                               64);
}

// Draws numbers for one page, one after the other.
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}
  uint64_t Bits() { return NextSplitMix(state_); }
  double Unit() { return ToUnit(Bits()); }
  uint64_t Below(uint64_t n) { return ToBelow(Bits(), n); }
  // True in `permille` of a thousand cases.
  bool Permille(int64_t permille) {
    return static_cast<int64_t>(Below(1000)) < permille;
  }

 private:
  uint64_t state_;
};

}  // namespace nephila::sim
