#include "parse/meta_refresh.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace nephila::parse {
namespace {

struct Case {
  std::string_view value;
  uint64_t delay_s;
  std::string_view url;  // "-": none
};

// The values of web-platform-tests' attr-meta-http-equiv-refresh/parsing, with
// the URL as it stands: trimming it and dropping its tabs is the URL parser's.
constexpr std::array<Case, 46> kCases = {{
    {"1", 1, "-"},
    {"1 ", 1, "-"},
    {"1\t", 1, "-"},
    {"1\r", 1, "-"},
    {"1\n", 1, "-"},
    {"1\f", 1, "-"},
    {"1;", 1, "-"},
    {"1,", 1, "-"},
    {"1; url=foo", 1, "foo"},
    {"1, url=foo", 1, "foo"},
    {"1 url=foo", 1, "foo"},
    {"1;\turl=foo", 1, "foo"},
    {"1,\rurl=foo", 1, "foo"},
    {"1\nurl=foo", 1, "foo"},
    {"1;\furl=foo", 1, "foo"},
    {"1 x;url=foo", 1, "x;url=foo"},
    {"1;;url=foo", 1, ";url=foo"},
    {"  1  ;  url  =  foo", 1, "foo"},
    {"  1  ,  url  =  foo", 1, "foo"},
    {"  1  ;  foo", 1, "foo"},
    {"  1  ,  foo", 1, "foo"},
    {"  1  url  =  foo", 1, "foo"},
    {"1; url=foo ", 1, "foo "},
    {"1; url=f\to\no", 1, "f\to\no"},
    {"1; url=\"foo\"bar", 1, "foo"},
    {"1; url='foo'bar", 1, "foo"},
    {"1; url=\"foo'bar", 1, "foo'bar"},
    {"1; url foo", 1, "url foo"},
    {"1; urlfoo", 1, "urlfoo"},
    {"1; urfoo", 1, "urfoo"},
    {"1; ufoo", 1, "ufoo"},
    {"1; \"foo\"bar", 1, "foo"},
    {"0; url=foo", 0, "foo"},
    {"0; foo", 0, "foo"},
    {"0", 0, "-"},
    {"1.9; url=foo", 1, "foo"},
    {"1.9..5.; url=foo", 1, "foo"},
    {".9; url=foo", 0, "foo"},
    {"0.9; url=foo", 0, "foo"},
    {".", 0, "-"},
    {"5;URL=foo", 5, "foo"},
    {"5;uRl='", 5, ""},
    {"5;url=", 5, ""},
    {"5;url", 5, "url"},
    {"5;u", 5, "u"},
    {"99999999999999999999999;a", kLongestRefresh, "a"},
}};

TEST(MetaRefresh, ReadsWhatBrowsersRead) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(std::string(c.value));
    auto refresh = ParseRefresh(c.value);
    if (!refresh) {
      ADD_FAILURE() << "refused";
      continue;
    }
    EXPECT_EQ(refresh->delay_s, c.delay_s);
    EXPECT_EQ(refresh->url.value_or("-"), c.url);
  }
}

TEST(MetaRefresh, RefusesWhatBrowsersRefuse) {
  for (std::string_view value :
       {"", " ", "1url=foo", "1x;url=foo", "; foo", ", foo", "foo",
        "+1; url=foo", "-1; url=foo", "+0; url=foo", "-0; url=foo", "+1; foo",
        "-1", "1e0; url=foo", "10e-1; url=foo", "-0.1; url=foo", "url=foo"}) {
    EXPECT_FALSE(ParseRefresh(value).has_value()) << value;
  }
}

}  // namespace
}  // namespace nephila::parse
