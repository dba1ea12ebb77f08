#include "base/queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace nephila {
namespace {

TEST(BoundedQueue, KeepsOrderAcrossTheEndOfTheRing) {
  BoundedQueue<int> queue(3);
  int next = 0;
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(queue.TryPush(2 * round), PushResult::kPushed);
    ASSERT_EQ(queue.TryPush(2 * round + 1), PushResult::kPushed);
    ASSERT_EQ(*queue.TryPop(), next++);
    ASSERT_EQ(*queue.TryPop(), next++);
  }
  EXPECT_EQ(queue.TryPop().error(), NoItem::kNotNow);
}

TEST(BoundedQueue, TellsAPauseFromTheEnd) {
  BoundedQueue<int> queue(2);
  EXPECT_EQ(queue.TryPop().error(), NoItem::kNotNow);
  EXPECT_EQ(queue.TryPopBatch(9).error(), NoItem::kNotNow);
  ASSERT_TRUE(queue.Push(1));
  ASSERT_TRUE(queue.Push(2));
  EXPECT_FALSE(queue.closed());
  queue.Close();
  EXPECT_TRUE(queue.closed());
  EXPECT_EQ(*queue.TryPop(), 1);
  EXPECT_EQ(*queue.TryPopBatch(9), std::vector<int>{2});
  EXPECT_EQ(queue.TryPop().error(), NoItem::kEnded);
  EXPECT_EQ(queue.TryPopBatch(9).error(), NoItem::kEnded);
}

// Moves what it can and closes its output after its input; true at the end.
bool StepForward(BoundedQueue<int>& in, BoundedQueue<int>& out,
                 std::vector<int>& pending) {
  while (!pending.empty()) {
    if (out.TryPush(int{pending.front()}) == PushResult::kFull) return false;
    pending.erase(pending.begin());
  }
  auto batch = in.TryPopBatch(3);
  if (batch.has_value()) {
    pending = *std::move(batch);
    return false;
  }
  if (batch.error() == NoItem::kNotNow) return false;
  out.Close();
  return true;
}

TEST(BoundedQueue, LetsOneThreadStepAChainOfStagesToItsEnd) {
  BoundedQueue<int> first(4);
  BoundedQueue<int> second(1);
  std::vector<int> pending;
  std::vector<int> arrived;
  int next = 0;
  for (int step = 0; step < 1000; ++step) {
    if (next < 10 && first.TryPush(int{next}) == PushResult::kPushed) ++next;
    if (next == 10) first.Close();
    const bool ended = StepForward(first, second, pending);
    const auto item = second.TryPop();
    if (item.has_value()) {
      arrived.push_back(*item);
    } else if (item.error() == NoItem::kEnded) {
      EXPECT_TRUE(ended);
      break;
    }
  }
  EXPECT_EQ(arrived, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(second.TryPop().error(), NoItem::kEnded);
}

TEST(BoundedQueue, ABatchTakenWithoutWaitingMakesRoomForAllWhoWait) {
  BoundedQueue<int> queue(2);
  ASSERT_TRUE(queue.Push(1));
  ASSERT_TRUE(queue.Push(1));
  std::vector<std::thread> producers;
  for (int i = 0; i < 4; ++i) {
    producers.emplace_back([&] { EXPECT_TRUE(queue.Push(1)); });
  }
  for (int taken = 0; taken < 6;) {
    const auto batch = queue.TryPopBatch(2);
    if (batch.has_value()) {
      taken += static_cast<int>(batch->size());
    } else {
      std::this_thread::yield();
    }
  }
  for (std::thread& producer : producers) producer.join();
}

TEST(BoundedQueue, TellsFullFromClosed) {
  BoundedQueue<int> queue(1);
  EXPECT_EQ(queue.TryPush(1), PushResult::kPushed);
  EXPECT_EQ(queue.TryPush(2), PushResult::kFull);
  queue.Close();
  EXPECT_EQ(queue.TryPush(3), PushResult::kClosed);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.capacity(), 1u);
}

TEST(BoundedQueue, GivesOutWhatIsInsideAfterClose) {
  BoundedQueue<int> queue(4);
  ASSERT_TRUE(queue.Push(1));
  ASSERT_TRUE(queue.Push(2));
  queue.Close();
  queue.Close();
  EXPECT_FALSE(queue.Push(3));
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.PopBatch(9), std::vector<int>{2});
  EXPECT_EQ(queue.Pop(), std::nullopt);
  EXPECT_TRUE(queue.PopBatch(9).empty());
}

