#include "config/toml_guard.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::config {
namespace {

std::string Repeat(std::string_view part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(TomlGuard, CountsThePartsOfAKey) {
  const std::string longest = Repeat("a.", kMaxKeyParts - 1) + "a = 1\n";
  EXPECT_EQ(FindTooDeepKey(""), std::nullopt);
  EXPECT_EQ(FindTooDeepKey(longest), std::nullopt);
  EXPECT_EQ(FindTooDeepKey(longest + "[" + longest + "]\n"), std::nullopt);
  EXPECT_EQ(FindTooDeepKey("a." + longest), 2 * kMaxKeyParts - 1);
  EXPECT_EQ(FindTooDeepKey("[a." + longest), 2 * kMaxKeyParts);
  EXPECT_TRUE(FindTooDeepKey("x = {b = 1, a." + longest).has_value());
}

TEST(TomlGuard, CountsQuotedPartsAndSpaces) {
  EXPECT_TRUE(FindTooDeepKey(Repeat("\"=\" . ", 40)).has_value());
  EXPECT_TRUE(FindTooDeepKey(Repeat("'[\"'.", 40)).has_value());
  EXPECT_TRUE(FindTooDeepKey(Repeat("\"\\\"=\".", 40)).has_value());
}

TEST(TomlGuard, IgnoresDotsInStringsAndComments) {
  const std::string dots = Repeat("a.", 100);
  for (const std::string& text :
       {"x = \"" + dots + "\"", "x = '" + dots + "'",
        "x = '''\n" + dots + "'''", "x = \"\"\"\n" + dots + "\"\"\"",
        "x = 1 # don't " + dots, "x = [\"" + dots + "\", \"" + dots + "\"]",
        "'" + dots + "' = 1", "x = \"\\\"" + dots + "\""}) {
    EXPECT_EQ(FindTooDeepKey(text), std::nullopt) << text;
  }
}

TEST(TomlGuard, SeesBehindStringsAndComments) {
  const std::string key = "\n" + Repeat("a.", 100);
  for (const std::string& text :
       {"x = \"\"" + key, "x = ''" + key, "x = '''a'''''" + key,
        "x = \"\"\"a\"\"\"\"" + key, "x = \"\"\"\"\"\"" + key,
        "x = 1 # don't" + key, "x = '\\'" + key, "x = \"\\\\\"" + key,
        "x = \"open" + key}) {
    EXPECT_TRUE(FindTooDeepKey(text).has_value()) << text;
  }
}

TEST(TomlGuard, SurvivesAnEndAnywhere) {
  for (std::string_view text : {"\"", "\"\"", "\"\"\"", "'", "''", "'''",
                                "\"\\", "\"\"\"\\", "\"\"\"a\"\"", "#", "a."}) {
    EXPECT_EQ(FindTooDeepKey(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace nephila::config
