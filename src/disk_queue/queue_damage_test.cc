// A disk that rots is noticed, by the name of the file and the offset; records
// that were not written never come out.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "disk_queue/commit_log.h"
#include "disk_queue/queue_testing.h"

namespace nephila::disk_queue {
namespace {

class QueueDamageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    TestedSet tested(fs_, SmallOptions());
    MustDo(tested.Create());
    Random random(3);
    for (int i = 0; i < 60; ++i) {
      MustDo(tested.Append(1, RandomRecord(random, 60)));
      if (i == 20) MustDo(tested.Commit());
    }
    MustDo(tested.Append(2, "tail"));
    MustDo(tested.Commit());
    for (const std::string& record : tested.model()[1].records) {
      records_.push_back(record);
    }
  }

  // All of queue 1, or what is wrong.
  Result<std::vector<std::string>> ReadAll() {
    std::vector<std::string> records;
    NEPHILA_TRY(const auto scan, ScanCommit(fs_, kDir, 2, 1));
    Record record;
    while (true) {
      NEPHILA_TRY(const bool more, scan->Next(record));
      if (!more) return records;
      records.emplace_back(record.bytes);
    }
  }
  // The same with the right to change things.
  Result<std::vector<std::string>> Drain(MemoryFileSystem& fs) {
    NEPHILA_TRY(const auto set, QueueSet::Open(fs, kDir, SmallOptions(), 2));
    std::vector<std::string> records;
    NEPHILA_TRY(const size_t done,
                set->Read(1, 1000, [&](const Record& record) {
                  records.emplace_back(record.bytes);
                }));
    EXPECT_EQ(done, records.size());
    return records;
  }

  MemoryFileSystem fs_;
  std::vector<std::string> records_;
};

TEST_F(QueueDamageTest, EveryFlippedBitIsNoticed) {
  ASSERT_EQ(Must(ReadAll()), records_);
  // The log is a row of frames; of the other files only what segments fill.
  struct Part {
    std::string name;
    uint64_t begin;
    uint64_t end;
  };
  const LoadedSet loaded = Must(LoadSet(fs_, kDir, 2));
  std::vector<Part> parts = {{LogName(loaded.log), 0, loaded.log_end}};
  for (const Segment& segment : loaded.state.queues.at(1).segments) {
    const Geometry& geometry = loaded.head.geometry;
    const uint64_t base = geometry.BaseOf(segment.slot);
    parts.push_back({SegmentFileName(geometry.FileOf(segment.slot)), base,
                     base + segment.end});
  }
  EXPECT_GE(parts.size(), 3U);
  for (const Part& part : parts) {
    const std::string path = kDir + "/" + part.name;
    for (uint64_t offset = part.begin; offset < part.end; ++offset) {
      const auto bit = static_cast<unsigned>(offset % 8);
      MustDo(fs_.FlipBit(path, offset, bit));
      const auto read = ReadAll();
      ASSERT_FALSE(read.has_value()) << part.name << " " << offset;
      EXPECT_EQ(CodeOf(read), "corruption") << read.error().message;
      EXPECT_NE(read.error().message.find(part.name), std::string::npos)
          << read.error().message;
      EXPECT_NE(read.error().message.find("offset"), std::string::npos);
      MustDo(fs_.FlipBit(path, offset, bit));
    }
  }
  ASSERT_EQ(Must(ReadAll()), records_);
}

TEST_F(QueueDamageTest, ADamagedSegmentIsNoticedByAReader) {
  const std::string path = kDir + "/" + SegmentFileName(0);
  MustDo(fs_.FlipBit(path, 100, 3));
  EXPECT_FAILS(Drain(fs_), kCorruption, path);
  MustDo(fs_.FlipBit(path, 100, 3));
  EXPECT_EQ(Must(Drain(fs_)), records_);
}

TEST_F(QueueDamageTest, AFileThatIsCutOrGoneIsNoticed) {
  const std::string path = kDir + "/" + SegmentFileName(0);
  const std::string whole = Get(fs_, path);
  MustDo(Must(fs_.Open(path, OpenMode::kReadWrite))->Truncate(200));
  EXPECT_FAILS(Drain(fs_), kCorruption, path);
  MustDo(fs_.Remove(path));
  EXPECT_FAILS(Drain(fs_), kNotFound, path);
  Put(fs_, path, whole);
  EXPECT_EQ(Must(Drain(fs_)), records_);
}

TEST_F(QueueDamageTest, ASegmentInThePlaceOfAnotherIsNoticed) {
  const std::string path = kDir + "/" + SegmentFileName(0);
  std::string bytes = Get(fs_, path);
  const uint64_t slot = SmallOptions().segment_bytes;
  ASSERT_GT(bytes.size(), slot);
  bytes.replace(slot, bytes.size() - slot,
                bytes.substr(0, bytes.size() - slot));
  Put(fs_, path, bytes);
  EXPECT_EQ(CodeOf(ReadAll()), "corruption");
}

}  // namespace
}  // namespace nephila::disk_queue
