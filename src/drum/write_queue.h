// WriteQueue: writes that go on in the background, and can be tried again.
//
// A full disk is no reason to lose anything: a write that fails with kNoSpace
// is kept with all its data and done again by Retry. Any other failure is
// final, and every later call returns it.
//
// Threads: one posts and waits; the writes run on the Workers, or on that
// thread while it waits.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/workers.h"

namespace nephila::drum {

class WriteQueue {
 public:
  using Write = std::function<Status()>;

  explicit WriteQueue(Workers& workers) : workers_(workers) {}
  ~WriteQueue();  // waits for what runs, whatever becomes of it
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  void Post(Write write);
  // Does what had no space once more, on this thread. The error if it has
  // none still.
  Status Retry();
  // Until at most so many writes are under way. Those that had no space count
  // as failed: their error.
  Status WaitUntilAtMost(size_t in_flight);
  // Until everything posted is written.
  Status Settle();

 private:
  void Run(Write& write);

  Workers& workers_;
  Mutex mutex_;
  CondVar changed_;
  size_t in_flight_ NEPHILA_GUARDED_BY(mutex_) = 0;
  std::vector<Write> without_space_ NEPHILA_GUARDED_BY(mutex_);
  std::optional<Error> no_space_ NEPHILA_GUARDED_BY(mutex_);
  std::optional<Error> fatal_ NEPHILA_GUARDED_BY(mutex_);
};

// Things that cost something to make (buffers, codec contexts), handed around
// between threads.
template <typename T>
class FreeList {
 public:
  std::unique_ptr<T> Take() {
    MutexLock lock(mutex_);
    if (free_.empty()) return nullptr;
    std::unique_ptr<T> item = std::move(free_.back());
    free_.pop_back();
    return item;
  }
  template <typename... Arguments>
  std::unique_ptr<T> TakeOrMake(Arguments&&... arguments) {
    std::unique_ptr<T> item = Take();
    if (item == nullptr) {
      item = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    }
    return item;
  }
  void Give(std::unique_ptr<T> item) {
    MutexLock lock(mutex_);
    free_.push_back(std::move(item));
  }

 private:
  Mutex mutex_;
  std::vector<std::unique_ptr<T>> free_ NEPHILA_GUARDED_BY(mutex_);
};

}  // namespace nephila::drum
