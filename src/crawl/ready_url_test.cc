#include "crawl/ready_url.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace nephila::crawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ReadyUrl Full() {
  ReadyUrl url;
  url.record = "record of https://example.com/";
  url.budget = 10'000;
  url.crawl_delay = milliseconds(1500);
  url.not_before = WallTime(seconds(1'767'225'600) + milliseconds(7));
  url.failures = 3;
  url.overloads = std::numeric_limits<uint32_t>::max();
  url.checked = WallTime(seconds(1'767'225'000));
  url.authority_not_before = WallTime(seconds(1'767'225'900));
  return url;
}

TEST(ReadyUrlTest, IsReadAsItWasWritten) {
  for (const ReadyUrl& url : {Full(), ReadyUrl()}) {
    std::string bytes;
    AppendReadyUrl(url, bytes);
    const auto read = ReadReadyUrl(bytes);
    ASSERT_TRUE(read.has_value()) << read.error();
    EXPECT_EQ(*read, url);
  }
  const ParkedUrl parked{"record", 7, WallTime(seconds(1'767'225'600))};
  std::string bytes;
  AppendParkedUrl(parked, bytes);
  EXPECT_EQ(*ReadParkedUrl(bytes), parked);
}

TEST(ReadyUrlTest, BytesArePinned) {
  std::string bytes;
  AppendReadyUrl({"R", 300, milliseconds(2), WallTime(milliseconds(3)), 4, 5,
                  WallTime(milliseconds(6)), WallTime(milliseconds(7))},
                 bytes);
  EXPECT_EQ(bytes, "\x02\xac\x02\x02\x03\x04\x05\x06\x07R");
  bytes.clear();
  AppendParkedUrl({"R", 1, WallTime(milliseconds(2))}, bytes);
  EXPECT_EQ(bytes, "\x01\x01\x02R");
}

// Version 1 knows nothing of authorities: what its host waits for holds.
TEST(ReadyUrlTest, TheEarlierVersionIsRead) {
  const auto read = ReadReadyUrl("\x01\xac\x02\x02\x03\x04\x05\x06R");
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_EQ(*read,
            (ReadyUrl{"R", 300, milliseconds(2), WallTime(milliseconds(3)), 4,
                      5, WallTime(milliseconds(6)), WallTime()}));
}

// What lies before 1970, or is negative, is 0: there is no such wait.
TEST(ReadyUrlTest, NegativeTimesAreNone) {
  ReadyUrl url = Full();
  url.crawl_delay = milliseconds(-5);
  url.not_before = WallTime(seconds(-5));
  std::string bytes;
  AppendReadyUrl(url, bytes);
  const auto read = ReadReadyUrl(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->crawl_delay, milliseconds(0));
  EXPECT_EQ(read->not_before, WallTime());
}

TEST(ReadyUrlTest, WhatIsCutOffOrOfAnotherVersionIsRefused) {
  std::string bytes;
  AppendReadyUrl(Full(), bytes);
  const size_t numbers = bytes.size() - Full().record.size();
  for (size_t size = 0; size < numbers; ++size) {
    EXPECT_FALSE(ReadReadyUrl(std::string_view(bytes).substr(0, size))) << size;
  }
  bytes[0] = 3;
  EXPECT_EQ(ReadReadyUrl(bytes).error(), "unknown version");
  EXPECT_EQ(ReadParkedUrl(bytes).error(), "unknown version");
  EXPECT_EQ(ReadParkedUrl("").error(), "no bytes");
  // More failures than can be counted.
  EXPECT_FALSE(
      ReadReadyUrl(std::string("\x01\x01\x01\x01\xff\xff\xff\xff\x7f"
                               "\x01\x01R")));
}

}  // namespace
}  // namespace nephila::crawl
