#include "budget/host_sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace nephila::budget {
namespace {

constexpr int kRegisters = 16;
constexpr int kBits = 4;
constexpr uint64_t kMostRank = 15;
constexpr double kAlpha = 0.673;  // of HyperLogLog with 16 registers

}  // namespace

// From the high bits: the low ones of all hosts of a domain are its shard.
uint8_t HostSketch::MarkOf(url::HostKey host) {
  const uint64_t index = host.value >> (64 - kBits);
  const auto zeros =
      static_cast<uint64_t>(std::countl_zero(host.value << kBits));
  return static_cast<uint8_t>(index << kBits | std::min(zeros + 1, kMostRank));
}

void HostSketch::Add(uint8_t mark) {
  const int shift = (mark >> kBits) * kBits;
  const uint64_t rank = mark & 15;
  const uint64_t old = registers_ >> shift & 15;
  if (rank > old) registers_ ^= (rank ^ old) << shift;
}

uint64_t HostSketch::Estimate() const {
  double sum = 0;
  int empty = 0;
  for (int i = 0; i < kRegisters; ++i) {
    const auto rank = static_cast<int>(registers_ >> (i * kBits) & 15);
    sum += std::ldexp(1.0, -rank);
    if (rank == 0) ++empty;
  }
  double hosts = kAlpha * kRegisters * kRegisters / sum;
  if (hosts <= 2.5 * kRegisters && empty > 0) {
    hosts = kRegisters * std::log(static_cast<double>(kRegisters) / empty);
  }
  return std::max<uint64_t>(static_cast<uint64_t>(std::llround(hosts)), 1);
}

}  // namespace nephila::budget
