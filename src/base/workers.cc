#include "base/workers.h"

#include <pthread.h>

#include <cstddef>
#include <utility>

namespace nephila {

Workers::Workers(int threads) {
  threads_.reserve(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] {
      pthread_setname_np(pthread_self(), "merge");
      Run();
    });
  }
}

Workers::~Workers() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  posted_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::Post(Task task, Urgency urgency) {
  {
    MutexLock lock(mutex_);
    (urgency == Urgency::kUrgent ? urgent_ : normal_)
        .push_back(std::move(task));
  }
  posted_.NotifyOne();
}

bool Workers::Take(Task& task, Urgency at_least) {
  std::deque<Task>& tasks = !urgent_.empty() ? urgent_ : normal_;
  if (tasks.empty()) return false;
  if (&tasks == &normal_ && at_least == Urgency::kUrgent) return false;
  task = std::move(tasks.front());
  tasks.pop_front();
  return true;
}

bool Workers::Help(Urgency at_least) {
  Task task;
  {
    MutexLock lock(mutex_);
    if (!Take(task, at_least)) return false;
  }
  task();
  return true;
}

void Workers::Run() {
  while (true) {
    Task task;
    {
      MutexLock lock(mutex_);
      while (!ending_ && urgent_.empty() && normal_.empty()) {
        posted_.Wait(mutex_);
      }
      if (ending_) return;
      Take(task, Urgency::kNormal);
    }
    task();
  }
}

}  // namespace nephila
