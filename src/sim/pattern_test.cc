#include "sim/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::sim {
namespace {

TEST(PatternTest, TakesAStarForAnyText) {
  EXPECT_TRUE(Matches("*", ""));
  EXPECT_TRUE(Matches("*", "abc"));
  EXPECT_TRUE(Matches("a*c", "abc"));
  EXPECT_TRUE(Matches("a*c", "ac"));
  EXPECT_TRUE(Matches("*.com", "www.a.com"));
  EXPECT_TRUE(Matches("*b*d", "abcbd"));
  EXPECT_TRUE(Matches("a**", "a"));
}

TEST(PatternTest, TakesEverythingElseLiterally) {
  EXPECT_TRUE(Matches("/a?b[c]", "/a?b[c]"));
  EXPECT_FALSE(Matches("/a?b", "/axb"));
  EXPECT_FALSE(Matches("", "a"));
  EXPECT_FALSE(Matches("a", ""));
  EXPECT_FALSE(Matches("*.com", "com"));
  EXPECT_FALSE(Matches("a*c", "abcd"));
}

// Backtracking into earlier stars would take 2^20 steps and more.
TEST(PatternTest, IsNotTrappedByManyStars) {
  std::string pattern;
  for (int i = 0; i < 40; ++i) pattern += "*a";
  EXPECT_FALSE(Matches(pattern + "b", std::string(10'000, 'a')));
}

}  // namespace
}  // namespace nephila::sim
