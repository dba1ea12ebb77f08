#include "url/normalizer.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "url/parser.h"

namespace nephila::url {
namespace {

const PublicSuffixList& Suffixes() {
  static const PublicSuffixList kList = PublicSuffixList::BuiltIn();
  return kList;
}

std::string Normalized(std::string_view text,
                       const config::UrlSettings& settings = {}) {
  Url url;
  EXPECT_TRUE(Parse(text, nullptr, &url)) << text;
  Normalizer(settings, Suffixes()).Normalize(&url);
  return std::string(url.href());
}

TEST(Normalizer, FragmentsGo) {
  EXPECT_EQ(Normalized("http://a.com/x#top"), "http://a.com/x");
  config::UrlSettings off;
  off.strip_fragment = false;
  EXPECT_EQ(Normalized("http://a.com/x#top", off), "http://a.com/x#top");
}

TEST(Normalizer, EmptyPathsPortsAndDotSegmentsAreTheParsers) {
  EXPECT_EQ(Normalized("http://a.com"), "http://a.com/");
  EXPECT_EQ(Normalized("http://a.com:80/"), "http://a.com/");
  EXPECT_EQ(Normalized("https://a.com:443/a/../b/./c"), "https://a.com/b/c");
}

TEST(Normalizer, UserinfoGoes) {
  EXPECT_EQ(Normalized("http://user:pass@a.com/"), "http://a.com/");
  config::UrlSettings off;
  off.strip_userinfo = false;
  EXPECT_EQ(Normalized("http://user@a.com/", off), "http://user@a.com/");
}

TEST(Normalizer, TheDotAtTheEndOfAHostGoes) {
  EXPECT_EQ(Normalized("http://a.com.:81/x"), "http://a.com:81/x");
  config::UrlSettings off;
  off.strip_host_dot = false;
  EXPECT_EQ(Normalized("http://a.com./", off), "http://a.com./");
}

TEST(Normalizer, DefaultDocumentsGo) {
  for (const char* name : {"index.html", "index.htm", "index.shtml",
                           "default.html", "default.htm"}) {
    EXPECT_EQ(Normalized(std::string("http://a.com/d/") + name),
              "http://a.com/d/");
  }
  EXPECT_EQ(Normalized("http://a.com/myindex.html"),
            "http://a.com/myindex.html");
  EXPECT_EQ(Normalized("http://a.com/index.html/x"),
            "http://a.com/index.html/x");
  EXPECT_EQ(Normalized("http://a.com/index.html?id=1"),
            "http://a.com/index.html?id=1");
  EXPECT_EQ(Normalized("http://a.com/Index.html"), "http://a.com/Index.html");
  config::UrlSettings off;
  off.default_documents.clear();
  EXPECT_EQ(Normalized("http://a.com/index.html", off),
            "http://a.com/index.html");
}

TEST(Normalizer, WwwIsLeftAloneUnlessAsked) {
  EXPECT_EQ(Normalized("http://example.com/"), "http://example.com/");
  EXPECT_EQ(Normalized("http://www.example.com/"), "http://www.example.com/");
  config::UrlSettings add;
  add.www = config::WwwMode::kAdd;
  EXPECT_EQ(Normalized("http://example.co.uk/", add),
            "http://www.example.co.uk/");
  EXPECT_EQ(Normalized("http://sub.example.co.uk/", add),
            "http://sub.example.co.uk/");
  EXPECT_EQ(Normalized("http://1.2.3.4/", add), "http://1.2.3.4/");
  EXPECT_EQ(Normalized("http://co.uk/", add), "http://co.uk/");
  config::UrlSettings strip;
  strip.www = config::WwwMode::kStrip;
  EXPECT_EQ(Normalized("http://www.example.com/", strip),
            "http://example.com/");
  EXPECT_EQ(Normalized("http://www.www.example.com/", strip),
            "http://example.com/");
  EXPECT_EQ(Normalized("http://www.com/", strip), "http://www.com/");
}

TEST(Normalizer, EscapesAreWrittenInUpperCase) {
  EXPECT_EQ(Normalized("http://a.com/%c3%a9?q=%e2%82%ac&r=%2"),
            "http://a.com/%C3%A9?q=%E2%82%AC&r=%2");
  config::UrlSettings off;
  off.uppercase_escapes = false;
  EXPECT_EQ(Normalized("http://a.com/%c3", off), "http://a.com/%c3");
}

TEST(Normalizer, UnreservedEscapesAreDecodedOnlyIfAsked) {
  EXPECT_EQ(Normalized("http://a.com/%7Eu/%41"), "http://a.com/%7Eu/%41");
  config::UrlSettings decode;
  decode.decode_unreserved = true;
  EXPECT_EQ(Normalized("http://a.com/%7Eu/%41?%2f%2D", decode),
            "http://a.com/~u/A?%2F-");
  // Nothing may turn into an escape that was none.
  EXPECT_EQ(Normalized("http://a.com/%%34%31", decode), "http://a.com/%%341");
  EXPECT_EQ(Normalized("http://a.com/%4%31", decode), "http://a.com/%4%31");
  EXPECT_EQ(Normalized("http://a.com/%/%2e&%2e?b%&%2e", decode),
            "http://a.com/%/.&.?b%&.");
}

TEST(Normalizer, SessionIdsGoFromQueriesAndPaths) {
  EXPECT_EQ(Normalized("http://a.com/x?PHPSESSID=1"), "http://a.com/x");
  EXPECT_EQ(Normalized("http://a.com/x?a=1&sid=2&b=3"),
            "http://a.com/x?a=1&b=3");
  EXPECT_EQ(Normalized("http://a.com/x?sessionid=1&a=2"), "http://a.com/x?a=2");
  EXPECT_EQ(Normalized("http://a.com/x;jsessionid=AB12?a=1"),
            "http://a.com/x?a=1");
  EXPECT_EQ(Normalized("http://a.com/x;v=1;JSessionID=2;w=3/y"),
            "http://a.com/x;v=1;w=3/y");
  EXPECT_EQ(Normalized("http://a.com/x?a=1;jsessionid=2"),
            "http://a.com/x?a=1");
  EXPECT_EQ(Normalized("http://a.com/x?a=1;sid=2;b=3&c"),
            "http://a.com/x?a=1;b=3&c");
  // Close is not the same.
  EXPECT_EQ(Normalized("http://a.com/x?newsid=1&asid=2&sid"),
            "http://a.com/x?newsid=1&asid=2&sid");
  EXPECT_EQ(Normalized("http://a.com/sid=1"), "http://a.com/sid=1");
  config::UrlSettings off;
  off.session_ids.clear();
  EXPECT_EQ(Normalized("http://a.com/x;sid=1?sid=2", off),
            "http://a.com/x;sid=1?sid=2");
}

TEST(Normalizer, AStrippedSegmentNeverBecomesADotSegment) {
  EXPECT_EQ(Normalized("http://a.com/b/..;sid=1/c"),
            "http://a.com/b/..;sid=1/c");
  EXPECT_EQ(Normalized("http://a.com/b/%2e;sid=1/c"),
            "http://a.com/b/%2E;sid=1/c");
}

TEST(Normalizer, ASessionIdMayHideADefaultDocument) {
  EXPECT_EQ(Normalized("http://a.com/index.html;jsessionid=1?sid=2"),
            "http://a.com/");
}

TEST(Normalizer, ApacheListingsLoseTheirOrder) {
  for (const char* query :
       {"N=D", "M=A", "S=A", "D=D", "C=N", "O=D", "C=N;O=D", "C=M&O=A",
        "C=S%3bO=D", "C%3DD%3BO%3DA", "O=D&C=N", "O=A"}) {
    EXPECT_EQ(Normalized(std::string("http://a.com/d/?") + query),
              "http://a.com/d/")
        << query;
  }
  for (const char* kept :
       {"http://a.com/d?C=N;O=D", "http://a.com/d/?C=X", "http://a.com/d/?N=DD",
        "http://a.com/d/?C=N;O=D;x=1", "http://a.com/d/?N",
        "http://a.com/d/?C=", "http://a.com/d/?C=N;", "http://a.com/d/?O=D;O=A",
        "http://a.com/d/?n=d"}) {
    EXPECT_EQ(Normalized(kept), kept);
  }
  config::UrlSettings off;
  off.trim_directory_sort = false;
  EXPECT_EQ(Normalized("http://a.com/d/?N=D", off), "http://a.com/d/?N=D");
}

TEST(Normalizer, QueriesAreSortedOrStrippedOnlyIfAsked) {
  EXPECT_EQ(Normalized("http://a.com/?b=1&a=2&utm_source=x"),
            "http://a.com/?b=1&a=2&utm_source=x");
  config::UrlSettings sort;
  sort.sort_query = true;
  EXPECT_EQ(Normalized("http://a.com/?b=1&a=2;c=0&a=1", sort),
            "http://a.com/?a=1&a=2;c=0&b=1");
  config::UrlSettings strip;
  strip.strip_query = {"utm_*", "ref"};
  EXPECT_EQ(
      Normalized("http://a.com/?utm_source=x&a=1&ref=y&refer=z&utm", strip),
      "http://a.com/?a=1&refer=z&utm");
  EXPECT_EQ(Normalized("http://a.com/?ref", strip), "http://a.com/");
  strip.strip_query = {"*"};
  EXPECT_EQ(Normalized("http://a.com/?x=1&y", strip), "http://a.com/");
}

TEST(Normalizer, EmptyQueriesAndParameters) {
  EXPECT_EQ(Normalized("http://a.com/x?"), "http://a.com/x");
  EXPECT_EQ(Normalized("http://a.com/x?&a=1&&b"), "http://a.com/x?&a=1&&b");
  config::UrlSettings settings;
  settings.drop_empty_query = false;
  EXPECT_EQ(Normalized("http://a.com/x?", settings), "http://a.com/x?");
  settings.drop_empty_params = true;
  EXPECT_EQ(Normalized("http://a.com/x?&a=1&&b&", settings),
            "http://a.com/x?a=1&b");
  EXPECT_EQ(Normalized("http://a.com/x?&&", settings), "http://a.com/x");
}

TEST(Normalizer, SlashesAreCollapsedOnlyIfAsked) {
  EXPECT_EQ(Normalized("http://a.com//x///y//"), "http://a.com//x///y//");
  config::UrlSettings collapse;
  collapse.collapse_slashes = true;
  EXPECT_EQ(Normalized("http://a.com//x///y//?a=//", collapse),
            "http://a.com/x/y/?a=//");
  EXPECT_EQ(Normalized("http://a.com//", collapse), "http://a.com/");
  EXPECT_EQ(Normalized("http://a.com/x/;sid=1/y", collapse),
            "http://a.com/x/y");
}

TEST(Normalizer, UnsafeCharactersAreEscapedOnlyIfAsked) {
  EXPECT_EQ(Normalized("http://a.com/[x]|?{y}^`%"), "http://a.com/[x]|?{y}^`%");
  config::UrlSettings escape;
  escape.escape_unsafe = true;
  EXPECT_EQ(Normalized("http://a.com/[x]|?{y}^`%", escape),
            "http://a.com/%5Bx%5D%7C?%7By%7D%5E%60%25");
}

config::UrlSettings RandomSettings(Random* random) {
  config::UrlSettings settings;
  for (bool* flag : {&settings.strip_fragment, &settings.strip_userinfo,
                     &settings.strip_host_dot, &settings.uppercase_escapes,
                     &settings.decode_unreserved, &settings.escape_unsafe,
                     &settings.trim_directory_sort, &settings.sort_query,
                     &settings.drop_empty_params, &settings.drop_empty_query,
                     &settings.collapse_slashes}) {
    *flag = random->Chance(0.5);
  }
  settings.www = static_cast<config::WwwMode>(random->Below(3));
  if (random->Chance(0.5)) settings.strip_query = {"a*", "ref"};
  return settings;
}

// Made of the pieces that the rules look at.
std::string RandomUrl(Random* random) {
  constexpr std::string_view kPieces[] = {
      "/",   "//",  ";",   "sid=1",      "sid",         "=",
      "&",   "?",   "#",   "index.html", "%41",         "%2e",
      ".",   "..",  "%",   "%c3",        "jsessionid=", "PHPSESSID=",
      "C=N", "O=D", "N=D", "ref",        "utm_a=1",     "[",
      "|",   "\\",  "x",   "a=1",        "4",           "default.htm"};
  std::string url = "http://";
  if (random->Chance(0.2)) url += "u:p@";
  if (random->Chance(0.3)) url += "www.";
  url += random->Chance(0.5) ? "example.com" : "host";
  if (random->Chance(0.2)) url += ".";
  url += "/";
  for (uint64_t n = random->Below(12); n > 0; --n) {
    url += kPieces[random->Below(std::size(kPieces))];
  }
  return url;
}

TEST(Normalizer, TwiceIsOnce) {
  for (uint64_t seed = 0; seed < 50000; ++seed) {
    Random random(seed);
    config::UrlSettings settings = RandomSettings(&random);
    std::string url = RandomUrl(&random);
    std::string once = Normalized(url, settings);
    ASSERT_EQ(Normalized(once, settings), once)
        << "seed " << seed << " url " << url;
  }
}

}  // namespace
}  // namespace nephila::url
