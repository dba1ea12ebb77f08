// Input made to hurt: an answer, and in time that grows with its length.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "base/cpu_time.h"
#include "url/normalizer.h"
#include "url/parser.h"

namespace nephila::url {
namespace {

std::string Repeat(std::string_view piece, size_t times) {
  std::string text;
  text.reserve(piece.size() * times);
  for (size_t i = 0; i < times; ++i) text += piece;
  return text;
}

// Every rule that rewrites, so that each meets each hostile text.
config::UrlSettings AllRules() {
  config::UrlSettings settings;
  settings.decode_unreserved = settings.escape_unsafe = true;
  settings.sort_query = settings.drop_empty_params = true;
  settings.collapse_slashes = true;
  settings.www = config::WwwMode::kAdd;
  settings.strip_query = {"utm_*"};
  return settings;
}

// For the parser and the rules themselves, without the Canonicalizer's bound
// on the length of a link.
double SecondsFor(const std::string& text, bool all_rules) {
  static const PublicSuffixList kSuffixes = PublicSuffixList::BuiltIn();
  Url base;
  EXPECT_TRUE(Parse("http://example.com/a/b", nullptr, &base));
  Normalizer normalizer(all_rules ? AllRules() : config::UrlSettings(),
                        kSuffixes);
  Url url;
  double begin = ThreadCpuSeconds();
  if (Parse(text, &base, &url) && url.is_http()) {
    normalizer.Normalize(&url);
    kSuffixes.RegistrableDomain(url.host(), PublicSuffixList::Rules::kIcann);
  }
  return ThreadCpuSeconds() - begin;
}

// Sixteen times the text may take 16 times as long, and not 256 times. The
// bound lies in the middle of the two on a log scale, the time is this thread's
// own and the best of three, so that a busy machine does not fail the test.
void ExpectLinear(const std::string& name,
                  const std::function<std::string(size_t)>& make) {
  for (bool all_rules : {false, true}) {
    constexpr size_t kSmall = 40000;
    std::string small = make(kSmall);
    std::string large = make(16 * kSmall);
    double small_time = 1;
    double large_time = 1e9;
    for (int i = 0; i < 3; ++i) {
      small_time = std::min(small_time, SecondsFor(small, all_rules));
      large_time = std::min(large_time, SecondsFor(large, all_rules));
    }
    EXPECT_LT(large_time, 64 * std::max(small_time, 50e-6))
        << name << (all_rules ? ", all rules" : ", default rules");
  }
}

TEST(Hostile, TimeGrowsWithTheLength) {
  const std::string h = "http://a.com/";
  struct Case {
    const char* name;
    std::string head;
    std::string piece;
    std::string tail;
  };
  const Case cases[] = {
      {"dots in the path", h, "../", ""},
      {"dot names", h, "..", ""},
      {"escaped dots", h, "%2e%2E/", ""},
      {"deep then up", h + Repeat("a/", 1000), "../a/", ""},
      {"slashes", h, "/", ""},
      {"backslashes", h, "\\", ""},
      {"semicolons", h, ";", ""},
      {"session ids in the path", h, ";sid=1", ""},
      {"session ids in the query", h + "?", "&sid=1", ""},
      {"equal parameters", h + "?", "a&", ""},
      {"falling parameters", h + "?", "b&a&", ""},
      {"percents", h, "%", ""},
      {"question marks", h, "?", ""},
      {"hashes", h, "#", ""},
      {"invalid UTF-8", h, "\xff\xc3", ""},
      {"NUL bytes", h, std::string(1, '\0'), ""},
      {"tabs", h, "\ta", ""},
      {"at signs", "http://", "@", "a.com/"},
      {"user names", "http://", "u:p@", "a.com/"},
      {"dots in the host", "http://", ".", "com/"},
      {"labels in the host", "http://", "a.", "com/"},
      {"digits in the host", "http://", "1", "/"},
      {"numbers in the host", "http://", "1.", "1/"},
      {"brackets", "http://", "[", "]/"},
      {"colons in brackets", "http://[", ":", "]/"},
      {"Unicode host", "http://", "\xc3\xa9", ".com/"},
      {"Unicode labels", "http://", "\xc3\xa9.", "com/"},
      {"escaped Unicode host", "http://", "%C3%A9", ".com/"},
      {"port digits", "http://a.com:", "0", "80/"},
      {"scheme", "", "a", ":x"},
      {"spaces", "", " ", h},
      {"opaque spaces", "data:", " ", "#"},
  };
  for (const Case& c : cases) {
    ExpectLinear(c.name, [&](size_t size) {
      return c.head + Repeat(c.piece, size / c.piece.size() + 1) + c.tail;
    });
  }
}

TEST(Hostile, TenMegabytesAndTenThousandDotsGetAnAnswer) {
  EXPECT_LT(SecondsFor("http://a.com/" + std::string(10 << 20, 'a'), true), 5);
  EXPECT_LT(SecondsFor("http://" + std::string(10 << 20, 'a') + ".com/", true),
            5);
  EXPECT_LT(SecondsFor("http://a.com/" + Repeat("../", 10000), true), 5);
  EXPECT_LT(SecondsFor("http://" + std::string(10000, '.') + "/", true), 5);
}

TEST(Hostile, NulBytesAndBrokenUtf8AreEncodedOrRefused) {
  Url url;
  ASSERT_TRUE(Parse(std::string_view("http://a.com/x\0y", 16), nullptr, &url));
  EXPECT_EQ(url.href(), "http://a.com/x%00y");
  EXPECT_FALSE(Parse(std::string_view("http://a\0b.com/", 15), nullptr, &url));
  ASSERT_TRUE(Parse("http://a.com/\xff?\xfe#\xfd", nullptr, &url));
  EXPECT_EQ(url.href(), "http://a.com/%EF%BF%BD?%EF%BF%BD#%EF%BF%BD");
  EXPECT_FALSE(Parse("http://\xff.com/", nullptr, &url));
}

}  // namespace
}  // namespace nephila::url
