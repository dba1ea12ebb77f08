#include "drum/write_queue.h"

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/workers.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

Status Fail(ErrorCode code, const std::string& message) {
  return Unexpected(Error{code, message});
}

class WriteQueueTest : public ::testing::TestWithParam<int> {
 protected:
  WriteQueueTest() : workers_(GetParam()), queue_(workers_) {}

  Workers workers_;
  WriteQueue queue_;
};

INSTANTIATE_TEST_SUITE_P(Threads, WriteQueueTest, ::testing::Values(0, 2));

TEST_P(WriteQueueTest, EveryWriteIsDoneOnce) {
  std::vector<std::atomic<int>> done(1000);
  for (auto& count : done) {
    queue_.Post([&count]() -> Status {
      ++count;
      return {};
    });
  }
  ASSERT_TRUE(queue_.Settle().has_value());
  for (const auto& count : done) EXPECT_EQ(count, 1);
}

TEST_P(WriteQueueTest, AFullDiskKeepsTheWritesForARetry) {
  std::atomic<bool> full = true;
  std::vector<std::atomic<int>> tries(10);
  std::vector<std::atomic<int>> done(10);
  for (size_t i = 0; i < 10; ++i) {
    queue_.Post(
        [&, i, data = std::make_shared<std::string>("kept")]() -> Status {
          ++tries[i];
          EXPECT_EQ(*data, "kept");
          if (full && i % 2 == 0) return Fail(ErrorCode::kNoSpace, "full");
          ++done[i];
          return {};
        });
  }
  Status status = queue_.WaitUntilAtMost(0);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kNoSpace);
  // The first failure may have ended the wait before the others were tried.
  while (!queue_.WaitUntilAtMost(0).has_value() &&
         workers_.Help(Workers::Urgency::kUrgent)) {
  }
  status = queue_.Retry();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kNoSpace);
  EXPECT_FALSE(queue_.Settle().has_value());

  full = false;
  // A write that has seen the full disk may say so only now: at most ten do.
  int late = 0;
  while (!queue_.Settle().has_value()) ASSERT_LT(++late, 10);
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(done[i], 1) << i;
    if (i % 2 == 1) {
      EXPECT_EQ(tries[i], 1) << i;
    }
  }
  EXPECT_GE(tries[0], 2);
  EXPECT_TRUE(queue_.WaitUntilAtMost(0).has_value());
}

TEST_P(WriteQueueTest, AnyOtherErrorIsFinal) {
  queue_.Post([] { return Fail(ErrorCode::kNoSpace, "full"); });
  queue_.Post([] { return Fail(ErrorCode::kIo, "broken"); });
  // Whichever fails first: in the end the worse one counts.
  while (true) {
    const Status status = queue_.Settle();
    ASSERT_FALSE(status.has_value());
    if (status.error().code == ErrorCode::kIo) break;
    EXPECT_EQ(status.error().code, ErrorCode::kNoSpace);
    workers_.Help(Workers::Urgency::kUrgent);
  }
  queue_.Post([]() -> Status { return {}; });
  for (const Status& status :
       {queue_.Settle(), queue_.Retry(), queue_.WaitUntilAtMost(0),
        queue_.WaitUntilAtMost(100)}) {
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::kIo);
    EXPECT_EQ(status.error().message, "broken");
  }
}

TEST_P(WriteQueueTest, TheEndWaitsForWhatWasPosted) {
  std::atomic<int> done = 0;
  {
    WriteQueue queue(workers_);
    for (int i = 0; i < 100; ++i) {
      queue.Post([&done, i]() -> Status {
        ++done;
        return i == 50 ? Fail(ErrorCode::kIo, "broken") : Status();
      });
    }
  }
  EXPECT_EQ(done, 100);
}

TEST(WriteQueueOrderTest,
     WithoutThreadsWritesAreDoneInOrderAndNoMoreThanAsked) {
  Workers workers(0);
  WriteQueue queue(workers);
  std::vector<int> done;
  for (int i = 0; i < 5; ++i) {
    queue.Post([&done, i]() -> Status {
      done.push_back(i);
      return {};
    });
  }
  EXPECT_TRUE(done.empty());
  ASSERT_TRUE(queue.WaitUntilAtMost(5).has_value());
  EXPECT_TRUE(done.empty());
  ASSERT_TRUE(queue.WaitUntilAtMost(3).has_value());
  EXPECT_EQ(done, (std::vector<int>{0, 1}));
  ASSERT_TRUE(queue.WaitUntilAtMost(0).has_value());
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2, 3, 4}));
}

// Also when the wait itself has nothing to do: the writes are with workers.
TEST(WriteQueueOrderTest, AWaitEndsWhenEnoughWritesOfOtherThreadsAreDone) {
  Workers workers(2);
  WriteQueue queue(workers);
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> blocked = 0;
  queue.Post([&, released]() -> Status {
    ++blocked;
    released.wait();
    return {};
  });
  // Not on this thread, which is the one that releases it.
  while (blocked == 0) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) queue.Post([]() -> Status { return {}; });
  ASSERT_TRUE(queue.WaitUntilAtMost(1).has_value());
  EXPECT_EQ(blocked, 1);
  release.set_value();
  ASSERT_TRUE(queue.WaitUntilAtMost(0).has_value());
}

TEST(FreeListTest, WhatWasGivenIsTakenAgain) {
  FreeList<std::string> list;
  EXPECT_EQ(list.Take(), nullptr);
  auto made = list.TakeOrMake("made");
  EXPECT_EQ(*made, "made");
  const std::string* const address = made.get();
  list.Give(std::move(made));
  auto again = list.TakeOrMake("other");
  EXPECT_EQ(again.get(), address);
  EXPECT_EQ(*again, "made");
  EXPECT_EQ(list.Take(), nullptr);
}

}  // namespace
}  // namespace nephila::drum
