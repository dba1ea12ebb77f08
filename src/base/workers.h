// Workers: threads that run tasks, or none, and then whoever waits runs them.
//
// Tasks are pieces of batch work: a bucket to merge, a block to compress. They
// run in the order in which they were posted, the urgent ones before all
// others, and may post more. With no threads at all the same program runs on
// one: whoever waits for a task calls Help, which is how a test stops the
// world between two tasks.
//
// Threads: any. Cost: one mutex on the way in and one on the way out, so a
// task should take microseconds at least. A task must not throw.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace nephila {

class Workers {
 public:
  using Task = std::function<void()>;
  enum class Urgency : uint8_t { kUrgent, kNormal };

  explicit Workers(int threads);
  // Waits for the running tasks; what has not begun is dropped. Whoever owns
  // what a task works on has waited for it before.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void Post(Task task, Urgency urgency = Urgency::kNormal);

  // Runs the next task on this thread; false if none is waiting. Urgent ones
  // alone on request: who waits for a short task does not want a long one.
  bool Help(Urgency at_least = Urgency::kNormal);

  int threads() const { return static_cast<int>(threads_.size()); }

 private:
  void Run();
  bool Take(Task& task, Urgency at_least) NEPHILA_REQUIRES(mutex_);

  Mutex mutex_;
  CondVar posted_;
  std::deque<Task> urgent_ NEPHILA_GUARDED_BY(mutex_);
  std::deque<Task> normal_ NEPHILA_GUARDED_BY(mutex_);
  bool ending_ NEPHILA_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace nephila
