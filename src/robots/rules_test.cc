#include "robots/rules.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/checksum.h"
#include "base/conformance_testing.h"
#include "base/random.h"
#include "robots/matcher.h"
#include "robots/rules_format.h"

namespace nephila::robots {
namespace {

constexpr char kFile[] =
    "User-agent: nephila\nDisallow: /a\nAllow: /ab\nDisallow: /x*y$\n"
    "Disallow: /x$\nAllow: /b**\nDisallow: /*.gif\nCrawl-delay: 2.5\n";

std::string Compiled(std::string_view text = kFile) {
  return CompileRules(Parse(text, "nephila", RobotsLimits()));
}

// So that damage behind the checksum is seen.
void Seal(std::string* bytes) {
  uint32_t checksum =
      Crc32c(std::string_view(*bytes).substr(0, kRulesChecksumAt));
  checksum = ExtendCrc32c(
      checksum, std::string_view(*bytes).substr(kRulesChecksumAt + 4));
  for (size_t i = 0; i < 4; ++i) {
    (*bytes)[kRulesChecksumAt + i] = static_cast<char>(checksum >> (8 * i));
  }
}

TEST(RobotsRules, KeepWhatTheFileSays) {
  std::string bytes = Compiled();
  auto rules = Rules::Open(bytes);
  ASSERT_TRUE(rules.has_value());
  EXPECT_EQ(rules->group(), Group::kOwn);
  EXPECT_EQ(rules->rule_count(), 6u);
  EXPECT_EQ(rules->wild_count(), 2u);
  EXPECT_EQ(rules->crawl_delay(), std::chrono::milliseconds(2500));
  EXPECT_FALSE(rules->cut());
  EXPECT_FALSE(rules->disallows_all());
  bytes = Compiled("User-agent: *\nDisallow:\n");
  rules = Rules::Open(bytes);
  ASSERT_TRUE(rules.has_value());
  EXPECT_EQ(rules->group(), Group::kEveryone);
  EXPECT_EQ(rules->crawl_delay(), std::nullopt);
  RobotsLimits limits;
  limits.max_bytes = 20;
  bytes = CompileRules(Parse(kFile, "nephila", limits));
  rules = Rules::Open(bytes);
  ASSERT_TRUE(rules.has_value());
  EXPECT_TRUE(rules->cut());
}

TEST(RobotsRules, AreCompact) {
  std::string text = "User-agent: *\n";
  for (int i = 0; i < 100; ++i) {
    text += "Disallow: /folder" + std::to_string(1000 + i) + "/\n";
  }
  // 12 bytes of path, and 14 of tables, each.
  EXPECT_EQ(Compiled(text).size(), kRulesHeaderBytes + 100 * (12 + 14));
}

TEST(RobotsRules, WideNumbersAreUsedWhereNarrowOnesEnd) {
  std::string text = "User-agent: *\n" + std::string(65533, '\n');
  std::string narrow =
      Compiled(text.substr(0, text.size() - 1) + "Disallow: /a\n");
  text += "Disallow: /a\nAllow: /b\nDisallow: /c*d\n";
  std::string wide = Compiled(text);
  EXPECT_EQ(narrow[5] & kWideFlag, 0);
  EXPECT_EQ(wide[5] & kWideFlag, kWideFlag);
  auto rules = Rules::Open(wide);
  ASSERT_TRUE(rules.has_value());
  Matcher matcher(*rules);
  EXPECT_EQ(matcher.Match("/a").line, 65535u);
  EXPECT_EQ(matcher.Match("/b").line, 65536u);
  EXPECT_EQ(matcher.Match("/cd").line, 65537u);
  EXPECT_TRUE(matcher.Match("/e").allowed);
  // A priority alone can need them.
  wide = Compiled("User-agent: *\nDisallow: /" + std::string(20000, '*'));
  rules = Rules::Open(wide);
  ASSERT_TRUE(rules.has_value());
  EXPECT_EQ(rules->RulePriority(0), 20001u);
}

TEST(RobotsRules, EveryFlippedBitAndEveryCutIsAnError) {
  std::string bytes = Compiled();
  for (size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string flipped = bytes;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ (1 << (i % 8)));
    EXPECT_FALSE(Rules::Open(flipped).has_value()) << i;
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Rules::Open(bytes.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(Rules::Open(bytes + "x").has_value());
}

TEST(RobotsRules, ALaterVersionIsSaidToBeOne) {
  std::string bytes = Compiled();
  bytes[4] = kRulesVersion + 1;
  Seal(&bytes);
  EXPECT_EQ(Rules::Open(bytes).error().code, ErrorCode::kUnsupported);
  bytes[4] = 0;
  Seal(&bytes);
  EXPECT_EQ(Rules::Open(bytes).error().code, ErrorCode::kCorruption);
}

// What an enemy could write: the checksum is right and the tables are not.
TEST(RobotsRules, ForgedTablesAreRefusedOrMatchedWithinTheirBytes) {
  Random random(3);
  int refused = 0;
  int opened = 0;
  const std::string good = Compiled();
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    for (uint64_t n = 1 + random.Below(3); n > 0; --n) {
      size_t at = kRulesChecksumAt + 4 +
                  random.Below(bytes.size() - kRulesChecksumAt - 4);
      bytes[at] = static_cast<char>(random.Below(256));
    }
    Seal(&bytes);
    auto rules = Rules::Open(bytes);
    if (!rules) {
      ++refused;
      continue;
    }
    ++opened;
    for (WildWay way : {WildWay::kEach, WildWay::kScan}) {
      Matcher matcher(*rules, way);
      for (const char* path : {"/", "/ab", "/xzzy", "/q.gif", "/b"}) {
        Answer answer = matcher.Match(path);
        if (answer.rule != Rules::kNone) rules->RuleText(answer.rule);
      }
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(opened, 1000);
}

TEST(RobotsRules, TheFormatIsThatOfTheGoldenFile) {
  std::string bytes = Compiled();
  std::string golden = ReadTestData("robots/rules-v1");
  if (bytes != golden) {
    std::string path = testing::TempDir() + "robots-rules";
    std::ofstream(path, std::ios::binary) << bytes;
    ADD_FAILURE() << "the bytes differ; they are in " << path;
  }
}

}  // namespace
}  // namespace nephila::robots
