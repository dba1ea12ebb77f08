// The normalisation suites of other crawlers and archives. Each case holds
// under the settings named here for its suite, or is listed with the reason
// in testdata/url-canon/exceptions.tsv.

#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "base/conformance_testing.h"
#include "url/normalizer.h"
#include "url/parser.h"
#include "url/percent.h"

namespace nephila::url {
namespace {

constexpr char kRefused[] = "(refused)";

// Parses `input` and, for http and https, normalises it.
std::string Canonical(const std::string& input,
                      const config::UrlSettings& settings) {
  static const PublicSuffixList kSuffixes = PublicSuffixList::BuiltIn();
  Url url;
  if (!Parse(input, nullptr, &url)) return kRefused;
  if (url.is_http()) Normalizer(settings, kSuffixes).Normalize(&url);
  return std::string(url.href());
}

// Nothing but what the parser does.
config::UrlSettings Whatwg() {
  config::UrlSettings rules;
  rules.strip_fragment = rules.strip_userinfo = rules.strip_host_dot = false;
  rules.uppercase_escapes = rules.trim_directory_sort = false;
  rules.drop_empty_query = false;
  rules.default_documents.clear();
  rules.session_ids.clear();
  return rules;
}

config::UrlSettings CrawlerCommons() {
  config::UrlSettings rules = Whatwg();
  rules.strip_fragment = rules.strip_host_dot = rules.uppercase_escapes = true;
  rules.decode_unreserved = rules.escape_unsafe = true;
  rules.sort_query = rules.drop_empty_params = rules.drop_empty_query = true;
  rules.collapse_slashes = true;
  return rules;
}

config::UrlSettings Nutch() {
  config::UrlSettings rules = Whatwg();
  rules.strip_fragment = rules.drop_empty_params = rules.drop_empty_query =
      true;
  rules.collapse_slashes = true;
  rules.session_ids = {"phpsessid", "bv_sessionid", "jsessionid",
                       "sid",       "_sessionid",   "_sid"};
  for (const char* name : {"index", "default"}) {
    for (const char* type :
         {"html", "htm", "asp", "aspx", "php", "php3", "php4", "phtml", "cfm",
          "cgi", "jsp", "jsf", "jspx", "jspa"}) {
      rules.default_documents.push_back(std::string(name) + "." + type);
    }
  }
  return rules;
}

config::UrlSettings Semantic() {
  config::UrlSettings rules = Whatwg();
  rules.strip_userinfo = rules.uppercase_escapes = true;
  rules.decode_unreserved = rules.escape_unsafe = true;
  rules.sort_query = rules.collapse_slashes = true;
  return rules;
}

config::UrlSettings Aggressive() {
  config::UrlSettings rules = Semantic();
  rules.strip_fragment = rules.drop_empty_params = true;
  rules.drop_empty_query = true;
  rules.www = config::WwwMode::kStrip;
  rules.session_ids = {"jsessionid", "phpsessid", "sid",
                       "cfid",       "cftoken",   "aspsessionid*"};
  return rules;
}

// "a, b" with optional quotes, as crawler-commons writes its tables.
std::vector<std::vector<std::string>> ReadCsv(std::string_view name) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream text(ReadTestData(name));
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> row(1);
    bool quoted = false;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '"') {
        bool doubled = quoted && i + 1 < line.size() && line[i + 1] == '"';
        if (doubled) {
          row.back().push_back(line[i++]);
        } else {
          quoted = !quoted;
        }
      } else if (line[i] == ',' && !quoted) {
        row.emplace_back();
        while (i + 1 < line.size() && line[i + 1] == ' ') ++i;
      } else {
        row.back().push_back(line[i]);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

TEST(UrlCanon, CrawlerCommonsNormalisationHolds) {
  Exceptions exceptions("url-canon");
  const char* suite = "crawler-commons/weirdToNormalizedUrls.csv";
  for (const auto& row : ReadCsv(std::string("url-canon/") + suite)) {
    ASSERT_EQ(row.size(), 2u) << row[0];
    std::string seen = Canonical(row[0], CrawlerCommons());
    exceptions.Expect(suite, row[0], seen == row[1], seen + " want " + row[1]);
  }
  EXPECT_GT(exceptions.held(suite), 90);
}

TEST(UrlCanon, CrawlerCommonsInvalidUrlsAreRefused) {
  Exceptions exceptions("url-canon");
  const char* suite = "crawler-commons/invalidUrls.csv";
  for (const auto& row : ReadCsv(std::string("url-canon/") + suite)) {
    std::string seen = Canonical(row[0], CrawlerCommons());
    exceptions.Expect(suite, row[0], seen == kRefused, seen);
  }
  EXPECT_EQ(exceptions.held(suite), 2);
}

TEST(UrlCanon, CrawlerCommonsResolvingHolds) {
  Exceptions exceptions("url-canon");
  const char* suite = "crawler-commons/url-resolve.csv";
  for (const auto& row : ReadCsv(std::string("url-canon/") + suite)) {
    ASSERT_EQ(row.size(), 3u) << row[0];
    Url base;
    Url url;
    bool has_base = !row[1].empty();
    bool parsed = !has_base || Parse(row[1], nullptr, &base).has_value();
    parsed = parsed && Parse(row[0], has_base ? &base : nullptr, &url);
    std::string seen(parsed ? url.href() : kRefused);
    exceptions.Expect(suite, row[0], seen == row[2], seen);
  }
  EXPECT_GT(exceptions.held(suite), 20);
}

TEST(UrlCanon, NutchNormalisationHolds) {
  Exceptions exceptions("url-canon");
  const char* suite = "nutch/regex-normalize-default.test";
  std::istringstream text(ReadTestData(std::string("url-canon/") + suite));
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line[0] == '#') continue;
    size_t space = line.find(' ');
    std::string input = line.substr(0, space);
    std::string want = line.substr(space + 1);
    std::string seen = Canonical(input, Nutch());
    exceptions.Expect(suite, input, seen == want, seen + " want " + want);
  }
  EXPECT_GT(exceptions.held(suite), 50);
}

