// An archive in several folders, of which some have no room.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/mounted_testing.h"
#include "store/store_testing.h"
#include "store/unit_maker.h"
#include "store/warc_writer.h"

namespace nephila::store {
namespace {

constexpr uint64_t kKiB = 1024;

class WarcFoldersTest : public testing::Test {
 protected:
  WarcFoldersTest() {
    disks_.Mount("a", a_);
    disks_.Mount("b", b_);
    MustDo(EnsureDir(disks_, "a"));
    MustDo(EnsureDir(disks_, "b"));
    options_.folder = "a";
    options_.other_folders = {"b"};
    options_.seed = 1;
  }

  std::unique_ptr<WarcWriter> Open(
      std::optional<Position> checkpoint = std::nullopt) {
    ++options_.seed;
    return Must(WarcWriter::OpenAt(disks_, clock_, options_, checkpoint));
  }
  Result<UnitPlace> TryWrite(WarcWriter& writer) {
    const TestPage page("http://example.com/" + std::to_string(written_),
                        Noise(1500, static_cast<uint64_t>(written_)));
    maker_.Begin(page.page);
    auto place = writer.Append(maker_.Records(writer, std::nullopt));
    if (place.has_value()) ++written_;
    return place;
  }
  void Write(WarcWriter& writer, int count) {
    for (int i = 0; i < count; ++i) Must(TryWrite(writer));
  }
  std::vector<std::string> Paths(const std::string& folder) {
    return ArchivePaths(disks_, folder);
  }
  bool IsOpen(const std::string& path) { return path.ends_with(".open"); }
  // Every page is there once, in whichever folder, and in an index.
  void ExpectAll() {
    std::map<std::string, int> pages;
    size_t lines = 0;
    for (const char* folder : {"a", "b"}) {
      for (const std::string& path : Paths(folder)) {
        EXPECT_FALSE(IsOpen(path)) << path;
        lines += CheckIndex(disks_, path).size();
        for (const ReadRecord& record : ReadArchive(disks_, path)) {
          if (record.header.type() == RecordType::kResponse) {
            ++pages[std::string(record.header.target_uri())];
          }
        }
      }
    }
    EXPECT_EQ(pages.size(), static_cast<size_t>(written_));
    EXPECT_EQ(lines, static_cast<size_t>(written_));
    for (const auto& [url, count] : pages) EXPECT_EQ(count, 1) << url;
  }

