#include "store/archive_name.h"

#include <gtest/gtest.h>

namespace nephila::store {
namespace {

constexpr WallTime kTime{std::chrono::nanoseconds(1'767'323'045'678'901'234)};

TEST(ArchiveNameTest, TimesAreWrittenInUtc) {
  EXPECT_EQ(Timestamp17(kTime), "20260102030405678");
  EXPECT_EQ(WarcDate(kTime), "2026-01-02T03:04:05.678901Z");
  EXPECT_EQ(WarcDate(WallTime{}), "1970-01-01T00:00:00.000000Z");
  const WallTime before(std::chrono::nanoseconds(-1));
  EXPECT_EQ(WarcDate(before), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(Timestamp17(before), "19691231235959999");
}

ArchiveName Sample() {
  ArchiveName name;
  name.prefix = "my-crawl";
  name.timestamp = "20260102030405678";
  name.serial = 42;
  return name;
}

TEST(ArchiveNameTest, NamesHoldTheirParts) {
  ArchiveName name = Sample();
  EXPECT_EQ(name.Text(), "my-crawl-20260102030405678-00042.warc.gz");
  name.host = "host-1.example";
  name.open = true;
  EXPECT_EQ(name.Text(),
            "my-crawl-20260102030405678-00042-host-1.example.warc.gz.open");
  EXPECT_EQ(name.FinalText(),
            "my-crawl-20260102030405678-00042-host-1.example.warc.gz");
  EXPECT_EQ(name.IndexText(),
            "my-crawl-20260102030405678-00042-host-1.example.cdxj");
  name.suffix = kZstdSuffix;
  EXPECT_EQ(name.FinalText(),
            "my-crawl-20260102030405678-00042-host-1.example.warc.zst");
}

TEST(ArchiveNameTest, ReadingGivesBackWhatWasWritten) {
  for (const std::string_view host : {"", "h", "host-1.example"}) {
    for (const uint64_t serial : {0ULL, 99999ULL, 123456789012ULL}) {
      for (const bool open : {false, true}) {
        ArchiveName name = Sample();
        name.host = host;
        name.serial = serial;
        name.open = open;
        EXPECT_EQ(ParseArchiveName("my-crawl", name.Text()), name);
      }
    }
  }
}

TEST(ArchiveNameTest, OtherFilesAreNotOurs) {
  for (const std::string_view name :
       {"my-crawl-20260102030405678-00042.cdxj", "crawl.log",
        "my-crawl-20260102030405678-00042.warc",
        "my-crawl-2026010203040567-00042.warc.gz",
        "my-crawl-2026010203040567x-00042.warc.gz",
        "my-crawl-20260102030405678-x.warc.gz",
        "my-crawl-20260102030405678-00042x.warc.gz",
        "my-crawl-20260102030405678-00042-.warc.gz",
        "my-crawl-20260102030405678-00042.warc.gz.open.open",
        "my-crawl-two-20260102030405678-00042.warc.gz",
        "my-20260102030405678-00042.warc.gz", "", "my-crawl.warc.gz"}) {
    EXPECT_FALSE(ParseArchiveName("my-crawl", name)) << name;
  }
}

TEST(ArchiveNameTest, NoPartLeadsOutOfTheFolder) {
  EXPECT_TRUE(IsNamePart("nephila"));
  EXPECT_TRUE(IsNamePart("a_b-c.d"));
  for (const std::string_view part :
       {"", ".", "..", "../x", "a/b", "-a", ".a", "a b", "a\nb", "\xC3\xA4"}) {
    EXPECT_FALSE(IsNamePart(part)) << part;
  }
  EXPECT_FALSE(IsNamePart(std::string(101, 'a')));
}

}  // namespace
}  // namespace nephila::store
