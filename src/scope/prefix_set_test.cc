#include "scope/prefix_set.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace nephila::scope {
namespace {

TEST(PrefixSet, FindsTheOneThatATextBeginsWith) {
  PrefixSet set;
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.Find("a"), std::nullopt);
  set.Add("(org,example,", 1);
  set.Add("(org,a,)/x/", 2);
  EXPECT_EQ(set.Find("(org,example,www,)/"), 1U);
  EXPECT_EQ(set.Find("(org,example,"), 1U);
  EXPECT_EQ(set.Find("(org,example"), std::nullopt);
  EXPECT_EQ(set.Find("(org,examples,)/"), std::nullopt);
  EXPECT_EQ(set.Find("(org,a,)/x/y"), 2U);
  EXPECT_EQ(set.Find("(org,a,)/y"), std::nullopt);
}

TEST(PrefixSet, OfTwoThatBeginAlikeTheShorterIsKept) {
  PrefixSet set;
  set.Add("abc", 1);
  set.Add("abd", 2);
  set.Add("ab", 3);
  EXPECT_EQ(set.size(), 1U);
  EXPECT_EQ(set.Find("abx"), 3U);
  set.Add("abe", 4);
  EXPECT_EQ(set.size(), 1U);
}

TEST(PrefixSet, IsRightForRandomTexts) {
  Random random(1);
  const auto word = [&random](size_t most) {
    std::string text;
    const uint64_t size = 1 + random.Below(most);
    for (uint64_t i = 0; i < size; ++i) {
      text += static_cast<char>('a' + random.Below(2));
    }
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    PrefixSet set;
    std::vector<std::string> all;
    for (int i = 0; i < 6; ++i) {
      all.push_back(word(6));
      set.Add(all.back(), 0);
    }
    for (int i = 0; i < 50; ++i) {
      const std::string text = word(9);
      bool begins = false;
      for (const std::string& one : all) {
        begins = begins || text.starts_with(one);
      }
      EXPECT_EQ(set.Find(text).has_value(), begins) << text;
    }
  }
}

}  // namespace
}  // namespace nephila::scope
