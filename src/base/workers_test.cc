#include "base/workers.h"

#include <string>

#include "base/mutex.h"
#include "gtest/gtest.h"

namespace nephila {
namespace {

TEST(WorkersTest, WithoutThreadsTasksRunWhenSomeoneHelps) {
  Workers workers(0);
  std::string order;
  workers.Post([&] { order += 'a'; });
  workers.Post([&] {
    order += 'b';
    workers.Post([&] { order += 'd'; });
  });
  workers.Post([&] { order += 'c'; }, Workers::Urgency::kUrgent);
  EXPECT_EQ(order, "");
  EXPECT_TRUE(workers.Help(Workers::Urgency::kUrgent));
  EXPECT_FALSE(workers.Help(Workers::Urgency::kUrgent));
  EXPECT_EQ(order, "c");
  while (workers.Help()) {
  }
  EXPECT_EQ(order, "cabd");
}

TEST(WorkersTest, ThreadsRunEveryTask) {
  Mutex mutex;
  CondVar changed;
  int done = 0;
  Workers workers(3);
  for (int i = 0; i < 1000; ++i) {
    workers.Post([&] {
      MutexLock lock(mutex);
      ++done;
      changed.NotifyAll();
    });
  }
  MutexLock lock(mutex);
  while (done < 1000) changed.Wait(mutex);
  EXPECT_EQ(done, 1000);
}

TEST(WorkersTest, EndsWithTasksStillWaiting) {
  bool ran = false;
  {
    Workers(0).Post([&] { ran = true; });
  }
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace nephila