TEST(BoundedQueue, LeavesARefusedItemWithTheCaller) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  ASSERT_TRUE(queue.Push(std::make_unique<int>(1)));
  auto item = std::make_unique<int>(2);
  EXPECT_EQ(queue.TryPush(std::move(item)), PushResult::kFull);
  ASSERT_NE(item, nullptr);
  queue.Close();
  EXPECT_FALSE(queue.Push(std::move(item)));
  ASSERT_NE(item, nullptr);
  // A refused item is not moved from: that is what is tested.
  // NOLINTNEXTLINE(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
  EXPECT_EQ(*item, 2);
}

TEST(BoundedQueue, DropsItsHoldOnAnItemThatWasTaken) {
  BoundedQueue<std::shared_ptr<int>> queue(2);
  auto item = std::make_shared<int>(1);
  ASSERT_TRUE(queue.Push(std::shared_ptr<int>(item)));
  queue.Pop()->reset();
  EXPECT_EQ(item.use_count(), 1);
}

TEST(BoundedQueue, TakesNoMoreThanAskedInABatch) {
  BoundedQueue<int> queue(8);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(queue.Push(int{i}));
  EXPECT_EQ(queue.PopBatch(3), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(queue.PopBatch(3), (std::vector<int>{3, 4}));
}

TEST(BoundedQueue, WakesWaitersOnBothSidesWhenClosed) {
  BoundedQueue<int> empty(1);
  BoundedQueue<int> full(1);
  ASSERT_TRUE(full.Push(1));
  std::vector<std::thread> waiters;
  std::atomic<int> woken{0};
  for (int i = 0; i < 3; ++i) {
    waiters.emplace_back([&] { woken += empty.Pop().has_value() ? 0 : 1; });
    waiters.emplace_back([&] { woken += empty.PopBatch(2).empty() ? 1 : 0; });
    waiters.emplace_back([&] { woken += full.Push(2) ? 0 : 1; });
  }
  empty.Close();
  full.Close();
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(woken, 9);
}

struct Stamp {
  size_t producer;
  size_t number;
};

constexpr size_t kProducers = 4;
constexpr size_t kConsumers = 4;
constexpr size_t kPerProducer = 5000;

void Produce(BoundedQueue<std::unique_ptr<Stamp>>& queue, size_t producer) {
  for (size_t i = 0; i < kPerProducer; ++i) {
    auto stamp = std::make_unique<Stamp>(Stamp{producer, i});
    if (producer % 2 == 0) {
      while (queue.TryPush(std::move(stamp)) == PushResult::kFull) {
        std::this_thread::yield();
      }
    } else {
      ASSERT_TRUE(queue.Push(std::move(stamp)));
    }
  }
}

std::vector<Stamp> Consume(BoundedQueue<std::unique_ptr<Stamp>>& queue,
                           bool batches) {
  std::vector<Stamp> taken;
  for (;;) {
    if (batches) {
      const auto batch = queue.PopBatch(5);
      if (batch.empty()) return taken;
      for (const auto& stamp : batch) taken.push_back(*stamp);
    } else {
      const auto stamp = queue.Pop();
      if (!stamp.has_value()) return taken;
      taken.push_back(**stamp);
    }
  }
}

TEST(BoundedQueue, LosesDoublesAndReordersNothingBetweenManyThreads) {
  BoundedQueue<std::unique_ptr<Stamp>> queue(7);
  std::vector<std::vector<Stamp>> taken(kConsumers);
  std::vector<std::thread> producers;
  std::vector<std::thread> consumers;
  for (size_t i = 0; i < kConsumers; ++i) {
    consumers.emplace_back(
        [&, i] { taken[i] = Consume(queue, /*batches=*/i % 2 == 0); });
  }
  for (size_t i = 0; i < kProducers; ++i) {
    producers.emplace_back([&, i] { Produce(queue, i); });
  }
  for (std::thread& producer : producers) producer.join();
  queue.Close();
  for (std::thread& consumer : consumers) consumer.join();

  std::vector<std::vector<int>> seen(kProducers,
                                     std::vector<int>(kPerProducer, 0));
  for (const std::vector<Stamp>& mine : taken) {
    // One consumer sees each producer's items in the order they went in.
    std::vector<size_t> next(kProducers, 0);
    for (const Stamp& stamp : mine) {
      ASSERT_GE(stamp.number, next[stamp.producer]);
      next[stamp.producer] = stamp.number + 1;
      ++seen[stamp.producer][stamp.number];
    }
  }
  for (const std::vector<int>& counts : seen) {
    for (const int count : counts) ASSERT_EQ(count, 1);
  }
}

}  // namespace
}  // namespace nephila
