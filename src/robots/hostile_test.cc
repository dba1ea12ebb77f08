// Files and paths made to hurt: an answer, and in work that grows with the
// bytes. Steps are bytes compared or searched, the same on every machine.

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/cpu_time.h"
#include "robots/matcher.h"

namespace nephila::robots {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

std::string Repeat(std::string_view piece, size_t bytes) {
  std::string text;
  text.reserve(bytes + piece.size());
  while (text.size() < bytes) text += piece;
  return text;
}

struct Work {
  uint64_t steps = 0;
  double seconds = 0;
};

Work Match(const std::string& rules_text, const std::string& path) {
  std::string bytes =
      CompileRules(Parse("User-agent: *\n" + rules_text, "a", RobotsLimits()));
  auto rules = Rules::Open(bytes);
  EXPECT_TRUE(rules.has_value());
  Matcher matcher(*rules);
  double begin = ThreadCpuSeconds();
  matcher.Match(path);
  return {matcher.steps(), ThreadCpuSeconds() - begin};
}

// One rule of any shape, and a path of 64 KiB and of 1 MiB: the same few steps
// for each byte of both, and no step is more than a few nanoseconds.
TEST(RobotsHostile, OneRuleTakesStepsByTheLengthOfThePath) {
  const std::string rules[] = {
      "/" + Repeat("a*", 200) + "b",
      "/" + Repeat("*a", 200) + "*b$",
      "/*" + std::string(200, 'a') + "b",
      "/*" + std::string(3000, 'a') + "b",
      "/*" + Repeat("ab", 300) + "*" + Repeat("ba", 300) + "c",
      "/" + std::string(3000, '*') + "b",
      "/" + Repeat("**a", 3000) + "b",
      "/" + std::string(100000, 'a') + "*b",
  };
  for (const std::string& rule : rules) {
    // The last two are three bytes each in the spelling that is matched.
    for (const char* piece : {"a", "ab", "aab", "%61", "*", "%"}) {
      std::string shown = rule.substr(0, 20) + " on " + piece;
      Work small = Match("Disallow: " + rule, "/" + Repeat(piece, 64 << 10));
      Work large = Match("Disallow: " + rule, "/" + Repeat(piece, kMegabyte));
      EXPECT_LE(small.steps, 4 * 3 * (kMegabyte / 16) + rule.size()) << shown;
      EXPECT_LE(large.steps, 4 * 3 * kMegabyte + rule.size()) << shown;
      EXPECT_LT(large.seconds, 2) << shown;
    }
  }
}

// Rules that fill 500 KiB, against a path of 1 MiB and one sixteenth of it.
void ExpectBounded(const std::string& name, const std::string& rules,
                   const std::string& path, uint64_t steps_per_byte) {
  ASSERT_LE(rules.size(), 520000u) << name;
  Work small = Match(rules, path.substr(0, path.size() / 16));
  Work large = Match(rules, path);
  // What the rules cost by themselves is paid once.
  uint64_t fixed = 4 * kMegabyte;
  EXPECT_LE(large.steps, 17 * small.steps + fixed) << name;
  EXPECT_LE(large.steps, steps_per_byte * path.size() + fixed) << name;
  EXPECT_LT(large.seconds, 10) << name;
}

std::string Number(size_t i) {
  std::string digits;
  for (size_t k = 0; k < 4; ++k, i /= 26) {
    digits += static_cast<char>('a' + i % 26);
  }
  return digits;
}

TEST(RobotsHostile, FilesOfManyRulesTakeOnePassOverThePath) {
  const std::string path = "/" + Repeat("abcdefgh", kMegabyte);
  std::string plain;
  std::string wild;
  std::string pairs;
  std::string anchored;
  for (size_t i = 0; plain.size() < 500000; ++i) {
    plain += "Allow:/" + Number(i) + "\n";
    if (wild.size() < 500000) wild += "Allow:/*" + Number(i) + "\n";
    if (pairs.size() < 500000) {
      pairs += "Allow:*" + Number(i) + "*" + Number(i * 7) + "\n";
    }
    if (anchored.size() < 500000) {
      anchored += "Allow:/*" + Number(i) + "*x$\n";
    }
  }
  ExpectBounded("plain", plain, path, 2);
  ExpectBounded("wild", wild, path, 5);
  ExpectBounded("pairs", pairs, path, 5);
  ExpectBounded("anchored", anchored, path, 5);
}

TEST(RobotsHostile, PiecesThatContainEachOtherCostAtMostOneOfEachLength) {
  // The worst that 500 KiB can hold: a, aa, aaa, ..., none of which is ever
  // waited for, as 'b' does not come.
  std::string nested;
  for (size_t i = 1; nested.size() + i + 12 < 500000; ++i) {
    nested += "Allow:/*b*" + std::string(i, 'a') + "\n";
  }
  std::string path = "/" + std::string(kMegabyte / 4, 'a');
  ExpectBounded("nested", nested, path, 1024);
  // The same where they are passed at once.
  std::string passed;
  for (size_t i = 1; passed.size() + i + 12 < 500000; ++i) {
    passed += "Allow:/*" + std::string(i, 'a') + "*b\n";
  }
  ExpectBounded("passed", passed, path, 1024);
}

TEST(RobotsHostile, LongPrefixesInCommonAreComparedWithinTheRules) {
  std::string rules;
  std::string prefix(2000, 'a');
  for (size_t i = 0; rules.size() < 490000; ++i) {
    rules += "Allow:/" + prefix + Number(i) + "\n";
  }
  ExpectBounded("prefix", rules, "/" + std::string(kMegabyte, 'a'), 2);
  std::string chain;
  for (size_t i = 1; chain.size() + i < 490000; ++i) {
    chain += "Allow:/" + std::string(i, 'a') + "\n";
  }
  ExpectBounded("chain", chain, "/" + std::string(kMegabyte, 'a'), 2);
  ExpectBounded("chain, left at once", chain, "/" + Repeat("ab", kMegabyte), 2);
}

TEST(RobotsHostile, ParsingTakesTimeByTheLengthOfTheFile) {
  const std::string cases[] = {
      Repeat("\r", 512000),
      Repeat("\n", 512000),
      Repeat("a:", 512000),
      Repeat("disallo: /\n", 512000),
      Repeat("#", 512000),
      Repeat(" ", 512000),
      Repeat("user-agent:*\n", 512000),
      std::string(512000, '\0'),
      Repeat("Sitemap:x\n", 512000),
      Repeat("\xff\xfe", 512000),
      "User-agent:*\nDisallow:/" + Repeat("%", 500000),
      "User-agent:*\nDisallow:/" + Repeat("\xff", 500000),
      "User-agent:*\n" + Repeat("Disallow:/*\n", 500000),
      "User-agent:*\nCrawl-delay:" + Repeat("9", 500000)};
  for (const std::string& text : cases) {
    double begin = ThreadCpuSeconds();
    std::string bytes = CompileRules(Parse(text, "a", RobotsLimits()));
    EXPECT_LT(ThreadCpuSeconds() - begin, 3) << text.substr(0, 30);
    EXPECT_TRUE(Rules::Open(bytes).has_value()) << text.substr(0, 30);
  }
}

}  // namespace
}  // namespace nephila::robots
