#include "store/warc_writer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "base/clock.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "store/store_testing.h"
#include "store/unit_maker.h"

namespace nephila::store {
namespace {

class WarcWriterTest : public testing::Test {
 protected:
  WarcWriterTest() {
    options_.folder = "archive";
    options_.seed = 1;
    options_.info = {{"software", "nephila/test"}};
  }

  std::unique_ptr<WarcWriter> Open(
      std::optional<Position> checkpoint = std::nullopt) {
    return Must(WarcWriter::OpenAt(fs_, clock_, options_, checkpoint));
  }

  UnitPlace Write(WarcWriter& writer, const TestPage& page) {
    maker_.Begin(page.page);
    return Must(writer.Append(maker_.Records(writer, std::nullopt)));
  }

  std::vector<ReadRecord> ReadOnly() {
    const auto paths = ArchivePaths(fs_, "archive");
    EXPECT_EQ(paths.size(), 1U);
    return ReadArchive(fs_, paths.at(0));
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  WarcWriterOptions options_;
  UnitMaker maker_{DigestKind::kSha1};
};

TEST_F(WarcWriterTest, AFileBeginsWithItsWarcinfo) {
  options_.host = "crawler-1";
  options_.info.emplace_back("robots", "classic\r\nevil: yes");
  const auto writer = Open();
  Write(*writer, TestPage("http://example.com/"));
  MustDo(writer->Finish());
  const auto paths = ArchivePaths(fs_, "archive");
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(paths[0],
            "archive/nephila-20260101000000000-00001-crawler-1.warc.gz");
  const auto records = ReadArchive(fs_, paths[0]);
  ASSERT_EQ(records.size(), 4U);
  const ReadRecord& info = records[0];
  EXPECT_EQ(info.header.version(), "1.1");
  EXPECT_EQ(info.header.type(), RecordType::kWarcinfo);
  EXPECT_EQ(info.header.Get("WARC-Filename"), paths[0].substr(8));
  EXPECT_EQ(info.header.content_type(), "application/warc-fields");
  EXPECT_EQ(info.block,
            "software: nephila/test\r\n"
            "robots: classic  evil: yes\r\n"
            "hostname: crawler-1\r\n"
            "format: WARC File Format 1.1\r\n"
            "conformsTo: http://iipc.github.io/warc-specifications/"
            "specifications/warc-format/warc-1.1/\r\n");
  for (size_t i = 1; i < records.size(); ++i) {
    EXPECT_EQ(records[i].header.GetUri("WARC-Warcinfo-ID"),
              info.header.record_id());
  }
}

TEST_F(WarcWriterTest, EveryRecordIdIsNew) {
  const auto writer = Open();
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = writer->NewRecordId();
    ASSERT_EQ(id.size(), 45U);
    EXPECT_EQ(id.substr(0, 9), "urn:uuid:");
    EXPECT_EQ(id[23], '4');
    EXPECT_NE(std::string_view("89ab").find(id[28]), std::string_view::npos);
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 1000U);
  // By the seed alone, so that tests can know them.
  EXPECT_EQ(Open()->NewRecordId(), Open()->NewRecordId());
  options_.seed = 2;
  EXPECT_FALSE(ids.contains(Open()->NewRecordId()));
}

TEST_F(WarcWriterTest, PlacesLeadToTheRecords) {
  const auto writer = Open();
  for (int i = 0; i < 3; ++i) {
    const Position before = writer->position();
    const UnitPlace place =
        Write(*writer, TestPage("http://example.com/" + std::to_string(i)));
    EXPECT_EQ(place.begin.offset,
              i == 0 ? place.records[0].offset : before.offset);
    EXPECT_EQ(place.end, writer->position());
    ASSERT_EQ(place.records.size(), 3U);
    EXPECT_EQ(place.records[0].offset, place.begin.offset);
    EXPECT_EQ(place.records[2].offset + place.records[2].length,
              place.end.offset);
  }
  EXPECT_EQ(writer->bytes_written(), writer->position().offset);
  const auto records = ReadOnly();
  ASSERT_EQ(records.size(), 10U);
  EXPECT_EQ(records[1].offset, records[0].length);
}

TEST_F(WarcWriterTest, EqualRunsWriteEqualBytes) {
  std::vector<std::string> bytes;
  for (int run = 0; run < 2; ++run) {
    MustDo(RemoveAll(fs_, "archive"));
    const auto writer = Open();
    for (int i = 0; i < 5; ++i) {
      Write(*writer, TestPage("http://example.com/" + std::to_string(i)));
    }
    MustDo(writer->Finish());
    bytes.push_back(Get(fs_, ArchivePaths(fs_, "archive").at(0)));
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST_F(WarcWriterTest, UnderATemporaryNameUntilItIsFinished) {
  const auto writer = Open();
  Write(*writer, TestPage("http://example.com/"));
  EXPECT_EQ(Names(fs_, "archive"),
            std::vector<std::string>(
                {"nephila-20260101000000000-00001.warc.gz.open"}));
  MustDo(writer->Finish());
  EXPECT_EQ(
      Names(fs_, "archive"),
      std::vector<std::string>({"nephila-20260101000000000-00001.cdxj",
                                "nephila-20260101000000000-00001.warc.gz"}));
  MustDo(writer->Finish());  // nothing to finish
}

TEST_F(WarcWriterTest, AFullFileIsFollowedByTheNext) {
  options_.max_file_bytes = 4000;
  const auto writer = Open();
  for (int i = 0; i < 20; ++i) {
    Write(*writer,
          TestPage("http://example.com/" + std::to_string(i), Noise(800, 1)));
  }
  MustDo(writer->Finish());
  const auto paths = ArchivePaths(fs_, "archive");
  EXPECT_GE(paths.size(), 4U);
  size_t lines = 0;
  for (const std::string& path : paths) {
    const uint64_t size = Get(fs_, path).size();
    EXPECT_LT(size, 4000U + 2500U);
    lines += CheckIndex(fs_, path).size();
    EXPECT_EQ(ReadArchive(fs_, path)[0].header.type(), RecordType::kWarcinfo);
  }
  EXPECT_EQ(lines, 20U);
}

TEST_F(WarcWriterTest, AnOldFileIsFinishedEvenIfNothingComes) {
  options_.max_file_age = std::chrono::hours(1);
  const auto writer = Open();
  Write(*writer, TestPage("http://example.com/"));
  clock_.Advance(std::chrono::minutes(59));
  MustDo(writer->RotateIfDue());
  EXPECT_EQ(Names(fs_, "archive").size(), 1U);
  clock_.Advance(std::chrono::minutes(1));
  MustDo(writer->RotateIfDue());
  EXPECT_EQ(Names(fs_, "archive").size(), 2U);
  Write(*writer, TestPage("http://example.com/"));
  EXPECT_EQ(writer->position().serial, 2U);
}

TEST_F(WarcWriterTest, AnIndexThatFillsItsMemoryEndsTheFile) {
  options_.max_index_bytes = 4000;
  const auto writer = Open();
  for (int i = 0; i < 40; ++i) {
    Write(*writer, TestPage("http://example.com/" + std::to_string(i)));
  }
  EXPECT_GE(writer->position().serial, 3U);
  // And only when it is full again.
  EXPECT_LE(writer->position().serial, 20U);
}

TEST_F(WarcWriterTest, GunzipReadsIt) {
  for (const CompressorKind kind :
       {CompressorKind::kIsal, CompressorKind::kLibdeflate,
        CompressorKind::kZlib}) {
    MustDo(RemoveAll(fs_, "archive"));
    options_.compressor = kind;
    options_.level = DefaultLevel(kind);
    const auto writer = Open();
    Write(*writer, TestPage("http://example.com/", Noise(100000, 1)));
    Write(*writer, TestPage("http://example.com/b"));
    MustDo(writer->Finish());
    const std::string text =
        Gunzip(Get(fs_, ArchivePaths(fs_, "archive").at(0)));
    EXPECT_TRUE(text.starts_with("WARC/1.1\r\nWARC-Type: warcinfo\r\n"));
    EXPECT_TRUE(text.ends_with("\r\n\r\n"));
  }
}

TEST_F(WarcWriterTest, ZstdHasAFrameForEachRecord) {
  options_.compressor = CompressorKind::kZstd;
  const auto writer = Open();
  Write(*writer, TestPage("http://example.com/"));
  MustDo(writer->Finish());
  const std::string path = ArchivePaths(fs_, "archive").at(0);
  EXPECT_TRUE(path.ends_with(".warc.zst"));
  EXPECT_EQ(ReadArchive(fs_, path).size(), 4U);
  EXPECT_EQ(CheckIndex(fs_, path).size(), 1U);
  const std::string packed = Get(fs_, path);
  EXPECT_TRUE(Unzstd(packed).starts_with("WARC/1.1\r\n"));
}

TEST_F(WarcWriterTest, ALargeBodyIsWrittenAsItComes) {
  const auto writer = Open();
  TestPage page("http://example.com/large");
  page.SetBody({Noise(3 << 20, 1), "", Noise(3 << 20, 2), "end"});
  const UnitPlace place = Write(*writer, page);
  EXPECT_GT(place.records[1].length, 6U << 20);
  const auto records = ReadOnly();
  EXPECT_EQ(records[2].block, std::string(page.page.response_head) +
                                  Noise(3 << 20, 1) + Noise(3 << 20, 2) +
                                  "end");
}

TEST_F(WarcWriterTest, GoesOnInTheFileThatWasOpen) {
  {
    const auto writer = Open();
    Write(*writer, TestPage("http://example.com/0"));
    MustDo(writer->Sync());
  }
  fs_.KillProcess();
  options_.seed = 2;
  const auto writer = Open(Position{1, 100});
  Write(*writer, TestPage("http://example.com/1"));
  MustDo(writer->Finish());
  const auto records = ReadOnly();
  ASSERT_EQ(records.size(), 7U);
  EXPECT_EQ(records[6].header.GetUri("WARC-Warcinfo-ID"),
            records[0].header.record_id());
  EXPECT_EQ(CheckIndex(fs_, ArchivePaths(fs_, "archive")[0]).size(), 2U);
}

TEST_F(WarcWriterTest, AUnitThatIsNotWholeIsCutOff) {
  Position first;
  std::string path;
  {
    const auto writer = Open();
    Write(*writer, TestPage("http://example.com/0"));
    first = writer->position();
    Write(*writer, TestPage("http://example.com/1"));
    path = ArchivePaths(fs_, "archive").at(0);
  }
  const std::string whole = Get(fs_, path);
  // Cut everywhere: between the records of the second unit too.
  for (size_t size = first.offset; size < whole.size(); size += 13) {
    fs_.KillProcess();
    Put(fs_, path, whole.substr(0, size));
    const auto writer = Open(first);
    EXPECT_EQ(writer->position(), first) << size;
    EXPECT_EQ(Get(fs_, path).size(), first.offset);
  }
  fs_.KillProcess();
  Put(fs_, path, whole);
  EXPECT_EQ(Open(first)->position().offset, whole.size());
}

TEST_F(WarcWriterTest, UnitsThatNobodyKnowsOfAreCutOff) {
  Position ends[3];
  std::string path;
  {
    const auto writer = Open();
    for (Position& end : ends) {
      Write(*writer, TestPage("http://example.com/"));
      end = writer->position();
    }
    path = ArchivePaths(fs_, "archive").at(0);
  }
  fs_.KillProcess();
  const auto open = [this](Position checkpoint, Position keep) {
    return Must(WarcWriter::OpenAt(fs_, clock_, options_, checkpoint, keep))
        ->position();
  };
  // Never below the checkpoint.
  EXPECT_EQ(open(ends[1], ends[0]), ends[1]);
  EXPECT_EQ(Get(fs_, path).size(), ends[1].offset);
  EXPECT_EQ(open(ends[0], ends[0]), ends[0]);
  EXPECT_EQ(Get(fs_, path).size(), ends[0].offset);
  // The index is that of what is left.
  const auto writer = Open(ends[0]);
  MustDo(writer->Finish());
  EXPECT_EQ(ReadOnly().size(), 4U);  // warcinfo, and three of a unit
}

TEST_F(WarcWriterTest, NeverCutsWhatACheckpointHasSeen) {
  Position end;
  std::string path;
  {
    const auto writer = Open();
    Write(*writer, TestPage("http://example.com/0"));
    end = writer->position();
    path = ArchivePaths(fs_, "archive").at(0);
  }
  const std::string whole = Get(fs_, path);
  fs_.KillProcess();
  Put(fs_, path, whole.substr(0, whole.size() - 1));
  EXPECT_FAILS(WarcWriter::OpenAt(fs_, clock_, options_, end), kCorruption,
               path);
  EXPECT_EQ(Get(fs_, path).size(), whole.size() - 1);
  MustDo(fs_.Remove(path));
  EXPECT_FAILS(WarcWriter::OpenAt(fs_, clock_, options_, end), kCorruption,
               "archive 1");
}

TEST_F(WarcWriterTest, KnowsAFileByItsSerialUnderEitherName) {
  Position open;
  {
    const auto writer = Open();
    Write(*writer, TestPage("http://example.com/0"));
    open = writer->position();
    MustDo(writer->Finish());
  }
  const auto writer = Open(open);
  EXPECT_EQ(writer->position(), open);
  Write(*writer, TestPage("http://example.com/1"));
  EXPECT_EQ(writer->position().serial, 2U);
}

TEST_F(WarcWriterTest, AFileWithoutAWarcinfoIsTakenAway) {
  MustDo(fs_.MakeDir("archive"));
  Put(fs_, "archive/nephila-20260101000000000-00001.warc.gz.open",
      std::string("\x1F\x8B\x08\0\0", 5));
  Put(fs_, "archive/nephila-20260101000000000-00001.cdxj.tmp", "half a li");
  Put(fs_, "archive/other-20260101000000000-00001.warc.gz.open", "x");
  const auto writer = Open();
  EXPECT_EQ(
      Names(fs_, "archive"),
      std::vector<std::string>({"other-20260101000000000-00001.warc.gz.open"}));
  Write(*writer, TestPage("http://example.com/0"));
  EXPECT_EQ(writer->position().serial, 1U);
}

TEST_F(WarcWriterTest, AnIndexThatDoesNotMatchIsMadeAgain) {
  {
    const auto writer = Open();
    for (const char* path : {"b", "a", "c"}) {
      Write(*writer, TestPage(std::string("http://example.com/") + path));
    }
    MustDo(writer->Finish());
  }
  const std::string index = "archive/nephila-20260101000000000-00001.cdxj";
  const std::string before = Get(fs_, index);
  MustDo(fs_.Remove(index));
  Open();
  EXPECT_EQ(Get(fs_, index), before);
  for (const std::string& wrong :
       {std::string(), before + "more\n", before.substr(0, before.size() - 1),
        before.substr(0, before.find('\n') + 1), "x" + before.substr(1)}) {
    Put(fs_, index, wrong);
    Open();
    EXPECT_EQ(Get(fs_, index), before);
  }
  // Not that of an archive which a checkpoint has left behind.
  {
    const auto writer = Open();
    Write(*writer, TestPage("http://example.com/"));
    MustDo(writer->Sync());
  }
  Put(fs_, index, "");
  Open(Position{2, 100});
  EXPECT_EQ(Get(fs_, index), "");
}

TEST_F(WarcWriterTest, AnotherFormatBeginsAnotherFile) {
  {
    const auto writer = Open();
    Write(*writer, TestPage("http://example.com/0"));
  }
  options_.compressor = CompressorKind::kZstd;
  const auto writer = Open();
  Write(*writer, TestPage("http://example.com/1"));
  MustDo(writer->Finish());
  const auto paths = ArchivePaths(fs_, "archive");
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_TRUE(paths[0].ends_with("00001.warc.gz"));
  EXPECT_TRUE(paths[1].ends_with("00002.warc.zst"));
  EXPECT_EQ(CheckIndex(fs_, paths[0]).size(), 1U);
}

TEST_F(WarcWriterTest, TwoFilesOfOneSerialAreRefused) {
  MustDo(fs_.MakeDir("archive"));
  Put(fs_, "archive/nephila-20260101000000000-00001.warc.gz", "x");
  Put(fs_, "archive/nephila-20260101000000001-00001.warc.gz", "x");
  EXPECT_FAILS(WarcWriter::OpenAt(fs_, clock_, options_, std::nullopt),
               kCorruption, "serial 1");
}

TEST_F(WarcWriterTest, AFullDiskPassesAndLeavesWholeUnits) {
  fs_.SetCapacity(60 * 512);
  options_.max_file_bytes = 8000;
  const auto writer = Open();
  int written = 0;
  int refused = 0;
  while (written < 30) {
    const TestPage page("http://example.com/" + std::to_string(written),
                        Noise(1500, static_cast<uint64_t>(written)));
    maker_.Begin(page.page);
    auto place = writer->Append(maker_.Records(*writer, std::nullopt));
    if (place) {
      ++written;
      continue;
    }
    ASSERT_EQ(place.error().code, ErrorCode::kNoSpace);
    ++refused;
    for (const std::string& path : ArchivePaths(fs_, "archive")) {
      ReadArchive(fs_, path);  // whole at every moment
    }
    ASSERT_LT(refused, 100);
    fs_.SetCapacity(static_cast<uint64_t>(60 + 20 * refused) * 512);
  }
  EXPECT_GT(refused, 2);
  MustDo(writer->Finish());
  size_t lines = 0;
  for (const std::string& path : ArchivePaths(fs_, "archive")) {
    lines += CheckIndex(fs_, path).size();
  }
  EXPECT_EQ(lines, 30U);
}

}  // namespace
}  // namespace nephila::store
