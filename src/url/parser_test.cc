// Beside the standard's suite (whatwg_test.cc): errors, parts, edits.
#include "url/parser.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "base/random.h"

namespace nephila::url {
namespace {

Url Parsed(std::string_view text) {
  Url url;
  EXPECT_TRUE(Parse(text, nullptr, &url)) << text;
  return url;
}

std::string_view ErrorOf(std::string_view text) {
  Url url;
  auto parsed = Parse(text, nullptr, &url);
  return parsed ? "none" : ParseErrorName(parsed.error());
}

TEST(Parser, SaysWhyATextIsNoUrl) {
  EXPECT_EQ(ErrorOf("foo.com/x"), "relative-without-base");
  EXPECT_EQ(ErrorOf(""), "relative-without-base");
  EXPECT_EQ(ErrorOf("http://"), "empty-host");
  EXPECT_EQ(ErrorOf("http://user@/"), "empty-host");
  EXPECT_EQ(ErrorOf("http://:80/"), "empty-host");
  EXPECT_EQ(ErrorOf("http://a b/"), "invalid-host");
  EXPECT_EQ(ErrorOf("http://a:65536/"), "invalid-port");
  EXPECT_EQ(ErrorOf("http://a:8o/"), "invalid-port");
}

TEST(Parser, OffsetsNeverOverflow) {
  std::string longest = "http://a.com/";
  longest += std::string(kLongestInput - longest.size() - 4, '\xff') + "?x=1";
  Url url;
  ASSERT_TRUE(Parse(longest, nullptr, &url));
  EXPECT_EQ(url.path().size(), 1 + (kLongestInput - 17) * 9);
  EXPECT_EQ(url.query(), "x=1");
  EXPECT_EQ(ErrorOf(longest + "y"), "too-long");
}

TEST(Parser, PartsAreViewsIntoTheHref) {
  Url url = Parsed("HTTPS://us%65r:p@Example.COM:8443/a/./b?x=1#top");
  EXPECT_EQ(url.href(), "https://us%65r:p@example.com:8443/a/b?x=1#top");
  EXPECT_EQ(url.scheme(), "https");
  EXPECT_EQ(url.username(), "us%65r");
  EXPECT_EQ(url.password(), "p");
  EXPECT_EQ(url.host(), "example.com");
  EXPECT_EQ(url.port(), "8443");
  EXPECT_EQ(url.path(), "/a/b");
  EXPECT_EQ(url.query(), "x=1");
  EXPECT_EQ(url.fragment(), "top");
  EXPECT_TRUE(url.is_http());
}

TEST(Parser, EmptyQueryAndNoQueryAreToldApart) {
  EXPECT_TRUE(Parsed("http://a/?").has_query());
  EXPECT_FALSE(Parsed("http://a/").has_query());
  EXPECT_TRUE(Parsed("http://a/#").has_fragment());
  EXPECT_FALSE(Parsed("http://a/").has_fragment());
}

TEST(Parser, AReusedUrlKeepsNothingOfTheLastOne) {
  Url url;
  ASSERT_TRUE(Parse("http://u:p@long.example:81/a/b/c?q#f", nullptr, &url));
  ASSERT_TRUE(Parse("mailto:x", nullptr, &url));
  EXPECT_EQ(url.href(), "mailto:x");
  EXPECT_EQ(url.host_kind(), HostKind::kNone);
  EXPECT_TRUE(url.has_opaque_path());
  EXPECT_EQ(url.username(), "");
  EXPECT_EQ(url.port(), "");
  EXPECT_FALSE(url.has_query());
  EXPECT_FALSE(url.has_fragment());
}

TEST(Parser, EditsKeepThePartsTrue) {
  Url url = Parsed("http://user:pass@a.example:81/p?q#f");
  url.RemoveUserinfo();
  EXPECT_EQ(url.href(), "http://a.example:81/p?q#f");
  EXPECT_FALSE(url.has_userinfo());
  url.ReplaceHost("www.a.example");
  url.ReplacePath("/longer/path");
  url.ReplaceQuery("a=1&b=2");
  EXPECT_EQ(url.href(), "http://www.a.example:81/longer/path?a=1&b=2#f");
  EXPECT_EQ(url.host(), "www.a.example");
  EXPECT_EQ(url.port(), "81");
  EXPECT_EQ(url.path(), "/longer/path");
  EXPECT_EQ(url.query(), "a=1&b=2");
  EXPECT_EQ(url.fragment(), "f");
  url.RemoveQuery();
  EXPECT_EQ(url.href(), "http://www.a.example:81/longer/path#f");
  EXPECT_EQ(url.fragment(), "f");
  url.RemoveFragment();
  EXPECT_EQ(url.href(), "http://www.a.example:81/longer/path");
  EXPECT_EQ(url.path(), "/longer/path");
}

TEST(Parser, EditsOfEmptyParts) {
  Url url = Parsed("http://:p@h/?#");
  url.RemoveUserinfo();
  EXPECT_EQ(url.href(), "http://h/?#");
  url.ReplaceQuery("x");
  EXPECT_EQ(url.href(), "http://h/?x#");
  EXPECT_TRUE(url.has_fragment());
  url.RemoveQuery();
  EXPECT_EQ(url.href(), "http://h/#");
}

// "Http" keeps a link from the short way (url/ordinary.h).
TEST(Parser, TheShortWayGivesTheSameAsTheGeneralOne) {
  constexpr std::string_view kPieces[] = {
      "a", "B",  ".",  "..", "/",    "//", "?", "#",   "%",   "%2e", "@", ":",
      "1", "x",  "0x", "-",  "_",    "\\", "[", "]",   "'",   "\"",  " ", "\t",
      "&", "=1", ";",  "~",  "\xc3", "{",  "|", "www", "com", "80"};
  for (uint64_t seed = 0; seed < 200000; ++seed) {
    Random random(seed);
    std::string rest = random.Chance(0.8) ? "://example.com/" : "://";
    for (uint64_t n = random.Below(8); n > 0; --n) {
      rest += kPieces[random.Below(std::size(kPieces))];
    }
    Url shorter;
    Url general;
    bool parsed = Parse("http" + rest, nullptr, &shorter).has_value();
    ASSERT_EQ(Parse("Http" + rest, nullptr, &general).has_value(), parsed)
        << rest;
    if (!parsed) continue;
    ASSERT_EQ(shorter.href(), general.href()) << rest;
    ASSERT_EQ(shorter.host(), general.host()) << rest;
    ASSERT_EQ(shorter.path(), general.path()) << rest;
    ASSERT_EQ(shorter.query(), general.query()) << rest;
    ASSERT_EQ(shorter.has_query(), general.has_query()) << rest;
    ASSERT_EQ(shorter.fragment(), general.fragment()) << rest;
    ASSERT_EQ(shorter.has_fragment(), general.has_fragment()) << rest;
    ASSERT_EQ(shorter.has_userinfo(), general.has_userinfo()) << rest;
    ASSERT_EQ(shorter.host_kind(), general.host_kind()) << rest;
  }
}

TEST(Parser, ResolvesOnABase) {
  Url base = Parsed("https://example.com/a/b/c.html?x=1#f");
  auto resolved = [&](std::string_view link) {
    Url url;
    EXPECT_TRUE(Parse(link, &base, &url)) << link;
    return std::string(url.href());
  };
  EXPECT_EQ(resolved("d"), "https://example.com/a/b/d");
  EXPECT_EQ(resolved(""), "https://example.com/a/b/c.html?x=1");
  EXPECT_EQ(resolved("#g"), "https://example.com/a/b/c.html?x=1#g");
  EXPECT_EQ(resolved("?y"), "https://example.com/a/b/c.html?y");
  EXPECT_EQ(resolved("../../../d"), "https://example.com/d");
  EXPECT_EQ(resolved("/d"), "https://example.com/d");
  EXPECT_EQ(resolved("//other.example/d"), "https://other.example/d");
  EXPECT_EQ(resolved("\\\\other.example\\d"), "https://other.example/d");
  EXPECT_EQ(resolved("https:d"), "https://example.com/a/b/d");
  EXPECT_EQ(resolved("http:d"), "http://d/");
}

}  // namespace
}  // namespace nephila::url
