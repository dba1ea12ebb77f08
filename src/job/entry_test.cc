#include "job/entry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "job/flip_testing.h"

namespace nephila::job {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kReasons[] = {"version",
                                         "kind",
                                         "time",
                                         "flags",
                                         "record",
                                         "place",
                                         "outcome",
                                         "status",
                                         "attempt",
                                         "budget",
                                         "bytes of the body",
                                         "next",
                                         "host",
                                         "authority",
                                         "wait of the authority",
                                         "stream",
                                         "serial",
                                         "offset",
                                         "size",
                                         "address",
                                         "wait of the URL",
                                         "wait of the host",
                                         "failures",
                                         "wait of the address",
                                         "overloads",
                                         "crawl delay",
                                         "end of robots.txt",
                                         "rules",
                                         "text",
                                         "status of robots.txt",
                                         "end"};

Entry Page() {
  Entry entry;
  entry.kind = EntryKind::kPage;
  entry.when = WallTime(seconds(1'767'225'600) + milliseconds(7));
  entry.record = "record of https://example.com/";
  entry.place = 1'000'000'007;
  entry.outcome = item::FetchOutcome::kResponse;
  entry.status = 503;
  entry.attempt = 2;
  entry.retry = true;
  entry.budget = 70;
  entry.body_bytes = 20'000;
  entry.archive = ArchivePlace{3, 70'000, uint64_t{1} << 40, 12345};
  entry.url_wait = seconds(60);
  entry.host_wait = seconds(120);
  entry.authority_wait = seconds(600);
  entry.address_wait = milliseconds(500);
  entry.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1};
  entry.host_failures = 4;
  entry.host_overloads = 5;
  return entry;
}

Entry Revisit() {
  Entry entry = Page();
  entry.original = ArchivePlace{2, 60'000, uint64_t{1} << 39, 1234};
  return entry;
}

// A redirect of a robots.txt to another host.
Entry Hop() {
  Entry entry = Page();
  entry.kind = EntryKind::kRobots;
  entry.goes_on = true;
  entry.next = "https://example.net/robots.txt";
  entry.host = 0x0123456789abcdef;
  entry.authority = 131071;
  entry.authority_wait = milliseconds(0);
  return entry;
}

// As they were before there were authorities.
Entry OldHop() {
  Entry entry = Hop();
  entry.authority.reset();
  return entry;
}

Entry Robots() {
  Entry entry = Page();
  entry.kind = EntryKind::kRobots;
  entry.place = 0;
  entry.address = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  entry.robots_end = item::RobotsFetchEnd::kTooManyRedirects;
  entry.robots_status = 301;
  entry.rules = std::string_view("rules\0with a zero", 17);
  entry.crawl_delay = milliseconds(0);
  return entry;
}

Entry Seed() {
  Entry entry;
  entry.kind = EntryKind::kSeed;
  entry.when = WallTime(seconds(-1));
  entry.record = "record of a seed";
  entry.text = "label";
  return entry;
}

Entry Command() {
  Entry entry;
  entry.kind = EntryKind::kCommand;
  entry.text = "block example.com";
  return entry;
}

std::vector<Entry> Samples() {
  Entry bare;
  Entry without_delay = Robots();
  without_delay.crawl_delay.reset();
  without_delay.archive.reset();
  without_delay.address = {};
  return {Page(), Revisit(), Hop(), OldHop(),     Robots(),
          Seed(), Command(), bare,  without_delay};
}

std::string BytesOf(const Entry& entry) {
  std::string bytes;
  AppendEntry(entry, bytes);
  return bytes;
}

TEST(Entry, ComesBackAsItWas) {
  for (const Entry& entry : Samples()) {
    const std::string bytes = BytesOf(entry);
    const auto read = ReadEntry(bytes);
    ASSERT_TRUE(read.has_value()) << read.error();
    EXPECT_EQ(*read, entry) << EntryKindName(entry.kind);
  }
}

TEST(Entry, IsSmall) {
  Entry entry = Page();
  entry.record = "";
  EXPECT_LE(BytesOf(entry).size(), 56U);
}

TEST(Entry, IsAppendedBehindWhatIsThere) {
  std::string bytes = "before";
  AppendEntry(Command(), bytes);
  EXPECT_EQ(bytes, "before" + BytesOf(Command()));
}

TEST(Entry, LeavesOutWhatItsKindDoesNotHave) {
  Entry entry = Robots();
  entry.kind = EntryKind::kCommand;
  entry.text = "pause";
  const std::string bytes = BytesOf(entry);
  const auto read = ReadEntry(bytes);
  ASSERT_TRUE(read.has_value());
  Entry expected;
  expected.kind = EntryKind::kCommand;
  expected.when = entry.when;
  expected.text = "pause";
  EXPECT_EQ(*read, expected);
}

TEST(Entry, IsRefusedCutShortAnywhereAndWithMoreBehindIt) {
  for (const Entry& entry : Samples()) {
    const std::string bytes = BytesOf(entry);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(ReadEntry(bytes.substr(0, size)).has_value()) << size;
    }
    EXPECT_FALSE(ReadEntry(bytes + '\0').has_value());
  }
}

TEST(Entry, WithAFlippedBitIsRefusedOrAnotherEntryOfTheSameSpelling) {
  for (const Entry& entry : Samples()) {
    const std::string bytes = BytesOf(entry);
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        const std::string flipped = Flipped(bytes, i, bit);
        const auto read = ReadEntry(flipped);
        if (read.has_value()) {
          EXPECT_EQ(BytesOf(*read), flipped);
        } else {
          EXPECT_NE(
              std::find(std::begin(kReasons), std::end(kReasons), read.error()),
              std::end(kReasons))
              << read.error();
        }
      }
    }
  }
}

TEST(Entry, OfAnotherVersionOrKindIsRefused) {
  std::string bytes = BytesOf(Command());
  for (int first = 0; first < 256; ++first) {
    bytes[0] = static_cast<char>(first);
    const auto read = ReadEntry(bytes);
    if (first >> 4 != 2) {
      ASSERT_FALSE(read.has_value());
      EXPECT_EQ(read.error(), "version");
    } else if ((first & 0xf) == 0 || (first & 0xf) > 4) {
      ASSERT_FALSE(read.has_value());
      EXPECT_EQ(read.error(), "kind");
    }
  }
}

TEST(Entry, WaitsAreWithinAHundredYears) {
  Entry entry = Page();
  entry.url_wait = milliseconds(-5);
  entry.host_wait = milliseconds::max();
  const std::string bytes = BytesOf(entry);
  const auto read = ReadEntry(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->url_wait, milliseconds(0));
  EXPECT_EQ(read->host_wait, hours(24 * 366 * 100));
}

TEST(Entry, BoundsHold) {
  const std::string large(kMostEntryRulesBytes, 'r');
  Entry entry = Robots();
  entry.rules = large;
  entry.record = std::string_view(large).substr(0, kMostEntryRecordBytes);
  const std::string bytes = BytesOf(entry);
  const auto read = ReadEntry(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, entry);

  entry.rules = "";
  std::string longer = BytesOf(entry);
  // The last byte is the length of the rules: one more than is allowed.
  longer.pop_back();
  longer += "\x81\x80\x40";
  longer += large + "r";
  const auto refused = ReadEntry(longer);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error(), "rules");
}

