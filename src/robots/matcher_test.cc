#include "robots/matcher.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "robots/reference_testing.h"
#include "url/parser.h"

namespace nephila::robots {
namespace {

// The deciding line, negative if it forbids, 0 by default; by both ways of
// matching, which have to agree with the reference.
int Line(const std::string& rules_text, std::string_view path) {
  RobotsFile file = Parse("User-agent: *\n" + rules_text, "a", RobotsLimits());
  std::string bytes = CompileRules(file);
  auto rules = Rules::Open(bytes);
  EXPECT_TRUE(rules.has_value());
  int seen = 0;
  for (WildWay way : {WildWay::kEach, WildWay::kScan}) {
    Answer answer = Matcher(*rules, way).Match(path);
    EXPECT_TRUE(AnswerIsRight(file, path, answer)) << path << "\n"
                                                   << rules_text;
    int line = static_cast<int>(answer.line);
    seen = answer.allowed ? line : -line;
  }
  return seen;
}

bool Matches(const std::string& pattern, std::string_view path) {
  return Line("Disallow: " + pattern, path) < 0;
}

TEST(RobotsMatcher, TheLongestRuleWinsAndAllowOnTies) {
  const std::string rules =
      "Disallow: /\nAllow: /a\nDisallow: /ab\nAllow: /ab\nDisallow: /abc\n";
  EXPECT_EQ(Line(rules, "/"), -2);
  EXPECT_EQ(Line(rules, "/a"), 3);
  EXPECT_EQ(Line(rules, "/ab"), 5);
  EXPECT_EQ(Line(rules, "/abd"), 5);
  EXPECT_EQ(Line(rules, "/abcd"), -6);
  EXPECT_EQ(Line("Allow: /x", "/y"), 0);
  EXPECT_EQ(Line("", "/"), 0);
  // The order of the file does not matter.
  EXPECT_EQ(Line("Allow: /a\nDisallow: /\n", "/a"), 2);
}

TEST(RobotsMatcher, OctetsCountWithStarsAndDollar) {
  EXPECT_EQ(Line("Allow: /a\nDisallow: /a*\n", "/a"), -3);
  EXPECT_EQ(Line("Allow: /ab\nDisallow: /a***\n", "/ab"), -3);
  EXPECT_EQ(Line("Disallow: /ab\nAllow: /ab$\n", "/ab"), 3);
  EXPECT_EQ(Line("Disallow: /ab\nAllow: /ab$\n", "/abc"), -2);
  EXPECT_EQ(Line("Allow: /page\nDisallow: /*.htm\n", "/page.htm"), -3);
  EXPECT_EQ(Line("Allow: /p\nDisallow: /\n", "/page"), 2);
  EXPECT_EQ(Line("Allow: /$\nDisallow: /\n", "/"), 2);
  EXPECT_EQ(Line("Allow: /$\nDisallow: /\n", "/page.htm"), -3);
  EXPECT_EQ(Line("Disallow: /x*\nAllow: /x$\n", "/x"), 3);
}

TEST(RobotsMatcher, StarsAndDollars) {
  EXPECT_TRUE(Matches("/fish*.php", "/fishheads/catfish.php?parameters"));
  EXPECT_FALSE(Matches("/fish*.php", "/Fish.PHP"));
  EXPECT_TRUE(Matches("/*.php$", "/folder/filename.php"));
  EXPECT_FALSE(Matches("/*.php$", "/filename.php?parameters"));
  EXPECT_FALSE(Matches("/*.php$", "/filename.php/"));
  EXPECT_TRUE(Matches("/*.php*$", "/filename.php/"));
  EXPECT_TRUE(Matches("*", "/"));
  EXPECT_TRUE(Matches("*$", "/x"));
  EXPECT_TRUE(Matches("*x", "/abx"));
  EXPECT_TRUE(Matches("/a*b*c", "/a--b--c--"));
  EXPECT_FALSE(Matches("/a*b*c", "/a--c--b--"));
  EXPECT_FALSE(Matches("/a*a$", "/a"));
  EXPECT_TRUE(Matches("/a*a$", "/aa"));
  EXPECT_TRUE(Matches("/**a**b", "/xaxb"));
  // The end of one piece and the beginning of the next do not overlap.
  EXPECT_FALSE(Matches("/*aba*bab", "/ababa"));
  EXPECT_TRUE(Matches("/*aba*bab", "/ababab"));
  EXPECT_FALSE(Matches("/*ab*ba$", "/aba"));
  // A '$' elsewhere is a character.
  EXPECT_TRUE(Matches("/a$b", "/a$b"));
  EXPECT_TRUE(Matches("/a$b", "/a%24b"));
  EXPECT_FALSE(Matches("/a$b", "/a"));
  EXPECT_TRUE(Matches("/a$$", "/a$"));
}

TEST(RobotsMatcher, EscapesThatMeanTheSameAreTheSame) {
  EXPECT_TRUE(
      Matches("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar"));
  EXPECT_TRUE(Matches("/%62%61%7a", "/baz"));
  EXPECT_TRUE(Matches("/baz", "/%62a%7A"));
  EXPECT_TRUE(Matches("/\xe3\x83\x84", "/%e3%83%84"));
  EXPECT_TRUE(Matches("/%E3%83%84", "/\xe3\x83\x84"));
  EXPECT_TRUE(Matches("/a b", "/a%20b"));
  EXPECT_TRUE(Matches("/a<b", "/a%3cb"));
  EXPECT_TRUE(Matches("/100%", "/100%25"));
  EXPECT_TRUE(Matches("/%2A", "/*"));
  EXPECT_TRUE(Matches("/%2a", "/%2A"));
  EXPECT_FALSE(Matches("/%2A", "/x"));
  EXPECT_TRUE(Matches("/%24$", "/$"));
  // Reserved characters are not their escapes (s2.2.2).
  EXPECT_FALSE(Matches("/a%2Fb", "/a/b"));
  EXPECT_TRUE(Matches("/a%2fb", "/a%2Fb"));
  EXPECT_FALSE(Matches("/a?b", "/a%3Fb"));
  // A cut escape is a percent sign and letters.
  EXPECT_TRUE(Matches("/%4", "/%4"));
  EXPECT_TRUE(Matches("/%zz", "/%25zz"));
}

TEST(RobotsMatcher, RobotsTxtIsAlwaysAllowedAndEmptyPathsAreTheRoot) {
  EXPECT_EQ(Line("Disallow: /\n", "/robots.txt"), 0);
  EXPECT_EQ(Line("Disallow: /\n", "/robots.txt?x"), -2);
  EXPECT_EQ(Line("Disallow: /$\n", ""), -2);
}

TEST(RobotsMatcher, SaysTheRuleAndItsLine) {
  RobotsFile file = Parse(
      "User-agent: *\nDisallow: /a%62c\nAllow: /x*y**$\nAllow: /z$\n"
      "Disallow: /a*b*c$\nDisallow: /q***\n",
      "a", RobotsLimits());
  std::string bytes = CompileRules(file);
  auto rules = Rules::Open(bytes);
  ASSERT_TRUE(rules.has_value());
  Matcher matcher(*rules);
  auto text = [&](std::string_view path) {
    return rules->RuleText(matcher.Match(path).rule);
  };
  EXPECT_EQ(text("/abcd"), "Disallow: /abc");
  EXPECT_EQ(text("/xxyy"), "Allow: /x*y**$");
  EXPECT_EQ(text("/z"), "Allow: /z$");
  EXPECT_EQ(text("/a-b-c"), "Disallow: /a*b*c$");
  EXPECT_EQ(text("/q"), "Disallow: /q***");
  EXPECT_EQ(matcher.Match("/z").line, 4u);
  EXPECT_EQ(matcher.Match("/zz").rule, Rules::kNone);
}

TEST(RobotsMatcher, OfEqualRulesTheFirstLineIsNamed) {
  EXPECT_EQ(Line("Disallow: /a\nDisallow: /a\n", "/a"), -2);
  EXPECT_EQ(Line("Disallow: /a*b\nDisallow: /a*b\n", "/ab"), -2);
}

TEST(RobotsMatcher, TheMatchedPartOfAUrlIsPathAndQuery) {
  auto part = [](std::string_view text) {
    url::Url url;
    EXPECT_TRUE(url::Parse(text, nullptr, &url).has_value());
    return std::string(MatchedPart(url));
  };
  EXPECT_EQ(part("http://a.example"), "/");
  EXPECT_EQ(part("http://u:p@a.example:8/b/../c?d=/e#f?g"), "/c?d=/e");
  EXPECT_EQ(part("http://a.example/?#"), "/?");
}

// Short alphabets make prefixes, repeats and overlaps frequent.
std::string RandomText(Random* random, std::string_view letters,
                       uint64_t longest) {
  std::string text;
  for (uint64_t n = random->Below(longest + 1); n > 0; --n) {
    text += letters[random->Below(letters.size())];
  }
  return text;
}

TEST(RobotsMatcher, AgreesWithTheReferenceOnRandomRules) {
  Random random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string text = "User-agent: *\n";
    for (uint64_t n = random.Below(12); n > 0; --n) {
      text += random.Chance(0.4) ? "Allow: /" : "Disallow: /";
      text += RandomText(&random, random.Chance(0.5) ? "ab*" : "aab", 8);
      if (random.Chance(0.2)) text += '$';
      text += '\n';
    }
    RobotsFile file = Parse(text, "a", RobotsLimits());
    std::string bytes = CompileRules(file);
    auto rules = Rules::Open(bytes);
    ASSERT_TRUE(rules.has_value()) << text;
    Matcher single(*rules, WildWay::kEach);
    Matcher scanning(*rules, WildWay::kScan);
    for (int i = 0; i < 10; ++i) {
      std::string path = "/" + RandomText(&random, "aab", 14);
      EXPECT_TRUE(AnswerIsRight(file, path, single.Match(path)))
          << text << path;
      EXPECT_TRUE(AnswerIsRight(file, path, scanning.Match(path)))
          << text << path;
    }
  }
}

}  // namespace
}  // namespace nephila::robots
