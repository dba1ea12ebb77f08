// Clock: the only source of time, so that tests can own it.
//
// MonoTime never steps back and is what waits and timeouts are measured in; it
// means nothing outside this boot of the machine (BootId). WallTime is UTC, may
// jump either way when someone sets the clock, and is only for people and
// archives. They are different types: mixing them does not compile. Both hold
// int64_t nanoseconds; wall time reaches from 1677 to 2262.
//
// Threads: any. Cost: RealClock takes about 21 ns to tell the time, no system
// call.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace nephila {

struct MonoTimeTag {};
using MonoTime = std::chrono::time_point<MonoTimeTag, std::chrono::nanoseconds>;
using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual MonoTime Now() const = 0;
  virtual WallTime WallNow() const = 0;

  // Changes when the machine starts anew, and only then: stored MonoTimes mean
  // something where it is the same. If it cannot be had, take it for changed.
  virtual Result<std::string> BootId() const = 0;

  // Waits until `changed` is notified or `deadline` has come; returns whether
  // it has, so that
  //   while (!ready_ && !clock_.WaitUntil(changed_, mutex_, deadline)) {}
  // ends by either. As with CondVar::Wait the mutex is free meanwhile, and the
  // call may return for no reason. MonoTime::max() is never.
  virtual bool WaitUntil(CondVar& changed, Mutex& mutex,
                         MonoTime deadline) const NEPHILA_REQUIRES(mutex) = 0;
};

// Now() is CLOCK_BOOTTIME, not CLOCK_MONOTONIC: the time a machine sleeps
// counts, as it does for the hosts we wait for and for the peers whose
// connections are dead when it wakes. Both cost the same.
class RealClock final : public Clock {
 public:
  MonoTime Now() const override;
  WallTime WallNow() const override;
  Result<std::string> BootId() const override;
  bool WaitUntil(CondVar& changed, Mutex& mutex,
                 MonoTime deadline) const override NEPHILA_REQUIRES(mutex);
};

// Stands still until told to move. Starts one hour after its boot, so that a
// zero MonoTime is never "now", and on 2026-01-01. Outlives all who wait.
class ManualClock final : public Clock {
 public:
  MonoTime Now() const override;
  WallTime WallNow() const override;
  Result<std::string> BootId() const override;
  bool WaitUntil(CondVar& changed, Mutex& mutex,
                 MonoTime deadline) const override NEPHILA_REQUIRES(mutex)
      NEPHILA_EXCLUDES(waiters_mutex_);

  // Lets time pass on both clocks and wakes everyone in WaitUntil.
  // REQUIRES: delta >= 0; the caller holds no mutex that someone waits with.
  void Advance(std::chrono::nanoseconds delta) NEPHILA_EXCLUDES(waiters_mutex_);

  // Someone sets the wall clock, forwards or back; no time passes.
  void StepWall(std::chrono::nanoseconds delta);

  // The machine starts anew: another BootId, and Now() one second after it.
  // The wall clock goes on. REQUIRES: no one is in WaitUntil; whoever lived
  // before the boot is gone.
  void Reboot() NEPHILA_EXCLUDES(waiters_mutex_);

  // How many are in WaitUntil. Once counted, a waiter misses no Advance.
  size_t waiters() const NEPHILA_EXCLUDES(waiters_mutex_);

 private:
  // A call of WaitUntil. While it is pinned its mutex and its condition
  // variable exist.
  struct Waiter {
    CondVar* changed = nullptr;
    Mutex* mutex = nullptr;
    int pins = 0;
    bool gone = false;
  };

  void Wake(Waiter& waiter) NEPHILA_EXCLUDES(waiters_mutex_);

  std::atomic<int64_t> mono_ns_{3'600'000'000'000};
  std::atomic<int64_t> wall_ns_{1'767'225'600'000'000'000};
  std::atomic<uint64_t> boots_{1};

  // Taken with a waiter's mutex held; so no waiter's mutex is taken with this
  // one held.
  mutable Mutex waiters_mutex_;
  mutable CondVar unpinned_;
  // The fields of each are guarded too.
  mutable std::vector<std::shared_ptr<Waiter>> waiters_
      NEPHILA_GUARDED_BY(waiters_mutex_);
};

inline double Seconds(std::chrono::nanoseconds length) {
  return std::chrono::duration<double>(length).count();
}

// 2026-01-02T03:04:05.678Z, rounded down to the millisecond.
std::string FormatUtc(WallTime time);

}  // namespace nephila
