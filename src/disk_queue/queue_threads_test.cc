// A commit is made durable on one thread while another goes on.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "disk_queue/queue_set.h"
#include "disk_queue/queue_testing.h"

namespace nephila::disk_queue {
namespace {

TEST(QueueThreadsTest, FinishCommitAndScansRunBesideEverythingElse) {
  MemoryFileSystem fs;
  auto set = Must(QueueSet::Create(fs, kDir, SmallOptions()));
  uint64_t appended = 0;
  uint64_t read = 0;
  for (int round = 0; round < 30; ++round) {
    EXPECT_OK(set->BeginCommit());
    const std::shared_ptr<QueueScan> scan = set->NewScan(0);
    std::thread finisher([&] { EXPECT_OK(set->FinishCommit()); });
    std::thread scanner([&scan] {
      Record record;
      while (Must(scan->Next(record))) {
      }
    });
    for (int i = 0; i < 200; ++i) {
      EXPECT_OK(set->Append(0, std::to_string(appended++)));
      EXPECT_OK(set->Append(static_cast<uint64_t>(1 + i % 7), "other"));
      if (i % 3 == 0) {
        EXPECT_OK(set->Read(0, 2, [&](const Record& record) {
          EXPECT_EQ(record.bytes, std::to_string(read++));
        }));
        EXPECT_GT(set->stats().queues, 0U);
      }
    }
    finisher.join();
    scanner.join();
  }
  EXPECT_GT(read, 1000U);
}

}  // namespace
}  // namespace nephila::disk_queue
