#include "item/budget_function.h"

#include <algorithm>

#include "base/bytes.h"

namespace nephila::item {
namespace {

using config::BudgetPolicy;

constexpr uint8_t kVersion = 1;
constexpr size_t kPointBytes = 12;

uint64_t ReadLittleEndian(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    number = number << 8 | static_cast<uint8_t>(bytes[i - 1]);
  }
  return number;
}

}  // namespace

std::string EncodeBudgetFunction(BudgetPolicy policy, uint32_t base,
                                 uint32_t most,
                                 std::span<const BudgetPoint> points) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.U8(kVersion);
  writer.U8(static_cast<uint8_t>(policy));
  writer.U32(base);
  writer.U32(most);
  writer.U32(static_cast<uint32_t>(points.size()));
  for (const BudgetPoint& point : points) {
    writer.U64(point.in_degree);
    writer.U32(point.budget);
  }
  return bytes;
}

std::optional<BudgetFunction> BudgetFunction::Read(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto version = reader.U8();
  const auto policy = reader.U8();
  const auto base = reader.U32();
  const auto most = reader.U32();
  const auto points = reader.U32();
  if (!version.has_value() || *version != kVersion || !points.has_value() ||
      *policy > static_cast<uint8_t>(BudgetPolicy::kInverse) ||
      reader.remaining() != uint64_t{*points} * kPointBytes) {
    return std::nullopt;
  }
  BudgetFunction function;
  function.policy_ = static_cast<BudgetPolicy>(*policy);
  function.base_ = *base;
  function.most_ = *most;
  function.points_ = *points;
  function.bytes_ = bytes.substr(reader.position());
  return function;
}

uint64_t BudgetFunction::ByPoints(uint64_t in_degree, uint64_t below) const {
  size_t first = 0;
  size_t end = points_;
  while (first < end) {
    const size_t middle = (first + end) / 2;
    if (ReadLittleEndian(bytes_.substr(middle * kPointBytes, 8)) <= in_degree) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  if (first == 0) return below;
  return ReadLittleEndian(bytes_.substr((first - 1) * kPointBytes + 8, 4));
}

uint64_t BudgetFunction::Budget(uint64_t in_degree) const {
  const uint64_t links = std::max<uint64_t>(in_degree, 1);
  switch (policy_) {
    case BudgetPolicy::kTopK:
      return ByPoints(in_degree, base_);
    case BudgetPolicy::kPopular:
      return ByPoints(in_degree, 0);
    case BudgetPolicy::kProportional:
      // The product may be beyond 64 bits.
      return links > most_ ? most_ : std::min<uint64_t>(links * base_, most_);
    case BudgetPolicy::kInverse:
      return most_ / links;
    case BudgetPolicy::kEqual:
      break;
  }
  return base_;
}

}  // namespace nephila::item
