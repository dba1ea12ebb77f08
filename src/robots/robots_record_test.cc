#include "robots/robots_record.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "item/url_record.h"
#include "robots/origin.h"
#include "robots/parking.h"
#include "robots/return_gate.h"
#include "robots/robots_stage_testing.h"
#include "url/keys.h"

namespace nephila::robots {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

RobotsRecord FullRecord() {
  RobotsRecord record;
  record.requested = true;
  record.fetch = 77;
  record.asked = 1'700'000'000'000;
  record.refresh = record.asked + 5;
  record.expires = record.asked + 9;
  record.tries = 3;
  record.unreachable_since = record.asked - 100;
  record.host = {record.asked + 50, 4, 2};
  record.crawl_delay = 12'000;
  record.kind = RulesKind::kInline;
  record.rules = "any bytes";
  return record;
}

HostRecord HostOf(const RobotsRecord& file) {
  HostRecord record;
  record.host.not_before = file.host.not_before;
  record.host.overloads = file.host.overloads;
  record.files.push_back({AuthorityFile(80, false), file});
  return record;
}

std::string Encoded(const RobotsRecord& file) {
  std::string bytes;
  AppendHostRecord(HostOf(file), bytes);
  return bytes;
}

TEST(RobotsRecordTest, WhatIsWrittenIsRead) {
  RobotsRecord record = FullRecord();
  std::string bytes = Encoded(record);
  EXPECT_EQ(ReadHostRecord(bytes), HostOf(record));
  record.kind = RulesKind::kLog;
  record.rules = {};
  record.place = {3, 4096, 123'456};
  record.redirect = "http://b.test/";
  record.host.authority_not_before = 9;
  record.waiting_sites = 2;
  bytes = Encoded(record);
  EXPECT_EQ(ReadHostRecord(bytes), HostOf(record));
  HostRecord two = HostOf(record);
  two.Add(kTargetFile | 5)->expires = 8;
  two.files.back().record.host.authority_not_before = 0;
  two.files.back().record.host.failures = 0;
  bytes.clear();
  AppendHostRecord(two, bytes);
  EXPECT_EQ(ReadHostRecord(bytes), two);
  bytes = Encoded(RobotsRecord());
  EXPECT_EQ(ReadHostRecord(bytes), HostOf(RobotsRecord()));
  EXPECT_LE(bytes.size(), 16U);
}

TEST(RobotsRecordTest, OtherBytesAreRefused) {
  RobotsRecord record = FullRecord();
  record.kind = RulesKind::kLog;
  record.rules = {};
  const std::string bytes = Encoded(record);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadHostRecord(bytes.substr(0, size)).has_value());
  }
  EXPECT_FALSE(ReadHostRecord(bytes + "x").has_value());
  std::string later = bytes;
  later[0] = 3;
  EXPECT_FALSE(ReadHostRecord(later).has_value());
  std::string kind = bytes;
  // Behind the state of the host, the number of files, the name and the size.
  const size_t flags = kind.find('\x15');
  ASSERT_NE(flags, std::string::npos);
  kind[flags] = '\x16';
  EXPECT_FALSE(ReadHostRecord(kind).has_value());
}

