#include "item/product_token.h"

#include <gtest/gtest.h>

namespace nephila::item {
namespace {

TEST(ProductToken, EndsWhereTheNameDoes) {
  EXPECT_EQ(ProductToken("nephila"), "nephila");
  EXPECT_EQ(ProductToken("nephila/1.0 (+https://a.example)"), "nephila");
  EXPECT_EQ(ProductToken(" \tFoo_Bar-Baz qux"), "Foo_Bar-Baz");
  EXPECT_EQ(ProductToken("*"), "");
  EXPECT_EQ(ProductToken(""), "");
  EXPECT_EQ(ProductToken("foo*bot"), "foo");
}

TEST(ProductToken, DigitsAndLettersBeyondAsciiBelongToIt) {
  EXPECT_EQ(ProductToken("MJ12bot/v1"), "MJ12bot");
  EXPECT_EQ(ProductToken("008"), "008");
  EXPECT_EQ(ProductToken("J\xc3\xa4vla-bot;"), "J\xc3\xa4vla-bot");
}

TEST(ProductToken, CaseDoesNotMatter) {
  EXPECT_TRUE(SameToken("Nephila", "nEPHILA"));
  EXPECT_FALSE(SameToken("nephila", "nephila2"));
  EXPECT_FALSE(SameToken("nephila", "nephil"));
}

TEST(ProductToken, AStarAloneMeansEveryone) {
  EXPECT_TRUE(MeansEveryone("*"));
  EXPECT_TRUE(MeansEveryone("* # all"));
  EXPECT_TRUE(MeansEveryone("**"));
  EXPECT_FALSE(MeansEveryone("*bot"));
  EXPECT_FALSE(MeansEveryone("bot*"));
  EXPECT_FALSE(MeansEveryone(""));
}

}  // namespace
}  // namespace nephila::item
