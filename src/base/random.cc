#include "base/random.h"

#include <sys/random.h>

#include <bit>
#include <cerrno>

#include "base/check.h"

namespace nephila {

// Any seed, zero too, gives a state that is not all zeros.
Random::Random(uint64_t seed) : state_() {
  for (uint64_t& word : state_) word = NextSplitMix(seed);
}

uint64_t Random::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Random::Below(uint64_t n) {
  NEPHILA_CHECK(n > 0);
  // Lemire 2019: the high word of a product is the number; low words below
  // 2^64 mod n belong to the few values that would come once too often.
  auto product = static_cast<unsigned __int128>(Next()) * n;
  if (static_cast<uint64_t>(product) < n) {
    const uint64_t surplus = (0 - n) % n;
    while (static_cast<uint64_t>(product) < surplus) {
      product = static_cast<unsigned __int128>(Next()) * n;
    }
  }
  return static_cast<uint64_t>(product >> 64);
}

double Random::Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

bool Random::Chance(double p) { return Uniform() < p; }

Result<uint64_t> RandomSeed() {
  uint64_t seed = 0;
  for (;;) {
    const ssize_t got = getrandom(&seed, sizeof(seed), 0);
    // Up to 256 bytes come whole or not at all: getrandom(2).
    if (got == static_cast<ssize_t>(sizeof(seed))) return seed;
    if (errno != EINTR) return Unexpected(Error::FromErrno("getrandom", errno));
  }
}

}  // namespace nephila
