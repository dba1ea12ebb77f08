#include "item/url_record.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/random.h"

namespace nephila::item {
namespace {

UrlRecord Example() {
  UrlRecord record;
  record.url = "https://www.example.co.uk/a/b?x=1";
  record.host_start = 8;
  record.host_size = 17;
  record.pld_size = 13;
  record.flags = kFromRedirect | kEmbedded;
  record.depth = 3;
  record.hop_path = "LRE";
  record.parent = "https://www.example.co.uk/a/";
  record.discovered = WallTime(std::chrono::milliseconds(1'767'225'600'123));
  record.entry = 1'000'000;
  record.ordinal = 17;
  return record;
}

std::string Encode(const UrlRecord& record) {
  std::string bytes;
  AppendUrlRecord(record, bytes);
  return bytes;
}

TEST(UrlRecord, KnowsHostAndDomain) {
  EXPECT_EQ(Example().host(), "www.example.co.uk");
  EXPECT_EQ(Example().pld(), "example.co.uk");
}

TEST(UrlRecord, ComesBackAsItWas) {
  std::string parent;
  const std::string bytes = Encode(Example());
  const auto read = ReadUrlRecord(bytes, parent);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, Example());
  UrlRecord without = Example();
  without.parent = {};
  EXPECT_EQ(*ReadUrl(bytes), without);
}

TEST(UrlRecord, SeedsHaveNoParentAndNoHops) {
  UrlRecord seed = Example();
  seed.flags = kFromSeed;
  seed.depth = 0;
  seed.hop_path = {};
  seed.parent = {};
  std::string parent = "left over";
  const std::string bytes = Encode(seed);
  const auto read = ReadUrlRecord(bytes, parent);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, seed);
}

TEST(UrlRecord, ParentOnTheSameSiteCostsAFewBytes) {
  UrlRecord alone = Example();
  alone.parent = {};
  EXPECT_LE(Encode(Example()).size(), Encode(alone).size() + 2);
}

// The bytes of version 1, for ever: docs/formats/url-record.md has this one.
TEST(UrlRecord, BytesOfVersion1StayAsTheyAre) {
  UrlRecord record = Example();
  record.parent = "https://www.example.co.uk/z";
  const std::string bytes = Encode(record);
  EXPECT_EQ(bytes, std::string("\x01\x14\x21", 3) +
                       "https://www.example.co.uk/a/b?x=1" +
                       std::string("\x08\x11\x0d\x03\x03", 5) + "LRE" +
                       std::string("\xfb\xd0\xea\xb6\xb7\x33", 6) +
                       std::string("\xc0\x84\x3d\x11\x1a\x01", 6) + "z");
}

TEST(UrlRecord, EveryCutIsRefused) {
  const std::string bytes = Encode(Example());
  std::string parent;
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadUrlRecord(bytes.substr(0, size), parent).has_value())
        << size;
  }
  EXPECT_FALSE(ReadUrlRecord(bytes + '\0', parent).has_value());
}

UrlRecord Redirected() {
  UrlRecord record = Example();
  record.target = "https://example.co.uk.:8443/a/b?x=1&sid=5";
  record.followed = 2;
  return record;
}

TEST(UrlRecord, ATargetIsKeptAndIsWhatIsAskedFor) {
  const std::string bytes = Encode(Redirected());
  std::string parent;
  const auto read = ReadUrlRecord(bytes, parent);
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_EQ(*read, Redirected());
  const UrlRecord asked = Asked(*read);
  EXPECT_EQ(asked.url, Redirected().target);
  EXPECT_EQ(asked.host(), "example.co.uk");
  EXPECT_EQ(asked.pld(), "example.co.uk");
  EXPECT_TRUE(IsValid(asked));
  EXPECT_EQ(Asked(Example()), Example());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadUrl(bytes.substr(0, size)).has_value()) << size;
  }
}

TEST(UrlRecord, ATargetWithoutTheDomainIsInvalid) {
  for (const char* target :
       {"https://uk/", "nowhere", "https://", "https://[", "https:///a"}) {
    UrlRecord record = Redirected();
    record.target = target;
    EXPECT_FALSE(IsValid(record)) << target;
  }
  UrlRecord record = Redirected();
  record.target = "https://[2001:db8::1]:8080/x";
  record.pld_size = 1;
  ASSERT_TRUE(IsValid(record));
  EXPECT_EQ(Asked(record).host(), "[2001:db8::1]");
  record.followed = 0;
  EXPECT_FALSE(IsValid(record));
}

TEST(UrlRecord, AnotherVersionIsRefused) {
  std::string bytes = Encode(Example());
  bytes[0] = 3;
  std::string parent;
  EXPECT_EQ(ReadUrlRecord(bytes, parent).error(), "another version");
}

TEST(UrlRecord, WhatIsReadAfterDamageIsStillInBounds) {
  Random random(1);
  const std::string good = Encode(Redirected());
  std::string parent;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    for (int flips = 0; flips < 2; ++flips) {
      char& byte = bytes[random.Below(bytes.size())];
      byte = static_cast<char>(byte ^ (1 << random.Below(8)));
    }
    const auto read = ReadUrlRecord(bytes, parent);
    if (!read.has_value()) continue;
    ASSERT_TRUE(IsValid(*read));
    ASSERT_EQ(Encode(*read), bytes);
  }
}

TEST(UrlRecord, NumbersThatDoNotFitTheTextAreInvalid) {
  for (const auto& [start, host, pld] :
       {std::tuple{8U, 17U, 18U}, {8U, 0U, 0U}, {8U, 26U, 3U}, {34U, 1U, 1U}}) {
    UrlRecord record = Example();
    record.host_start = start;
    record.host_size = host;
    record.pld_size = pld;
    EXPECT_FALSE(IsValid(record)) << start << ' ' << host << ' ' << pld;
  }
  UrlRecord record = Example();
  record.hop_path = "Lr";
  EXPECT_FALSE(IsValid(record));
  record = Example();
  record.flags = kKnownUrlFlags + 1;
  EXPECT_FALSE(IsValid(record));
  record = Example();
  record.attempts = kMostAttempts + 1;
  EXPECT_FALSE(IsValid(record));
}

TEST(UrlRecord, LongPathsKeepTheirEnd) {
  std::string path;
  AppendHop("", 'L', path);
  EXPECT_EQ(path, "L");
  const std::string longest = std::string(kMostHops - 1, 'L') + 'R';
  path.clear();
  AppendHop(longest, 'E', path);
  EXPECT_EQ(path, std::string(kMostHops - 2, 'L') + "RE");
}

}  // namespace
}  // namespace nephila::item
