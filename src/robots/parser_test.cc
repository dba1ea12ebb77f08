#include "robots/parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nephila::robots {
namespace {

using std::chrono::milliseconds;

RobotsFile Read(std::string_view text, std::string_view agent = "nephila") {
  RobotsLimits limits;
  limits.max_findings = 100;
  return Parse(text, agent, limits);
}

// "-/x@2" is "Disallow: /x" in line 2, with the pattern's ending.
std::vector<std::string> RulesOf(const RobotsFile& file) {
  std::vector<std::string> rules;
  for (const Rule& rule : file.rules) {
    std::string text = rule.allow ? "+" : "-";
    text += file.TextOf(rule);
    text.append(rule.pattern.priority - rule.pattern.size -
                    (rule.pattern.dollar ? 1 : 0),
                '*');
    if (rule.pattern.dollar) text += '$';
    rules.push_back(text + "@" + std::to_string(rule.line));
  }
  return rules;
}

using Rows = std::vector<std::string>;

uint32_t Count(const RobotsFile& file, Deviation kind) {
  return file.deviations[static_cast<size_t>(kind)];
}

uint32_t AllDeviations(const RobotsFile& file) {
  uint32_t sum = 0;
  for (uint32_t count : file.deviations) sum += count;
  return sum;
}

TEST(RobotsParser, ACleanFileHasNoDeviation) {
  RobotsFile file = Read(
      "# all\nUser-agent: *\nAllow: /a$\nDisallow: /b*c\n\n"
      "Sitemap: https://a.example/s.xml\nCrawl-delay: 2\nHost: a.example\n");
  EXPECT_EQ(RulesOf(file), (Rows{"+/a$@3", "-/b*c@4"}));
  EXPECT_EQ(file.group, Group::kEveryone);
  EXPECT_EQ(file.groups, 1u);
  EXPECT_EQ(file.lines, 8u);
  EXPECT_EQ(file.crawl_delay, milliseconds(2000));
  EXPECT_EQ(file.sitemaps, (Rows{"https://a.example/s.xml"}));
  EXPECT_EQ(AllDeviations(file), 0u);
}

TEST(RobotsParser, OwnGroupsAreMergedElseThoseForEveryone) {
  const char* text =
      "User-agent: *\nDisallow: /1\n"
      "User-agent: NEPHILA/2.0\nDisallow: /2\n"
      "User-agent: other\nDisallow: /3\n"
      "User-agent: x\nUser-agent: nephila\nDisallow: /4\n"
      "User-agent: *\nDisallow: /5\n";
  EXPECT_EQ(RulesOf(Read(text)), (Rows{"-/2@4", "-/4@9"}));
  EXPECT_EQ(Read(text).group, Group::kOwn);
  EXPECT_EQ(RulesOf(Read(text, "zzz")), (Rows{"-/1@2", "-/5@11"}));
  EXPECT_EQ(RulesOf(Read(text, "*")), (Rows{"-/1@2", "-/5@11"}));
  EXPECT_EQ(RulesOf(Read(text, "")), (Rows{"-/1@2", "-/5@11"}));
  EXPECT_EQ(Read(text).groups, 5u);
  EXPECT_EQ(Read("User-agent: other\nDisallow: /").group, Group::kNone);
}

TEST(RobotsParser, AnOwnGroupWithoutRulesAllowsAll) {
  RobotsFile file =
      Read("User-agent: *\nDisallow: /\nUser-agent: nephila\nDisallow:\n");
  EXPECT_EQ(file.group, Group::kOwn);
  EXPECT_TRUE(file.rules.empty());
}

TEST(RobotsParser, BlankAndOtherLinesDoNotDivideAGroup) {
  RobotsFile file = Read(
      "User-agent: nephila\n\nSitemap: http://a/\nfoo: bar\n\n"
      "User-agent: x\n# x\n\nDisallow: /1\n\nfoo: bar\nDisallow: /2\n");
  EXPECT_EQ(RulesOf(file), (Rows{"-/1@9", "-/2@12"}));
  EXPECT_EQ(file.groups, 1u);
}

TEST(RobotsParser, EveryLineEndingAndMixedOnes) {
  for (const char* text : {"User-agent: *\nDisallow: /a\nDisallow: /b",
                           "User-agent: *\rDisallow: /a\rDisallow: /b\r",
                           "User-agent: *\r\nDisallow: /a\r\nDisallow: /b\r\n",
                           "User-agent: *\rDisallow: /a\r\nDisallow: /b\n"}) {
    RobotsFile file = Read(text);
    EXPECT_EQ(RulesOf(file), (Rows{"-/a@2", "-/b@3"})) << text;
    EXPECT_EQ(file.lines, 3u) << text;
  }
  EXPECT_EQ(RulesOf(Read("User-agent:*\n\rDisallow:/a")), Rows{"-/a@3"});
}

TEST(RobotsParser, MarksOfUnicodeAreNotPartOfTheFirstLine) {
  const std::string rest = "User-agent: *\nDisallow: /\xc3\xa4\n";
  for (const char* mark : {"", "\xef\xbb\xbf", "\xef\xbb", "\xef"}) {
    EXPECT_EQ(RulesOf(Read(mark + rest)), Rows{"-/%C3%A4@2"});
  }
  std::string little = "\xff\xfe";
  std::string big = "\xfe\xff";
  for (unsigned char c : std::string("User-agent: *\nDisallow: /\xe4\n")) {
    little.append({static_cast<char>(c), '\0'});
    big.append({'\0', static_cast<char>(c)});
  }
  for (const std::string& text : {little, big, big + "x"}) {
    EXPECT_EQ(RulesOf(Read(text)), Rows{"-/%C3%A4@2"});
    EXPECT_EQ(Count(Read(text), Deviation::kUtf16), 1u);
  }
  // Surrogates: a pair, and halves of one.
  std::string begin = "\xfe\xff";
  for (char c : std::string("User-agent:*\nDisallow:/"))
    begin.append({'\0', c});
  std::string pair = begin + "\xd8\x3d\xde" + std::string(1, '\0');
  std::string halves = begin + "\xdc\x3d\xd8\x3d" + std::string("\0a", 2);
  EXPECT_EQ(RulesOf(Read(pair)), Rows{"-/%F0%9F%98%80@2"});
  EXPECT_EQ(RulesOf(Read(halves)), Rows{"-/%EF%BF%BD%EF%BF%BDa@2"});
}

TEST(RobotsParser, WhatRestrictsUsIsReadWithItsErrors) {
  RobotsFile file = Read(
      "useragent: *\nDisalow: /1\nDissallow: /2\nDIS-ALLOW : /3\n"
      "Disallaw: /4\nDiasllow: /5\ndisallow /6\nDisallows: /7\n"
      "disallow /8:9\ncrawl delay: 3\nsite-map: http://a/s\n");
  EXPECT_EQ(RulesOf(file), (Rows{"-/1@2", "-/2@3", "-/3@4", "-/4@5", "-/5@6",
                                 "-/6@7", "-/7@8", "-/8:9@9"}));
  EXPECT_EQ(Count(file, Deviation::kMisspelled), 9u);
  EXPECT_EQ(Count(file, Deviation::kMissingColon), 2u);
  EXPECT_EQ(file.crawl_delay, milliseconds(3000));
  EXPECT_EQ(file.sitemaps.size(), 1u);
  for (const char* agent : {"user agent: nephila", "User_Agent:nephila",
                            "user-agent nephila", "User-Agents: nephila",
                            "Useragnet: nephila", "  uSeR-aGeNt\t:  nephila"}) {
    file = Read(std::string(agent) + "\nDisallow: /");
    EXPECT_EQ(file.group, Group::kOwn) << agent;
  }
}

TEST(RobotsParser, WhatNoEditorShowsIsNotPartOfWhatRestrictsUs) {
  RobotsFile file = Read(
      "\xef\xbb\xbfUser-agent:\xc2\xa0*\n\xef\xbb\xbf"
      "Disallow: /1\xc2\xa0\n"
      "Disallow: /2\xe2\x80\x8e\xe2\x80\x8b \nAllow: /3\xc2\xa0\n");
  EXPECT_EQ(RulesOf(file), (Rows{"-/1@2", "-/2@3", "+/3%C2%A0@4"}));
  EXPECT_EQ(Count(file, Deviation::kControl), 3u);
}

TEST(RobotsParser, WhatPermitsIsReadByTheLetter) {
  RobotsFile file = Read(
      "User-agent: *\nAlow: /1\nAllows: /2\nallow /3\nAllow: 4\n"
      "Allow: http://a.example/5\nALLOW :/6\nDisallow: /\n");
  EXPECT_EQ(RulesOf(file), (Rows{"+/6@7", "-/@8"}));
  EXPECT_EQ(Count(file, Deviation::kPathWithoutSlash), 2u);
}

TEST(RobotsParser, ProseIsNoRule) {
  RobotsFile file = Read(
      "User-agent: *\nPlease disallow nothing\nDisallow all of it\n"
      "disallow\nNoallow: /\nhallow: /\nslow: /\nallow\n");
  EXPECT_TRUE(file.rules.empty());
  EXPECT_EQ(Count(file, Deviation::kNoDirective), 3u);
  EXPECT_EQ(Count(file, Deviation::kUnknownDirective), 3u);
  EXPECT_EQ(Count(file, Deviation::kMissingColon), 1u);
}

TEST(RobotsParser, PathsOfDisallowThatLackTheirSlash) {
  RobotsFile file = Read(
      "User-agent: *\nDisallow: a/b\nDisallow: https://x.example/c?d\n"
      "Disallow: HTTP://x.example\nDisallow: ?q\nDisallow: $\nDisallow: "
      "*.gif$\n");
  EXPECT_EQ(RulesOf(file), (Rows{"-/a/b@2", "-/c?d@3", "-/?q@5", "-*.gif$@7"}));
  EXPECT_EQ(Count(file, Deviation::kPathWithoutSlash), 5u);
}

TEST(RobotsParser, RulesBeforeAnyGroupAreNobodys) {
  RobotsFile file =
      Read("Disallow: /\nCrawl-delay: 9\nUser-agent: *\nDisallow: /a\n");
  EXPECT_EQ(RulesOf(file), Rows{"-/a@4"});
  EXPECT_EQ(file.crawl_delay, std::nullopt);
  EXPECT_EQ(Count(file, Deviation::kRuleBeforeGroup), 2u);
}

TEST(RobotsParser, CommentsAndBlanksAreNotPartOfValues) {
  RobotsFile file = Read(
      "User-agent: * # everyone\n\t Disallow \t:\t /a b \t#c\n"
      "Disallow: /#x\n#Disallow: /no\nDisallow:#\n");
  EXPECT_EQ(RulesOf(file), (Rows{"-/a%20b@2", "-/@3"}));
  EXPECT_EQ(AllDeviations(file), 0u);
}

TEST(RobotsParser, CrawlDelaysOfEveryForm) {
  auto delay = [](const std::string& value) {
    return Read("User-agent: *\nCrawl-delay: " + value).crawl_delay;
  };
  EXPECT_EQ(delay("10"), milliseconds(10000));
  EXPECT_EQ(delay("0.5"), milliseconds(500));
  EXPECT_EQ(delay(".5"), milliseconds(500));
  EXPECT_EQ(delay("1."), milliseconds(1000));
  EXPECT_EQ(delay("0"), milliseconds(0));
  EXPECT_EQ(delay("5 sec"), milliseconds(5000));
  EXPECT_EQ(delay("1.5.7"), milliseconds(1500));
  EXPECT_EQ(delay("0.0004"), milliseconds(0));
  EXPECT_EQ(delay("3600"), milliseconds(3600000));
  for (const char* none : {"", "-1", "x", ".", "[5]", "inf", "nan"}) {
    EXPECT_EQ(delay(none), std::nullopt) << none;
  }
  EXPECT_EQ(Count(Read("User-agent: *\nCrawl-delay: 5s\nCrawl-delay: x\n"),
                  Deviation::kCrawlDelay),
            2u);
}

TEST(RobotsParser, AbsurdDelaysAreBoundedLongOnesAreNot) {
  std::string text = "User-agent: *\nCrawl-delay: ";
  EXPECT_EQ(Read(text + "86400").crawl_delay, std::chrono::hours(24));
  EXPECT_EQ(Read(text + "86401").crawl_delay, std::chrono::hours(24));
  EXPECT_EQ(Read(text + std::string(1000, '9')).crawl_delay,
            std::chrono::hours(24));
  RobotsLimits limits;
  limits.max_crawl_delay = std::chrono::seconds(5);
  EXPECT_EQ(Parse(text + "7", "a", limits).crawl_delay, milliseconds(5000));
}

TEST(RobotsParser, ADelayIsForTheAgentsAboveItAndTheLongestHolds) {
  const char* text =
      "User-agent: a\nCrawl-delay: 5\nUser-agent: b\nDisallow: /x\n"
      "User-agent: a\nCrawl-delay: 3\nUser-agent: *\nCrawl-delay: 1\n";
  EXPECT_EQ(Read(text, "a").crawl_delay, milliseconds(5000));
  EXPECT_EQ(Read(text, "b").crawl_delay, std::nullopt);
  EXPECT_EQ(RulesOf(Read(text, "a")), Rows{"-/x@4"});
  EXPECT_EQ(Read(text, "c").crawl_delay, milliseconds(1000));
}

TEST(RobotsParser, SitemapsAreOfTheSiteAndBounded) {
  std::string text = "Sitemap: http://a/0\nUser-agent: other\nDisallow: /\n";
  for (int i = 1; i < 10; ++i) {
    text += "sitemap:http://a/" + std::to_string(i) + "\n";
  }
  text += "Sitemap:\nSitemap: /relative.xml\n";
  RobotsFile file = Read(text);
  EXPECT_EQ(file.sitemaps.size(), 11u);
  EXPECT_EQ(file.sitemaps[0], "http://a/0");
  EXPECT_EQ(file.sitemaps[10], "/relative.xml");
  EXPECT_EQ(Count(file, Deviation::kSitemap), 2u);
  RobotsLimits limits;
  limits.max_sitemaps = 3;
  file = Parse(text, "a", limits);
  EXPECT_EQ(file.sitemaps.size(), 3u);
  EXPECT_EQ(file.sitemaps_seen, 11u);
}

TEST(RobotsParser, FiveHundredKibibytesAreReadAndTheRestIsSaid) {
  std::string text = "User-agent: *\n";
  while (text.size() < 512000 - 20) text += "#23456789\n";
  text += "Disallow: /" + std::string(512000 - text.size() - 12, 'a') + "\n";
  ASSERT_EQ(text.size(), 512000u);
  RobotsFile file = Read(text);
  EXPECT_EQ(file.rules.size(), 1u);
  EXPECT_FALSE(file.cut);
  file = Read(text + "Disallow: /b\n");
  EXPECT_EQ(file.rules.size(), 1u);
  EXPECT_TRUE(file.cut);
  EXPECT_EQ(file.bytes_read, 512000u);
  EXPECT_EQ(Count(file, Deviation::kTooLong), 1u);
}

TEST(RobotsParser, TheCutIsBehindAWholeLine) {
  const std::string text = "User-agent: *\nDisallow: /abc\nDisallow: /d\n";
  RobotsLimits limits;
  auto rules_at = [&](size_t bytes) {
    limits.max_bytes = bytes;
    return RulesOf(Parse(text, "a", limits)).size();
  };
  EXPECT_EQ(rules_at(text.size()), 2u);
  EXPECT_EQ(rules_at(text.size() - 1), 2u);  // only the line end is missing
  EXPECT_EQ(rules_at(text.size() - 2), 1u);
  EXPECT_EQ(rules_at(28), 1u);
  EXPECT_EQ(rules_at(27), 0u);
  EXPECT_EQ(rules_at(5), 0u);
  EXPECT_EQ(rules_at(0), 0u);
}

TEST(RobotsParser, PagesAndRubbishHaveNoRulesAndSayWhatTheyAre) {
  RobotsFile file = Read(
      "\n <!DOCTYPE html>\n<html><body style=\"color: red\">\n"
      "<a href=\"http://a/\">x</a>\n</body>\n");
  EXPECT_EQ(Count(file, Deviation::kHtml), 1u);
  EXPECT_EQ(file.group, Group::kNone);
  std::string rubbish;
  for (int i = 0; i < 4096; ++i) rubbish += static_cast<char>(i * 37 + i / 256);
  EXPECT_TRUE(Read(rubbish).rules.empty());
  EXPECT_EQ(Read("").lines, 0u);
  EXPECT_EQ(Read(std::string(1000, '\0')).group, Group::kNone);
}

TEST(RobotsParser, NulsAndBrokenUtf8InAPathAreOctets) {
  RobotsFile file =
      Read(std::string("User-agent: *\nDisallow: /a\0b\xff\n", 30));
  EXPECT_EQ(RulesOf(file), Rows{"-/a%00b%FF@2"});
  EXPECT_EQ(Count(file, Deviation::kControl), 1u);
  EXPECT_EQ(Count(file, Deviation::kNotUtf8), 1u);
}

TEST(RobotsParser, FindingsNameTheirLineAndAreBounded) {
  RobotsLimits limits;
  limits.max_findings = 2;
  RobotsFile file = Parse("x\nUser-agent: a b\ny\nz\n", "a", limits);
  ASSERT_EQ(file.findings.size(), 2u);
  EXPECT_EQ(file.findings[0].line, 1u);
  EXPECT_EQ(file.findings[0].kind, Deviation::kNoDirective);
  EXPECT_EQ(file.findings[1].line, 2u);
  EXPECT_EQ(file.findings[1].kind, Deviation::kAgentName);
  EXPECT_EQ(Count(file, Deviation::kNoDirective), 3u);
}

TEST(RobotsParser, SettingsAreItsLimits) {
  config::RobotsSettings settings;
  RobotsLimits limits(settings);
  EXPECT_EQ(limits.max_bytes, RobotsLimits().max_bytes);
  EXPECT_EQ(limits.max_crawl_delay, RobotsLimits().max_crawl_delay);
  EXPECT_EQ(limits.max_sitemaps, RobotsLimits().max_sitemaps);
}

}  // namespace
}  // namespace nephila::robots