TEST(Entry, FlagsThatDoNotGoTogetherAreRefused) {
  constexpr size_t kFlags = 9;  // behind kind and time
  std::string hop = BytesOf(Hop());
  hop[kFlags] = static_cast<char>(hop[kFlags] & ~1);  // its URL is not open
  ASSERT_FALSE(ReadEntry(hop).has_value());
  EXPECT_EQ(ReadEntry(hop).error(), "flags");
  std::string revisit = BytesOf(Revisit());
  revisit[kFlags] = static_cast<char>(revisit[kFlags] & ~2);  // not archived
  ASSERT_FALSE(ReadEntry(revisit).has_value());
  EXPECT_EQ(ReadEntry(revisit).error(), "flags");
}

TEST(Entry, AnAddressHasOneSpelling) {
  // The address of an IPv4 host, spelled as one of IPv6.
  Entry entry = Robots();
  std::string bytes = BytesOf(entry);
  const std::string v6(reinterpret_cast<const char*>(entry.address.data()), 16);
  const size_t at = bytes.find(v6);
  ASSERT_NE(at, std::string::npos);
  for (const auto& address : {Page().address, Entry().address}) {
    bytes.replace(at, 16, reinterpret_cast<const char*>(address.data()), 16);
    const auto read = ReadEntry(bytes);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error(), "address");
  }
}

TEST(Entry, EveryKindHasAName) {
  EXPECT_EQ(EntryKindName(EntryKind::kPage), "page");
  EXPECT_EQ(EntryKindName(EntryKind::kRobots), "robots");
  EXPECT_EQ(EntryKindName(EntryKind::kSeed), "seed");
  EXPECT_EQ(EntryKindName(EntryKind::kCommand), "command");
}

}  // namespace
}  // namespace nephila::job
