// PreloadKeys: sorted distinct pseudo-random keys, one by one, for stores that
// are to start with a billion.
//
// As if `count` keys were drawn at random and sorted: the gaps are exponential,
// drawn and scaled block by block so that the blocks share the whole range of
// 64 bits evenly. From a fixed seed: the same keys on every run. Threads: one.
// Cost: about 10 ns a key, and 32 KiB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/random.h"

namespace nephila::bench {

class PreloadKeys {
 public:
  explicit PreloadKeys(uint64_t count) : count_(count), random_(0x4B455953) {}

  // The next larger key. REQUIRES: called at most `count` times.
  uint64_t Next() {
    if (next_ == filled_) FillBlock();
    return keys_[next_++];
  }

 private:
  static constexpr size_t kBlock = 4096;

  void FillBlock();

  const uint64_t count_;
  Random random_;
  uint64_t made_ = 0;
  uint64_t least_ = 0;  // of the next key
  size_t next_ = 0;
  size_t filled_ = 0;
  std::array<uint64_t, kBlock> keys_{};
};

}  // namespace nephila::bench
