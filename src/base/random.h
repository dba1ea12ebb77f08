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

// The next number of splitmix64 (Steele, Lea and Flood 2014), which needs only
// 64 bits of state: for seeds, and for numbers that must stay the same for
// ever. Any state is a good one, and `seed + n * kSplitMixStep` skips n.
inline constexpr uint64_t kSplitMixStep = 0x9E3779B97F4A7C15;
inline uint64_t NextSplitMix(uint64_t& state) {
  state += kSplitMixStep;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return mixed ^ (mixed >> 31);
}

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
