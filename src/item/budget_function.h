// BudgetFunction: F of IRLbot s5.2, the budget of a domain by its in-degree.
//
// `reputation` makes one from the settings and from what it knows of all
// in-degrees; `budget` asks it inside the passes of a Drum. So it is bytes that
// are frozen with a pass, and read where they stand: a search, no unpacking.
//
//   u8 version, u8 policy (config::BudgetPolicy), u32 base, u32 most,
//   u32 points, then a point each: u64 in-degree, u32 budget; the in-degrees
//   ascend
//
// Points are steps, for the policies that go by rank: the budget of an
// in-degree is that of the last point up to it, and before the first it is
// `base` for top-k, 0 for popular.
//
// Threads: immutable. Cost: a binary search over some hundred points.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/settings.h"

namespace nephila::item {

struct BudgetPoint {
  uint64_t in_degree = 0;
  uint32_t budget = 0;
  bool operator==(const BudgetPoint&) const = default;
};

// REQUIRES: the in-degrees of the points ascend.
std::string EncodeBudgetFunction(config::BudgetPolicy policy, uint32_t base,
                                 uint32_t most,
                                 std::span<const BudgetPoint> points);

class BudgetFunction {
 public:
  // Nothing if `bytes`, which it points into, are no function.
  static std::optional<BudgetFunction> Read(std::string_view bytes);

  // 0 means that nothing is asked for; who enforces budgets decides what that
  // is worth.
  uint64_t Budget(uint64_t in_degree) const;
  uint32_t base() const { return base_; }

 private:
  uint64_t ByPoints(uint64_t in_degree, uint64_t below) const;

  config::BudgetPolicy policy_ = config::BudgetPolicy::kEqual;
  uint32_t base_ = 1;
  uint32_t most_ = 1;
  uint32_t points_ = 0;
  std::string_view bytes_;  // of the points
};

}  // namespace nephila::item
