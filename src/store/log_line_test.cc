#include "store/log_line.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "item/fetched_page.h"
#include "store/crawl_log.h"
#include "store/store_testing.h"

namespace nephila::store {
namespace {

TEST(LogLine, ALineThatWasWrittenIsRead) {
  TestPage page("http://example.com/a b");
  page.page.hop_path = "LL";
  page.page.begin = WallTime(std::chrono::hours(500'000));
  page.page.duration = std::chrono::milliseconds(123);
  LogFacts facts;
  facts.now = page.page.begin + std::chrono::seconds(1);
  facts.http_status = 200;
  facts.bytes = 5120;
  facts.media_type = "text/html";
  facts.digest = "sha1:ABC";
  std::string text = FormatLogLine(page.page, facts);
  ASSERT_TRUE(text.ends_with('\n'));
  text.pop_back();
  const auto line = ParseLogLine(text);
  ASSERT_TRUE(line.has_value()) << text;
  EXPECT_EQ(line->status, 200);
  EXPECT_EQ(line->bytes, 5120U);
  EXPECT_EQ(line->url, LogColumn(page.page.url));
  EXPECT_EQ(line->hop_path, "LL");
  EXPECT_EQ(line->begin.size(), 17U);
  EXPECT_EQ(line->millis, "123");
  EXPECT_EQ(line->digest, "sha1:ABC");
  EXPECT_EQ(line->media_type, "text/html");
  EXPECT_EQ(line->notes, "-");
}

TEST(LogLine, NotesSayTheAttemptAndTheOutcome) {
  TestPage page("http://example.com/robots.txt");
  page.page.outcome = item::FetchOutcome::kTimeout;
  page.page.attempt = 12;
  page.page.hop_path = "P";
  page.page.via = "http://example.com/";
  const std::array<std::string_view, 2> notes = {"a,b", "20 3t"};
  page.page.annotations = notes;
  std::string text = FormatLogLine(page.page, {});
  text.pop_back();
  const auto line = ParseLogLine(text);
  ASSERT_TRUE(line.has_value()) << text;
  EXPECT_EQ(AttemptOf(*line), 12U);
  EXPECT_EQ(line->via, "http://example.com/");
  EXPECT_EQ(line->media_type, "-");
  EXPECT_TRUE(line->is_robots());
  EXPECT_FALSE(line->is_name());
  EXPECT_TRUE(HasNote(*line, "timeout"));
  EXPECT_TRUE(HasNote(*line, "12t"));
  EXPECT_FALSE(HasNote(*line, "time"));
  EXPECT_FALSE(HasNote(*line, "a"));
  EXPECT_FALSE(HasNote(*line, ""));
  LogLine none;
  none.notes = "-";
  EXPECT_EQ(AttemptOf(none), 1U);
  none.notes = "99999999999t,t,0t";
  EXPECT_EQ(AttemptOf(none), 1U);
}

TEST(LogLine, WhatHasNotTheFormIsNone) {
  const std::string good =
      "2026-01-02T03:04:06.000Z    -1          - http://a.com/ - - - #000 - - "
      "- dns-failed";
  ASSERT_TRUE(ParseLogLine(good).has_value());
  EXPECT_EQ(ParseLogLine(good)->status, -1);
  EXPECT_FALSE(ParseLogLine(good)->bytes.has_value());
  EXPECT_FALSE(ParseLogLine("").has_value());
  EXPECT_FALSE(ParseLogLine(good + " more").has_value());
  EXPECT_FALSE(ParseLogLine(good.substr(0, good.rfind(' '))).has_value());
  EXPECT_FALSE(ParseLogLine(" " + good).has_value());
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return ParseLogLine(text).has_value();
  };
  EXPECT_TRUE(with("- dns", "9 dns"));
  EXPECT_FALSE(with("T03", " 03"));
  EXPECT_FALSE(with("2026", "202x"));
  EXPECT_FALSE(with(" -1 ", " -x "));
  EXPECT_FALSE(with(" -1 ", " 99999999999 "));
  EXPECT_FALSE(with("         - http", "         x http"));
  EXPECT_FALSE(with("#000", "#"));
  EXPECT_FALSE(with("#000", "0000"));
  EXPECT_FALSE(with("#000 -", "#000 2026"));
  EXPECT_FALSE(with("#000 -", "#000 20260102030405678"));
  EXPECT_FALSE(with("a.com/", "a.com/\x01"));
  EXPECT_FALSE(with(" - - -", "  - - -"));
}

TEST(LogLine, ColumnsHoldVisibleAsciiAlone) {
  EXPECT_EQ(LogColumn(""), "-");
  EXPECT_EQ(LogColumn("a b\xFF"), "a%20b%FF");
}

}  // namespace
}  // namespace nephila::store
