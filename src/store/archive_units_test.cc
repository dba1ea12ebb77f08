#include "store/archive_units.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "store/store.h"
#include "store/store_testing.h"

namespace nephila::store {
namespace {

class UnitReaderTest : public ::testing::Test {
 protected:
  UnitReaderTest() {
    MustDo(fs_.MakeDir("archive"));
    StoreOptions options;
    options.folder = "archive";
    options.log_path = "archive/crawl.log";
    options.info = {{"setting", "politeness.host_delay = \"1s\""}};
    const auto store =
        Must(Store::OpenAt(fs_, clock_, std::move(options), std::nullopt));
    TestPage first("http://a.com/1");
    first.page.hop_path = "LR";
    first.page.attempt = 3;
    first.page.duration = std::chrono::milliseconds(7);
    first.SetHead("HTTP/1.1 503 Busy\nRetry-After: 120\n\n");
    places_.push_back(*Must(store->Write(first.page)).place);
    TestPage robots("http://a.com/robots.txt");
    robots.page.hop_path = "P";
    places_.push_back(*Must(store->Write(robots.page)).place);
    MustDo(store->Finish());
    path_ = ArchivePaths(fs_, "archive").at(0);
  }

  std::vector<Unit> Units() {
    const auto reader = Must(UnitReader::Open(fs_, path_));
    std::vector<Unit> units;
    Unit unit;
    while (Must(reader->Next(&unit))) units.push_back(unit);
    return units;
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  std::vector<UnitPlace> places_;
  std::string path_;
};

TEST_F(UnitReaderTest, GivesWhatWasWrittenAndWhere) {
  const std::vector<Unit> units = Units();
  ASSERT_EQ(units.size(), 3U);
  EXPECT_EQ(units[0].kind, UnitKind::kInfo);
  EXPECT_NE(units[0].info.find("setting: politeness.host_delay = \"1s\"\r\n"),
            std::string::npos)
      << units[0].info;
  const Unit& first = units[1];
  EXPECT_EQ(first.kind, UnitKind::kFetch);
  EXPECT_EQ(first.offset, places_[0].begin.offset);
  EXPECT_EQ(first.end, places_[0].end.offset);
  EXPECT_EQ(first.url, "http://a.com/1");
  EXPECT_EQ(first.status, 503);
  EXPECT_EQ(first.attempt, 3U);
  EXPECT_EQ(first.hop_path, "LR");
  EXPECT_EQ(first.retry_after, "120");
  EXPECT_EQ(first.fetch_ms, "7");
  EXPECT_EQ(first.payload_bytes, std::string("<p>hello</p>").size());
  EXPECT_FALSE(first.payload_digest.empty());
  EXPECT_FALSE(first.is_robots());
  EXPECT_TRUE(units[2].is_robots());
  EXPECT_EQ(units[2].attempt, 1U);
}

TEST_F(UnitReaderTest, DamageEndsAUnitAndTheNextIsRead) {
  // In the metadata, which ends it.
  MustDo(fs_.FlipBit(path_, places_[0].end.offset - 20, 3));
  const std::vector<Unit> units = Units();
  ASSERT_EQ(units.size(), 3U);
  EXPECT_EQ(units.back().url, "http://a.com/robots.txt");
  EXPECT_EQ(units.back().kind, UnitKind::kFetch);
  EXPECT_EQ(units[1].kind, UnitKind::kPartial);
}

TEST_F(UnitReaderTest, AWriteThatWasCutOffIsPartial) {
  const std::string whole = Get(fs_, path_);
  Put(fs_, path_, whole.substr(0, places_[1].end.offset - 10));
  const std::vector<Unit> units = Units();
  ASSERT_EQ(units.size(), 3U);
  EXPECT_EQ(units[2].kind, UnitKind::kPartial);
}

}  // namespace
}  // namespace nephila::store
