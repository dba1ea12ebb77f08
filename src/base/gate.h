// Gate: stops intake, then waits for what is inside.
//
// Whoever starts a piece of work first asks for a Pass and holds it until the
// work is done. Close() refuses new passes and blocks until the last one is
// gone; after it, what the work used may be destroyed, the gate included. A
// thread that has to step the work itself calls StopIntake() and steps until
// IsEmpty(), which means the same.
//
// Threads: any. A pass costs one mutex on the way in and one on the way out:
// meant for requests and batches, not for single links. Closing from a thread
// that holds a pass waits for ever.
#pragma once

#include <cstddef>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"

namespace nephila {

class Gate {
 public:
  // Leaves the gate when destroyed; may be moved to another thread.
  class [[nodiscard]] Pass {
   public:
    Pass() = default;
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&& other) noexcept {
      if (this != &other) {
        Leave();
        gate_ = std::exchange(other.gate_, nullptr);
      }
      return *this;
    }
    ~Pass() { Leave(); }

    // False if the gate was closed: the work must not be started.
    explicit operator bool() const { return gate_ != nullptr; }

   private:
    friend class Gate;
    explicit Pass(Gate* gate) : gate_(gate) {}
    void Leave() {
      if (gate_ != nullptr) std::exchange(gate_, nullptr)->Leave();
    }

    Gate* gate_ = nullptr;
  };

  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() {
    MutexLock lock(mutex_);
    NEPHILA_CHECK(inside_ == 0);
  }

  Pass TryEnter() NEPHILA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (closed_) return Pass();
    ++inside_;
    return Pass(this);
  }

  // Refuses new passes from now on and waits for nobody.
  void StopIntake() NEPHILA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    closed_ = true;
  }

  // Whether no pass is out; stays true only after StopIntake() or Close().
  bool IsEmpty() const NEPHILA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return inside_ == 0;
  }

  // Blocks until all passes are gone. May be called again, and by several.
  void Close() NEPHILA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    closed_ = true;
    while (inside_ > 0) empty_.Wait(mutex_);
  }

 private:
  void Leave() NEPHILA_EXCLUDES(mutex_) {
    // Notifies under the mutex: once it is free the closer may destroy us.
    MutexLock lock(mutex_);
    if (--inside_ == 0) empty_.NotifyAll();
  }

  mutable Mutex mutex_;
  CondVar empty_;
  size_t inside_ NEPHILA_GUARDED_BY(mutex_) = 0;
  bool closed_ NEPHILA_GUARDED_BY(mutex_) = false;
};

}  // namespace nephila
