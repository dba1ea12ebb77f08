#include "scope/pattern_set.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file_testing.h"

namespace nephila::scope {
namespace {

PatternSet SetOf(const std::vector<std::string>& patterns) {
  return Must(PatternSet::Make("scope.deny", patterns));
}
std::string ErrorOf(const std::vector<std::string>& patterns) {
  const auto made = PatternSet::Make("scope.deny", patterns);
  return made.has_value() ? "" : made.error().message;
}

TEST(PatternSet, FindsAPatternAnywhereInAText) {
  const PatternSet set = SetOf({"\\.pdf$", "^https?://a\\.test/", "[?&]sid="});
  EXPECT_TRUE(set.Matches("http://b.test/x.pdf"));
  EXPECT_TRUE(set.Matches("http://a.test/"));
  EXPECT_TRUE(set.Matches("http://b.test/?x=1&sid=2"));
  EXPECT_FALSE(set.Matches("http://b.test/x.pdf?"));
  EXPECT_EQ(set.Find("http://a.test/x.pdf"), "\\.pdf$");
  EXPECT_EQ(set.Find("http://a.test/x"), "^https?://a\\.test/");
  EXPECT_EQ(set.Find("http://b.test/x"), std::nullopt);
  EXPECT_TRUE(SetOf({"\xC3"}).Matches("\xC3\x28"));
}

TEST(PatternSet, WithoutPatternsNothingIsFound) {
  const PatternSet set = SetOf({});
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(set.Matches("x"));
  EXPECT_EQ(set.Find("x"), std::nullopt);
}

TEST(PatternSet, ABadPatternIsNamedInOneLine) {
  EXPECT_EQ(ErrorOf({"ok", "a(b"}),
            "scope.deny: 'a(b' is no pattern: missing ): a(b");
  EXPECT_NE(ErrorOf({"(?=x)"}), "");  // RE2 has no look-ahead
  EXPECT_NE(ErrorOf({"((a{1,100}){1,100}){1,100}"}), "");  // too large
  EXPECT_NE(
      ErrorOf(std::vector<std::string>(PatternSet::kMostPatterns + 1, "a")),
      "");
  EXPECT_EQ(ErrorOf({"a\n("}).find('\n'), std::string::npos);
}

TEST(PatternSet, IsRightWhereTheAutomatonHasNoRoom) {
  // The states that this can be in are more than any memory holds.
  const PatternSet set = SetOf({"[ab]*a[ab]{18}c", "x{1000}y"});
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += i * 7919 % 13 < 6 ? 'a' : 'b';
  EXPECT_FALSE(set.Matches(text));
  text[text.size() - 19] = 'a';
  EXPECT_TRUE(set.Matches(text + "c"));
}

}  // namespace
}  // namespace nephila::scope