  MemoryFileSystem root_;
  MemoryFileSystem a_;
  MemoryFileSystem b_;
  MountedFileSystem disks_{root_};
  ManualClock clock_;
  WarcWriterOptions options_;
  UnitMaker maker_{DigestKind::kSha1};
  int written_ = 0;
};

TEST_F(WarcFoldersTest, AFullOneIsLeftForTheNext) {
  options_.max_file_bytes = 9000;
  a_.SetCapacity(50 * kKiB);
  const auto writer = Open();
  Write(*writer, 40);
  EXPECT_GE(Paths("a").size(), 3U);
  EXPECT_GE(Paths("b").size(), 3U);
  EXPECT_EQ(writer->folder(), "b");
  a_.SetCapacity(5000 * kKiB);
  MustDo(writer->Sync());
  // New files go to the first that has room.
  Write(*writer, 10);
  EXPECT_EQ(writer->folder(), "a");
  MustDo(writer->Finish());
  ExpectAll();
}

TEST_F(WarcFoldersTest, AnIndexWithoutRoomIsWrittenLater) {
  for (const bool restart : {false, true}) {
    SCOPED_TRACE(restart);
    const size_t before = Paths("a").size();
    auto writer = Open();
    Write(*writer, 5);
    MustDo(writer->Sync());
    const Position mark = writer->position();
    // Not even for a line.
    a_.SetCapacity(1);
    Write(*writer, 5);
    EXPECT_EQ(writer->folder(), "b");
    ASSERT_EQ(Paths("a").size(), before + 1);
    EXPECT_TRUE(IsOpen(Paths("a").back()));
    MustDo(writer->Sync());
    EXPECT_TRUE(IsOpen(Paths("a").back()));
    if (restart) {
      writer.reset();
      writer = Open(mark);
      Write(*writer, 2);
      EXPECT_TRUE(IsOpen(Paths("a").back()));
      writer.reset();
      writer = Open(mark);
    }
    // The end waits for it.
    EXPECT_EQ(CodeOf(writer->Finish()), "no space");
    a_.SetCapacity(5000 * kKiB);
    MustDo(writer->Finish());
    ExpectAll();
  }
}

TEST_F(WarcFoldersTest, BelowTheFloorTheNextIsUsed) {
  options_.floor_bytes = 100 * kKiB;
  options_.margin_bytes = 50 * kKiB;
  a_.SetCapacity(500 * kKiB);
  b_.SetCapacity(500 * kKiB);
  const auto writer = Open();
  Write(*writer, 2);
  EXPECT_EQ(writer->folder(), "a");
  a_.SetCapacity(90 * kKiB);
  // The margin of the other is not there.
  b_.SetCapacity(149 * kKiB);
  MustDo(writer->Sync());
  Write(*writer, 2);
  EXPECT_EQ(writer->folder(), "a");
  b_.SetCapacity(200 * kKiB);
  MustDo(writer->Sync());
  Write(*writer, 2);
  EXPECT_EQ(writer->folder(), "b");
  EXPECT_FALSE(IsOpen(Paths("a").back()));
  // Both are low: what is in flight is written where it is.
  b_.SetCapacity(90 * kKiB);
  MustDo(writer->Sync());
  Write(*writer, 2);
  EXPECT_EQ(writer->folder(), "b");
  MustDo(writer->Finish());
  ExpectAll();
}

TEST_F(WarcFoldersTest, WhenAllAreFullItWaitsForAny) {
  for (MemoryFileSystem* freed : {&a_, &b_}) {
    const auto writer = Open();
    a_.SetCapacity(20 * kKiB);
    b_.SetCapacity(20 * kKiB);
    Result<UnitPlace> place = TryWrite(*writer);
    while (place.has_value()) place = TryWrite(*writer);
    EXPECT_EQ(CodeOf(place), "no space");
    EXPECT_EQ(CodeOf(TryWrite(*writer)), "no space");
    freed->SetCapacity(5000 * kKiB);
    Write(*writer, 3);
    a_.SetCapacity(5000 * kKiB);
    b_.SetCapacity(5000 * kKiB);
    MustDo(writer->Finish());
    ExpectAll();
  }
}

TEST_F(WarcFoldersTest, AFileGoesOnInAFolderThatIsNoLongerUsed) {
  auto writer = Open();
  Write(*writer, 3);
  MustDo(writer->Sync());
  const Position mark = writer->position();
  writer.reset();
  options_.folder = "b";
  options_.other_folders.clear();
  EXPECT_FAILS(WarcWriter::OpenAt(disks_, clock_, options_, mark), kCorruption,
               "b: archive 1 with");
  options_.old_folders = {"a"};
  writer = Open(mark);
  Write(*writer, 1);
  EXPECT_EQ(writer->folder(), "a");
  MustDo(writer->Finish());
  Write(*writer, 1);
  EXPECT_EQ(writer->folder(), "b");
  EXPECT_EQ(writer->position().serial, 2U);
  MustDo(writer->Finish());
  ExpectAll();
}

TEST_F(WarcFoldersTest, AnOpenFileBeforeAnotherOfItsFolderIsRefused) {
  MustDo(EnsureDir(disks_, "a"));
  MustDo(EnsureDir(disks_, "b"));
  Put(disks_, "a/nephila-20260101000000000-00001.warc.gz.open", "x");
  Put(disks_, "b/nephila-20260101000000000-00002.warc.gz.open", "x");
  Put(disks_, "a/nephila-20260101000000000-00003.warc.gz.open", "x");
  EXPECT_FAILS(WarcWriter::OpenAt(disks_, clock_, options_, std::nullopt),
               kCorruption, "still open, though a later archive is there");
  MustDo(disks_.Remove("a/nephila-20260101000000000-00003.warc.gz.open"));
  Put(disks_, "b/nephila-20260101000000000-00001.warc.gz", "x");
  EXPECT_FAILS(WarcWriter::OpenAt(disks_, clock_, options_, std::nullopt),
               kCorruption, "two archives have serial 1");
}

}  // namespace
}  // namespace nephila::store
