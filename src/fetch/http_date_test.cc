#include "fetch/http_date.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::fetch {
namespace {

using std::chrono::seconds;

constexpr WallTime kNow{seconds(1'767'225'600)};  // 2026-01-01

std::string Http(std::string_view text) {
  auto time = ParseHttpDate(text, kNow);
  return time ? FormatUtc(*time) : "none";
}

std::string Cookie(std::string_view text) {
  auto time = ParseCookieDate(text);
  return time ? FormatUtc(*time) : "none";
}

TEST(HttpDate, ReadsTheThreeForms) {
  constexpr char kTime[] = "1994-11-06T08:49:37.000Z";
  EXPECT_EQ(Http("Sun, 06 Nov 1994 08:49:37 GMT"), kTime);
  EXPECT_EQ(Http("Sunday, 06-Nov-94 08:49:37 GMT"), kTime);
  EXPECT_EQ(Http("Sun Nov  6 08:49:37 1994"), kTime);
}

TEST(HttpDate, ReadsWhatServersMakeOfThem) {
  EXPECT_EQ(Http("sun, 6 november 1994 8:9:7"), "1994-11-06T08:09:07.000Z");
  EXPECT_EQ(Http("Tue, 31 Dec 2030 23:59:60 GMT"), "2030-12-31T23:59:59.000Z");
  EXPECT_EQ(Http("Sun, 06-Nov-1994 08:49:37 UTC"), "1994-11-06T08:49:37.000Z");
}

TEST(HttpDate, AShortYearIsAtMostFiftyYearsAhead) {
  EXPECT_EQ(Http("Sunday, 06-Nov-76 08:49:37 GMT"), "2076-11-06T08:49:37.000Z");
  EXPECT_EQ(Http("Sunday, 06-Nov-77 08:49:37 GMT"), "1977-11-06T08:49:37.000Z");
  EXPECT_EQ(Http("Sunday, 06-Nov-00 08:49:37 GMT"), "2000-11-06T08:49:37.000Z");
  EXPECT_EQ(Cookie("Sunday, 06-Nov-69 08:49:37 GMT"),
            "2069-11-06T08:49:37.000Z");
  EXPECT_EQ(Cookie("Sunday, 06-Nov-70 08:49:37 GMT"),
            "1970-11-06T08:49:37.000Z");
}

TEST(HttpDate, RefusesWhatIsNoDate) {
  for (std::string_view text :
       {"", "0", "-1", "tomorrow", "Sun, 06 Nov 1994", "06 1994 08:49:37",
        "Nov 1994 08:49:37", "31 Feb 2020 00:00:00", "1 Jan 2020 24:00:00",
        "1 Jan 2020 10:60:00", "1 Jan 2020 10:00:61", "1 Jan 1600 10:00:00",
        "0 Jan 2020 10:00:00", "1 Jan 20200 10:00:00", "1 Jan 2020 1:2",
        "1 Jan 2020 111:22:33"}) {
    EXPECT_EQ(Http(text), "none") << text;
    EXPECT_EQ(Cookie(text), "none") << text;
  }
}

TEST(HttpDate, HoldsWhatIsTooFar) {
  EXPECT_EQ(Http("Fri, 31 Dec 9999 23:59:59 GMT").substr(0, 4), "2262");
  EXPECT_EQ(Http("Mon, 01 Jan 1601 00:00:00 GMT").substr(0, 4), "1677");
}

}  // namespace
}  // namespace nephila::fetch
