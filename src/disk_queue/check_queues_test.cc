// What QueueCheck finds: every bit between the positions of the queues.
#include "disk_queue/check_queues.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "disk_queue/queue_testing.h"

namespace nephila::disk_queue {
namespace {

class QueueCheckTest : public ::testing::Test {
 protected:
  QueueCheckTest() {
    TestedSet tested(fs_, SmallOptions());
    MustDo(tested.Create());
    Random random(3);
    for (int i = 0; i < 60; ++i) {
      MustDo(tested.Append(1, RandomRecord(random, 60)));
      if (i == 40) {
        MustDo(tested.Read(1, 10));
        MustDo(tested.Commit());
      }
    }
    MustDo(tested.Append(2, "tail"));
    MustDo(tested.Commit());
  }

  std::optional<QueueCounts> Check() {
    damages_.clear();
    records_ = 0;
    QueueCheck check(fs_, kDir,
                     [this](Damage damage) { damages_.push_back(damage); });
    const auto counts = check.Check(
        2, [this](uint64_t /*queue*/, std::string_view) { ++records_; });
    check.Check(1);
    named_ = check.files();
    return counts;
  }

  MemoryFileSystem fs_;
  std::vector<Damage> damages_;
  std::set<std::string> named_;
  uint64_t records_ = 0;
};

TEST_F(QueueCheckTest, ASoundSetIsSound) {
  const auto counts = Check();
  ASSERT_TRUE(counts.has_value());
  EXPECT_TRUE(damages_.empty()) << damages_.front().what;
  EXPECT_EQ(counts->queues, 2U);
  EXPECT_EQ(counts->records, 51U);
  EXPECT_EQ(records_, 51U);
  for (const std::string& name : Names(fs_, kDir)) {
    if (name == "reserve") continue;
    EXPECT_TRUE(named_.contains(kDir + "/" + name)) << name;
  }
}

TEST_F(QueueCheckTest, EveryFlippedByteIsFoundAndItsFileNamed) {
  const LoadedSet loaded = Must(LoadSet(fs_, kDir, 2));
  struct Part {
    std::string path;
    uint64_t begin;
    uint64_t end;
  };
  std::vector<Part> parts = {
      {kDir + "/" + LogName(loaded.log), 0, loaded.log_end}};
  const QueueState& queue = loaded.state.queues.at(1);
  for (const Segment& segment : queue.segments) {
    const Geometry& geometry = loaded.head.geometry;
    const uint64_t base = geometry.BaseOf(segment.slot);
    // Blocks before the first record that is kept are not read.
    const uint64_t begin = &segment == queue.segments.data() ? queue.offset : 0;
    parts.push_back(
        {kDir + "/" + SegmentFileName(geometry.FileOf(segment.slot)),
         base + begin, base + segment.end});
  }
  ASSERT_GE(parts.size(), 3U);
  for (const Part& part : parts) {
    for (uint64_t offset = part.begin; offset < part.end; ++offset) {
      const auto bit = static_cast<unsigned>(offset % 8);
      MustDo(fs_.FlipBit(part.path, offset, bit));
      Check();
      ASSERT_FALSE(damages_.empty()) << part.path << " " << offset;
      EXPECT_EQ(damages_.front().file, part.path);
      MustDo(fs_.FlipBit(part.path, offset, bit));
    }
  }
}

TEST_F(QueueCheckTest, AFileThatIsCutOrGoneIsFound) {
  Check();
  const std::set<std::string> named = named_;
  for (const std::string& path : named) {
    const std::string whole = Get(fs_, path);
    Put(fs_, path, whole.substr(0, whole.size() / 3));
    Check();
    EXPECT_FALSE(damages_.empty()) << path;
    MustDo(fs_.Remove(path));
    Check();
    EXPECT_FALSE(damages_.empty()) << path;
    Put(fs_, path, whole);
  }
  Check();
  EXPECT_TRUE(damages_.empty());
}

}  // namespace
}  // namespace nephila::disk_queue
