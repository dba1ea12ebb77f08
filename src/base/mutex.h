// Mutex, MutexLock, CondVar: the standard ones, with clang's thread-safety
// annotations, which std::mutex lacks under libstdc++.
//
// A member that a mutex guards says so with NEPHILA_GUARDED_BY, a method that
// expects it held with NEPHILA_REQUIRES; the clang preset then refuses code
// that does not keep to it. Other compilers see plain wrappers at no cost.
// A wait has no predicate form because the analysis does not look through
// lambdas: write `while (!ready_) changed_.Wait(mutex_);`. It has no timed
// form because time comes in through Clock: that is Clock::WaitUntil.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define NEPHILA_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define NEPHILA_THREAD_ATTRIBUTE(x)
#endif

#define NEPHILA_CAPABILITY(name) NEPHILA_THREAD_ATTRIBUTE(capability(name))
#define NEPHILA_SCOPED_CAPABILITY NEPHILA_THREAD_ATTRIBUTE(scoped_lockable)
#define NEPHILA_GUARDED_BY(mutex) NEPHILA_THREAD_ATTRIBUTE(guarded_by(mutex))
#define NEPHILA_PT_GUARDED_BY(mutex) \
  NEPHILA_THREAD_ATTRIBUTE(pt_guarded_by(mutex))
#define NEPHILA_REQUIRES(...) \
  NEPHILA_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define NEPHILA_EXCLUDES(...) \
  NEPHILA_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define NEPHILA_ACQUIRE(...) \
  NEPHILA_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define NEPHILA_RELEASE(...) \
  NEPHILA_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define NEPHILA_ACQUIRED_BEFORE(...) \
  NEPHILA_THREAD_ATTRIBUTE(acquired_before(__VA_ARGS__))
#define NEPHILA_ACQUIRED_AFTER(...) \
  NEPHILA_THREAD_ATTRIBUTE(acquired_after(__VA_ARGS__))
#define NEPHILA_NO_THREAD_SAFETY_ANALYSIS \
  NEPHILA_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace nephila {

// Not recursive. Prefer MutexLock to the calls.
class NEPHILA_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() NEPHILA_ACQUIRE() { mutex_.lock(); }
  void Unlock() NEPHILA_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a Mutex for the length of a scope.
class NEPHILA_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) NEPHILA_ACQUIRE(mutex) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() NEPHILA_RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  // Gives the mutex up, sleeps until notified, takes it again. May return
  // without a notification: always test the condition in a loop.
  void Wait(Mutex& mutex) NEPHILA_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    changed_.wait(lock);
    lock.release();
  }
  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  friend class RealClock;

  // Wait, for at most about `longest`.
  void WaitFor(Mutex& mutex, std::chrono::nanoseconds longest)
      NEPHILA_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    changed_.wait_for(lock, longest);
    lock.release();
  }

  std::condition_variable changed_;
};

}  // namespace nephila
