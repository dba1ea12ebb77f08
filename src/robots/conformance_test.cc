// testdata/robots: the cases of other robots.txt parsers and of the RFC. Each
// holds, or is listed with the reason in exceptions.tsv.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/conformance_testing.h"
#include "robots/matcher.h"
#include "robots/parser.h"
#include "robots/policy.h"
#include "robots/reference_testing.h"
#include "robots/rules.h"
#include "url/parser.h"

namespace nephila::robots {
namespace {

std::string DecodeBase64(const std::string& text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<char>(bits >> count & 0xff));
    }
  }
  return bytes;
}

std::string RobotsOf(const nlohmann::json& item) {
  if (item.contains("robots")) return item["robots"];
  return DecodeBase64(item["robots_b64"]);
}

// Through the stored form, by both ways of matching, and against the reference.
bool IsAllowed(const RobotsFile& file, const std::string& text) {
  url::Url url;
  std::string_view path;
  if (url::Parse(text, nullptr, &url)) path = MatchedPart(url);
  std::string bytes = CompileRules(file);
  auto rules = Rules::Open(bytes);
  EXPECT_TRUE(rules.has_value());
  Answer answer = Matcher(*rules, WildWay::kEach).Match(path);
  Answer scanned = Matcher(*rules, WildWay::kScan).Match(path);
  EXPECT_EQ(answer.rule, scanned.rule) << text;
  // The reference takes its time over the longest lines.
  if (file.texts.size() < 5000) {
    EXPECT_TRUE(AnswerIsRight(file, path, answer)) << text;
  }
  return answer.allowed;
}

TEST(RobotsConformance, CasesHold) {
  Exceptions exceptions("robots");
  std::map<std::string, int> counts;
  for (const auto& item : ReadTestJson("robots/cases.json")) {
    std::string dialect = item["dialect"];
    ++counts[dialect];
    RobotsFile file =
        Parse(RobotsOf(item), item["agent"].get<std::string>(), RobotsLimits());
    bool allowed = IsAllowed(file, item["url"]);
    exceptions.Expect(dialect, item["name"].get<std::string>(),
                      allowed == item["allowed"],
                      allowed ? "allowed" : "disallowed");
  }
  EXPECT_EQ(exceptions.held("standard"), 545);
  EXPECT_EQ(exceptions.listed("standard"), 0);
  EXPECT_EQ(counts["token-digits"], exceptions.held("token-digits"));
}

TEST(RobotsConformance, CrawlDelaysHold) {
  Exceptions exceptions("robots");
  for (const auto& item : ReadTestJson("robots/crawl-delay.json")) {
    RobotsFile file =
        Parse(RobotsOf(item), item["agent"].get<std::string>(), RobotsLimits());
    int64_t seen = file.crawl_delay ? file.crawl_delay->count() : -1;
    exceptions.Expect("crawl-delay", item["name"].get<std::string>(),
                      seen == item["crawl_delay_ms"], std::to_string(seen));
  }
  EXPECT_EQ(exceptions.held("crawl-delay"), 2);
}

TEST(RobotsConformance, SitemapsHold) {
  int cases = 0;
  for (const auto& item : ReadTestJson("robots/sitemaps.json")) {
    RobotsFile file = Parse(RobotsOf(item), "nephila", RobotsLimits());
    EXPECT_EQ(nlohmann::json(file.sitemaps), item["sitemaps"]) << item["name"];
    ++cases;
  }
  EXPECT_EQ(cases, 3);
}

// What the table wants, from its words; kParse where redirects are followed.
bool Fits(const std::string& then, Verdict verdict) {
  if (then.starts_with("parse") || then.starts_with("follow")) {
    return verdict == Verdict::kParse;
  }
  if (then.find("everything allowed") != std::string::npos) {
    return verdict == Verdict::kAllowAll;
  }
  return verdict == Verdict::kDisallowAll;
}

TEST(RobotsConformance, FetchStatusesHold) {
  Exceptions exceptions("robots");
  for (const auto& item : ReadTestJson("robots/fetch-status.json")) {
    if (!item.contains("status")) continue;  // ages and sizes: see below
    Fetch fetch;
    if (item["status"].is_null()) {
      fetch.end = FetchEnd::kNetwork;
    } else {
      fetch.status = item["status"];
    }
    int redirects = item.value("redirects", 0);
    if (redirects > kRedirects) fetch.end = FetchEnd::kTooManyRedirects;
    if (redirects > 0 && redirects <= kRedirects) fetch.status = 200;
    if (item.contains("days")) {
      fetch.unreachable_for = std::chrono::hours(24 * item["days"].get<int>());
    }
    Verdict verdict = PolicyFor(fetch).verdict;
    exceptions.Expect("fetch-status", item.dump(), Fits(item["then"], verdict),
                      VerdictName(verdict));
  }
  EXPECT_EQ(exceptions.held("fetch-status"), 30);
  EXPECT_EQ(RobotsLimits().max_bytes, 512000u);
  EXPECT_FALSE(IsStale(std::chrono::hours(24), false));
  EXPECT_TRUE(IsStale(std::chrono::hours(25), false));
  EXPECT_FALSE(IsStale(std::chrono::hours(25), true));
}

}  // namespace
}  // namespace nephila::robots