// urlcanon's tables hold bytes: a character up to U+00FF stands for one.
std::string BytesOf(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size();) {
    char32_t code_point = ReadUtf8(text, &i);
    if (code_point > 0xff) return text;
    bytes.push_back(static_cast<char>(code_point));
  }
  return bytes;
}

void CheckUrlcanonMap(const std::string& suite,
                      const config::UrlSettings& settings) {
  Exceptions exceptions("url-canon");
  const nlohmann::json cases = ReadTestJson("url-canon/" + suite);
  for (const auto& [input, want] : cases.items()) {
    std::string seen = Canonical(BytesOf(input), settings);
    exceptions.Expect(suite, input, seen == want.get<std::string>(),
                      seen + " want " + want.get<std::string>());
  }
}

TEST(UrlCanon, UrlcanonWhatwgHolds) {
  CheckUrlcanonMap("urlcanon/supplemental_whatwg.json", Whatwg());
}

TEST(UrlCanon, UrlcanonSemanticHolds) {
  CheckUrlcanonMap("urlcanon/semantic_precise.json", Semantic());
}

TEST(UrlCanon, UrlcanonAggressiveHolds) {
  CheckUrlcanonMap("urlcanon/aggressive.json", Aggressive());
}

TEST(UrlCanon, UrlcanonOddIpv4AddressesHold) {
  Exceptions exceptions("url-canon");
  const char* suite = "urlcanon/funky_ipv4.json";
  const auto cases = ReadTestJson(std::string("url-canon/") + suite);
  for (const auto& [input, want] : cases.items()) {
    Url url;
    bool parsed = Parse("http://" + input + "/", nullptr, &url).has_value();
    bool is_address = parsed && url.host_kind() == HostKind::kIpv4;
    std::string seen(is_address ? url.host() : kRefused);
    exceptions.Expect(
        suite, input,
        seen == (want.is_null() ? kRefused : want.get<std::string>()), seen);
  }
}

TEST(UrlCanon, UrlcanonDotSegmentsHold) {
  Exceptions exceptions("url-canon");
  const auto groups = ReadTestJson("url-canon/urlcanon/path_dots.json");
  for (const auto& [group, cases] : groups.items()) {
    std::string suite = "urlcanon/path_dots.json " + group;
    std::string prefix = group == "special" ? "http://host" : "foo://host";
    for (const auto& [path, want] : cases.items()) {
      Url url;
      bool parsed = Parse(prefix + path, nullptr, &url).has_value();
      std::string seen(parsed ? url.path() : kRefused);
      exceptions.Expect(suite, path, seen == want.get<std::string>(), seen);
    }
  }
}

// urlcanon wants its parser to give these texts back; ours has to come to
// rest: what it wrote once it writes again.
TEST(UrlCanon, UrlcanonInputsComeToRest) {
  Exceptions exceptions("url-canon");
  const char* suite = "urlcanon/idempotence.json";
  for (const auto& input : ReadTestJson(std::string("url-canon/") + suite)) {
    std::string once = Canonical(input.get<std::string>(), Aggressive());
    bool holds = once != kRefused && Canonical(once, Aggressive()) == once;
    exceptions.Expect(suite, input.get<std::string>(), holds, once);
  }
}

// The parts of a URL; urlcanon keeps them as written, so a case holds where
// there is nothing that the standard would rewrite.
TEST(UrlCanon, UrlcanonPartsHold) {
  Exceptions exceptions("url-canon");
  const char* suite = "urlcanon/parsing.json";
  const auto cases = ReadTestJson(std::string("url-canon/") + suite);
  for (const auto& [input, want] : cases.items()) {
    Url url;
    if (!Parse(BytesOf(input), nullptr, &url)) {
      exceptions.Expect(suite, input, false, kRefused);
      continue;
    }
    const std::pair<const char*, std::string_view> parts[] = {
        {"scheme", url.scheme()},     {"username", url.username()},
        {"password", url.password()}, {"host", url.host()},
        {"port", url.port()},         {"path", url.path()},
        {"query", url.query()},       {"fragment", url.fragment()}};
    bool holds = true;
    for (const auto& [name, part] : parts) {
      holds = holds && want[name].get<std::string>() == part;
    }
    exceptions.Expect(suite, input, holds, url.href());
  }
}

TEST(UrlCanon, SuitesThatAreNotAboutNormalisationAreListedAsSuch) {
  Exceptions exceptions("url-canon");
  for (const char* suite : {"urlcanon/surt.json", "urlcanon/ssurt.json"}) {
    EXPECT_TRUE(exceptions.SkipsSuite(suite)) << suite;
  }
}

}  // namespace
}  // namespace nephila::url
