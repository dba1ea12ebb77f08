#include "reputation/degree_histogram.h"

#include <algorithm>
#include <bit>

namespace nephila::reputation {
namespace {

constexpr int kExactBits = 8;

}  // namespace

size_t DegreeHistogram::BucketOf(uint64_t in_degree) {
  if (in_degree < kExact) return static_cast<size_t>(in_degree);
  const auto exponent = static_cast<int>(std::bit_width(in_degree)) - 1;
  const uint64_t step =
      in_degree >> (exponent - static_cast<int>(kStepBits)) & (kSteps - 1);
  return kExact + static_cast<size_t>(exponent - kExactBits) * kSteps +
         static_cast<size_t>(step);
}

uint64_t DegreeHistogram::FirstOf(size_t bucket) {
  if (bucket < kExact) return bucket;
  const size_t exponent = (bucket - kExact) / kSteps + kExactBits;
  const uint64_t step = (bucket - kExact) % kSteps;
  return (kSteps + step) << (exponent - kStepBits);
}

void DegreeHistogram::Move(uint64_t before, uint64_t after) {
  if (before > 0) {
    uint64_t& count = counts_[BucketOf(before)];
    // Only damage that no checksum saw takes what is not there.
    if (count > 0) {
      --count;
      --domains_;
    }
  }
  if (after > 0) {
    ++counts_[BucketOf(after)];
    ++domains_;
  }
}

void DegreeHistogram::Merge(const DegreeHistogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  domains_ += other.domains_;
}

uint64_t DegreeHistogram::RankOf(uint64_t in_degree) const {
  uint64_t rank = 0;
  for (size_t i = BucketOf(in_degree); i < kBuckets; ++i) rank += counts_[i];
  return rank;
}

std::vector<item::BudgetPoint> DegreeHistogram::Interpolate(
    uint64_t best, uint32_t base, uint32_t most) const {
  std::vector<item::BudgetPoint> points;
  uint64_t rank = 0;
  for (size_t i = kBuckets - 1; i > 0; --i) {
    if (counts_[i] == 0) continue;
    rank += counts_[i];
    if (rank > best) break;
    double share = 1;
    if (best > 1) {
      share = static_cast<double>(best - rank) / static_cast<double>(best - 1);
    }
    const double raise = most > base ? static_cast<double>(most - base) : 0;
    points.push_back({FirstOf(i), base + static_cast<uint32_t>(raise * share)});
  }
  std::reverse(points.begin(), points.end());
  return points;
}

void DegreeHistogram::Write(ByteWriter& writer) const {
  const auto used = static_cast<uint64_t>(
      std::count_if(counts_.begin(), counts_.end(),
                    [](uint64_t count) { return count > 0; }));
  writer.Varint(used);
  size_t next = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    if (counts_[i] == 0) continue;
    writer.Varint(i - next);
    writer.Varint(counts_[i]);
    next = i + 1;
  }
}

bool DegreeHistogram::Read(ByteReader& reader) {
  DegreeHistogram read;
  const auto used = reader.Varint();
  if (!used.has_value() || *used > kBuckets) return false;
  uint64_t next = 0;
  for (uint64_t i = 0; i < *used; ++i) {
    const auto gap = reader.Varint();
    const auto count = reader.Varint();
    if (!gap.has_value() || !count.has_value() || *gap >= kBuckets - next) {
      return false;
    }
    read.counts_[next + *gap] = *count;
    read.domains_ += *count;
    next += *gap + 1;
  }
  *this = read;
  return true;
}

}  // namespace nephila::reputation
