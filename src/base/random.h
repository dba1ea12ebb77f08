// Random: a seeded generator with the same sequence on every machine.
//
// xoshiro256** (Blackman and Vigna, public domain), its state filled by
// splitmix64. std::mt19937 would do, but the standard's distributions differ
// between libraries, and a test that prints its seed must fail the same way
// everywhere. Not for secrets.
//
// Threads: one; give each its own. Cost: 2 to 4 ns a number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/result.h"

namespace nephila {

class Random {
 public:
  explicit Random(uint64_t seed);

  // 64 random bits.
  uint64_t Next();
  // A number below n, each equally likely. REQUIRES: n > 0.
  uint64_t Below(uint64_t n);
  // In [0, 1), a multiple of 2^-53.
  double Uniform();
  // True with probability p; never for p <= 0, always for p >= 1.
  bool Chance(double p);

  // Every order equally likely.
  template <typename T>
  void Shuffle(std::span<T> items) {
    for (size_t i = items.size(); i > 1; --i) {
      using std::swap;
      swap(items[i - 1], items[Below(i)]);
    }
  }

 private:
  std::array<uint64_t, 4> state_;
};

// A seed from the kernel; may block early in the boot of the machine.
Result<uint64_t> RandomSeed();

}  // namespace nephila
