#include "disk_queue/set_scan.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "disk_queue/queue_set.h"
#include "disk_queue/queue_testing.h"

namespace nephila::disk_queue {
namespace {

std::vector<std::string> RecordsOf(const SetScan& set, uint64_t queue) {
  std::vector<std::string> records;
  const auto scan = set.Scan(queue);
  Record record;
  while (Must(scan->Next(record))) records.emplace_back(record.bytes);
  return records;
}

TEST(SetScan, TheQueuesOfACommitAreReadBesideTheSet) {
  MemoryFileSystem fs;
  MustDo(fs.MakeDir(kDir));
  const auto set = Must(QueueSet::Create(fs, kDir, SmallOptions()));
  for (int i = 0; i < 1000; ++i) {
    Must(set->Append(5, "five " + std::to_string(i)));
  }
  Must(set->Append(9, "nine"));
  Must(set->Read(5, 10, [](const Record&) {}));
  const uint64_t generation = Must(set->Commit());
  // What happens later does not show.
  Must(set->Read(5, 100, [](const Record&) {}));
  Must(set->Append(9, "later"));

  const SetScan scan = Must(SetScan::Open(fs, kDir, generation));
  const std::vector<SetScan::Queue> queues = scan.Queues();
  ASSERT_EQ(queues.size(), 2U);
  EXPECT_EQ(queues[0].id, 5U);
  EXPECT_EQ(queues[0].first, 10U);
  EXPECT_EQ(queues[0].records(), 990U);
  EXPECT_GT(queues[0].bytes, 0U);
  EXPECT_EQ(scan.Records(5), 990U);
  EXPECT_EQ(scan.Records(6), 0U);
  EXPECT_EQ(scan.Bytes(6), 0U);
  const std::vector<std::string> records = RecordsOf(scan, 5);
  ASSERT_EQ(records.size(), 990U);
  EXPECT_EQ(records.front(), "five 10");
  EXPECT_EQ(records.back(), "five 999");
  EXPECT_EQ(RecordsOf(scan, 9), std::vector<std::string>{"nine"});
  EXPECT_EQ(RecordsOf(scan, 6), std::vector<std::string>());
}

TEST(SetScan, ACommitThatIsNotThereIsNotFound) {
  MemoryFileSystem fs;
  MustDo(fs.MakeDir(kDir));
  const auto set = Must(QueueSet::Create(fs, kDir, SmallOptions()));
  const auto scan = SetScan::Open(fs, kDir, 77);
  ASSERT_FALSE(scan.has_value());
  EXPECT_EQ(scan.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace nephila::disk_queue
