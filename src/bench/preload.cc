#include "bench/preload.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace nephila::bench {
namespace {

// -log2 of a number in (0, 1] given as 64 bits, to 6e-5: the exponent is
// counted, a polynomial that is exact at both ends does the rest. std::log
// would take twice the time.
double MinusLog2(uint64_t bits) {
  bits |= 1;
  int zeros = std::countl_zero(bits);
  // The number is (1 + x) / 2^(zeros + 1).
  double x = static_cast<double>((bits << zeros) >> 11) * 0x1.0p-52 - 1;
  double bend = 0.4424542 + x * (-0.2701601 + x * (0.1520209 - x * 0.0458415));
  return zeros + 1 - x - x * (1 - x) * bend;
}

}  // namespace

void PreloadKeys::FillBlock() {
  filled_ = static_cast<size_t>(std::min<uint64_t>(kBlock, count_ - made_));
  // The part of the range that these keys have, by their numbers.
  double scale = 0x1.0p64 / static_cast<double>(count_);
  double begin = static_cast<double>(made_) * scale;
  double width = static_cast<double>(filled_) * scale;
  std::array<double, kBlock> sums;
  double sum = 0;
  for (size_t i = 0; i < filled_; ++i) {
    sum += MinusLog2(random_.Next());
    sums[i] = sum;
  }
  sum += MinusLog2(random_.Next());  // the gap behind the last
  for (size_t i = 0; i < filled_; ++i) {
    double place = begin + sums[i] / sum * width;
    // Below 2^64 even where the last digits of a double end.
    auto key = static_cast<uint64_t>(std::min(place, 0x1.fffffffffffp63));
    keys_[i] = std::max(key, least_);
    least_ = keys_[i] + 1;
  }
  // Doubles have 53 bits: the rest of a key is drawn, below the next one.
  for (size_t i = 0; i + 1 < filled_; ++i) {
    uint64_t gap = keys_[i + 1] - keys_[i];
    keys_[i] +=
        random_.Next() &
        (std::bit_floor(std::min<uint64_t>(gap, uint64_t{1} << 12)) - 1);
  }
  made_ += filled_;
  next_ = 0;
}

}  // namespace nephila::bench