// A time that no clock can have must not make a record unreadable.
TEST(RobotsRecordTest, TimesEndWithTheClock) {
  RobotsRecord record;
  record.expires = UINT64_MAX;
  const std::string bytes = Encoded(record);
  const auto read = ReadHostRecord(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_GT(TimeOf(read->files.at(0).record.expires),
            WallTime(hours(24 * 365 * 200)));
  EXPECT_EQ(MillisecondsOf(WallTime(-seconds(5))), 0U);
  EXPECT_EQ(MillisecondsOf(TimeOf(12'345)), 12'345U);
}

TEST(RobotsOrigin, OfAUrlIsItsRoot) {
  const auto text = [](std::string_view url) {
    const std::string bytes = EncodeText(url);
    const auto origin = OriginOf(*item::ReadUrl(bytes));
    return origin.has_value() ? origin->text : std::string(origin.error());
  };
  EXPECT_EQ(text("http://a.test/x?y"), "http://a.test/");
  EXPECT_EQ(text("https://a.test:8443/x"), "https://a.test:8443/");
  EXPECT_EQ(text("http://a.test"), "http://a.test/");
  EXPECT_EQ(text("http://a.test?q"), "http://a.test/");
  EXPECT_EQ(text("http://[2001:db8::1]:81/"), "http://[2001:db8::1]:81/");
  EXPECT_EQ(text("ftp://a.test/"), "neither http nor https");
}

TEST(RobotsOrigin, PathIsWhatRulesSpeakOf) {
  const auto path = [](std::string_view url) {
    const std::string bytes = EncodeText(url);
    return std::string(PathOf(*item::ReadUrl(bytes)));
  };
  EXPECT_EQ(path("http://a.test:80/x/y?z=1#f"), "/x/y?z=1");
  EXPECT_EQ(path("http://a.test"), "");
  EXPECT_EQ(path("http://a.test?q"), "?q");
}

TEST(RobotsOrigin, NamesAreReadAndOthersRefused) {
  for (const char* text : {"http://a.test/", "https://a.test:8443/",
                           "http://[::1]:81/", "http://127.0.0.1/"}) {
    const auto origin = ReadOrigin(text);
    ASSERT_TRUE(origin.has_value()) << text;
    EXPECT_EQ(origin->text, text);
  }
  // A dot at the end is the same host.
  EXPECT_EQ(ReadOrigin("http://a.test./")->text, "http://a.test/");
  for (const char* text :
       {"", "a.test", "ftp://a.test/", "http://", "http:///", "http://a.test",
        "http://a.test/x", "http://u@a.test/", "http://[::1/", "http://./",
        "http://a.test:x/", "http://a.test?"}) {
    EXPECT_FALSE(ReadOrigin(text).has_value()) << text;
  }
}

TEST(RobotsOrigin, KeysLieInTheShardOfTheDomain) {
  const Origin a = *ReadOrigin("http://a.b.co.uk/");
  const Origin b = *ReadOrigin("https://x.b.co.uk:444/");
  const uint32_t a_size = PldSizeOf(a, TestSuffixes());
  EXPECT_EQ(a_size, std::string_view("b.co.uk").size());
  const uint64_t a_key = OriginKey(a, a_size, 1);
  const uint64_t b_key = OriginKey(b, PldSizeOf(b, TestSuffixes()), 1);
  EXPECT_NE(a_key, b_key);
  EXPECT_EQ(a_key & url::kShardMask, b_key & url::kShardMask);
  EXPECT_EQ(a_key & url::kShardMask,
            url::MakeKeys("", "", "b.co.uk", 1).pld.shard());
  EXPECT_NE(a_key, OriginKey(a, a_size, 2));
  EXPECT_EQ(PldSizeOf(*ReadOrigin("http://10.1.2.3/"), TestSuffixes()), 8U);
}

TEST(RobotsParking, NothingIsDueBeforeItsTimeNorMuchLater) {
  const WallTime now = WallTime(seconds(1'767'225'600)) + milliseconds(1);
  for (milliseconds wait{1}; wait < hours(24 * 40);
       wait = wait * 5 / 4 + milliseconds(1)) {
    const uint64_t queue = ParkingQueue(now + wait, now);
    EXPECT_TRUE(IsParkingQueue(queue));
    const auto late = ParkingDue(queue) - (now + wait);
    EXPECT_GE(late.count(), 0);
    EXPECT_LE(late, wait / 16 + seconds(2));
  }
  EXPECT_LE(ParkingDue(ParkingQueue(now - hours(1), now)), now + seconds(1));
}

// Some hundred queues, whatever waits.
TEST(RobotsParking, QueuesAreFew) {
  const WallTime now(seconds(1'767'225'600));
  std::set<uint64_t> queues;
  for (seconds wait{0}; wait < hours(24 * 7); wait += seconds(1)) {
    queues.insert(ParkingQueue(now + wait, now));
  }
  EXPECT_LT(queues.size(), 1000U);
}

TEST(RobotsReturnGate, OpensAsRequestsEnd) {
  ReturnGate gate;
  EXPECT_EQ(gate.OpenUntil(0), 0U);
  gate.Note(3, 1);
  gate.Note(5, 1);
  gate.Note(6, 2);
  EXPECT_EQ(gate.OpenUntil(0), 0U);
  EXPECT_EQ(gate.OpenUntil(1), 5U);
  std::string bytes;
  ByteWriter writer(bytes);
  gate.Write(writer);
  ReturnGate again;
  ByteReader reader{std::string_view(bytes)};
  ASSERT_TRUE(again.Read(reader));
  EXPECT_EQ(again.OpenUntil(1), 5U);
  EXPECT_EQ(again.OpenUntil(2), 6U);
}

// Where it forgets, URLs wait longer, never shorter.
TEST(RobotsReturnGate, IsBounded) {
  ReturnGate gate;
  constexpr uint64_t kMany = 5 * ReturnGate::kMostPlaces;
  for (uint64_t i = 1; i <= kMany; ++i) gate.Note(i, i);
  for (uint64_t i = 1; i < kMany; ++i) EXPECT_LE(gate.OpenUntil(i), i);
  EXPECT_EQ(gate.OpenUntil(kMany), kMany);
}

}  // namespace
}  // namespace nephila::robots
