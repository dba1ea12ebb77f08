#include "politeness/site_delays.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/file_testing.h"

namespace nephila::politeness {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(SiteDelaysTest, TheNearestNameCounts) {
  const SiteDelays delays = Must(SiteDelays::Parse(
      {"example.org=2s", "Slow.Example.org = 1m", "example.net=0s"}));
  EXPECT_EQ(delays.Find("example.org"), seconds(2));
  EXPECT_EQ(delays.Find("www.example.org"), seconds(2));
  EXPECT_EQ(delays.Find("slow.example.org"), seconds(60));
  EXPECT_EQ(delays.Find("a.b.slow.example.org"), seconds(60));
  EXPECT_EQ(delays.Find("example.net"), seconds(0));
  EXPECT_EQ(delays.Find("other.net"), std::nullopt);
  EXPECT_EQ(delays.Find("notexample.org"), std::nullopt);
  EXPECT_EQ(delays.Find("org"), std::nullopt);
  EXPECT_EQ(delays.Find(""), std::nullopt);
  EXPECT_EQ(Must(SiteDelays::Parse({})).Find("example.org"), std::nullopt);
}

TEST(SiteDelaysTest, RefusesWhatIsNoDelay) {
  EXPECT_FAILS(SiteDelays::Parse({"example.org"}), kInvalidArgument,
               "'example.org' is not a host and a delay");
  EXPECT_FAILS(SiteDelays::Parse({"=2s"}), kInvalidArgument, "not a host");
  EXPECT_FAILS(SiteDelays::Parse({"example.org=fast"}), kInvalidArgument,
               "politeness.site_delays");
  EXPECT_FAILS(SiteDelays::Parse({"example.org=-2s"}), kInvalidArgument,
               "politeness.site_delays");
}

}  // namespace
}  // namespace nephila::politeness
