#include "item/budget_function.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nephila::item {
namespace {

using config::BudgetPolicy;

std::string Encode(BudgetPolicy policy) {
  const std::vector<BudgetPoint> points = {{5, 10}, {8, 500}, {100, 1000}};
  return EncodeBudgetFunction(policy, 10, 1000, points);
}

std::vector<uint64_t> Budgets(BudgetPolicy policy) {
  const std::string bytes = Encode(policy);
  const auto function = BudgetFunction::Read(bytes);
  EXPECT_TRUE(function.has_value());
  std::vector<uint64_t> budgets;
  for (const uint64_t in_degree :
       {uint64_t{0}, uint64_t{1}, uint64_t{7}, uint64_t{8}, uint64_t{99},
        uint64_t{100}, UINT64_MAX}) {
    budgets.push_back(function->Budget(in_degree));
  }
  return budgets;
}

TEST(BudgetFunction, GivesWhatThePolicySays) {
  using Budgeted = std::vector<uint64_t>;
  EXPECT_EQ(Budgets(BudgetPolicy::kTopK),
            (Budgeted{10, 10, 10, 500, 500, 1000, 1000}));
  EXPECT_EQ(Budgets(BudgetPolicy::kEqual),
            (Budgeted{10, 10, 10, 10, 10, 10, 10}));
  EXPECT_EQ(Budgets(BudgetPolicy::kPopular),
            (Budgeted{0, 0, 10, 500, 500, 1000, 1000}));
  EXPECT_EQ(Budgets(BudgetPolicy::kProportional),
            (Budgeted{10, 10, 70, 80, 990, 1000, 1000}));
  EXPECT_EQ(Budgets(BudgetPolicy::kInverse),
            (Budgeted{1000, 1000, 142, 125, 10, 10, 0}));
}

TEST(BudgetFunction, RefusesBytesThatAreNone) {
  const std::string bytes = Encode(BudgetPolicy::kTopK);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(BudgetFunction::Read(bytes.substr(0, size)).has_value());
  }
  EXPECT_FALSE(BudgetFunction::Read(bytes + "x").has_value());
  std::string other = bytes;
  other[0] = 2;
  EXPECT_FALSE(BudgetFunction::Read(other).has_value());
  other = bytes;
  other[1] = 5;
  EXPECT_FALSE(BudgetFunction::Read(other).has_value());
}

}  // namespace
}  // namespace nephila::item
