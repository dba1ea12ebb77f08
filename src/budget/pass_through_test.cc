#include "budget/pass_through.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nephila::budget {
namespace {

TEST(PassThrough, UrlsGoStraightOnAndAreCounted) {
  PassThrough stage(10);
  std::vector<std::string> out;
  const BudgetSink sink = [&](const BudgetedUrl& url) {
    EXPECT_EQ(url.budget, 10U);
    out.emplace_back(url.record);
  };
  stage.Pass("a", sink);
  stage.Pass("b", sink);
  EXPECT_EQ(out, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(stage.account().Totals().in, 2U);
  EXPECT_EQ(stage.account().Totals().out, 2U);
  EXPECT_EQ(stage.account().Imbalance(), 0);
  PassThrough again(10);
  ASSERT_TRUE(again.Restore(stage.Save()));
  again.Pass("c", sink);
  EXPECT_EQ(again.account().Totals().in, 3U);
  EXPECT_FALSE(PassThrough(10).Restore(""));
}

}  // namespace
}  // namespace nephila::budget
