// EventLoop: one thread's descriptors (epoll), timers, and what other threads
// ask it to do.
//
//   In: descriptors to watch, times, functions   Out: calls, in RunOnce alone
//   Threads: all by one thread, the loop's, but Post, PostSoon and Wake, which
//   any may call. Cost: a system call per round and per Watch, Change and
//   Forget; no allocation per event; timers O(log n); 16 bytes per descriptor
//   number.
//
// A round is fair: what a callback adds (a post, a timer that is due) runs in
// the next round, so nothing can keep descriptors from being looked at.
// Waiting is in real time; the clock says what is due. With a ManualClock run
// rounds with a deadline of Now(), which never wait.
#pragma once

#include <sys/epoll.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "net/descriptor.h"
#include "net/timer_heap.h"

namespace nephila::net {

// Who is told that a descriptor is ready.
class FdHandler {
 public:
  virtual ~FdHandler() = default;
  // EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP as they came. May call anything of
  // the loop but RunOnce, and may destroy the handler after Forget.
  virtual void OnReady(uint32_t events) = 0;
};

class EventLoop {
 public:
  // The clock outlives the loop.
  static Result<std::unique_ptr<EventLoop>> Make(const Clock& clock);
  // What is watched is the watchers' to close; functions that have not run
  // are dropped.
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Level-triggered. `events` is EPOLLIN and/or EPOLLOUT; errors and hang-ups
  // come always. REQUIRES: not watched yet; the handler lives until Forget.
  Status Watch(int fd, uint32_t events, FdHandler* handler);
  // REQUIRES: watched. The handler stays.
  Status Change(int fd, uint32_t events);
  // Nothing more is told of it, not even what this round has fetched already;
  // call it before the descriptor is closed. Nothing if it is not watched.
  void Forget(int fd);
  bool Watched(int fd) const;

  // Runs once the clock is there; the past and now mean the next round.
  TimerId At(MonoTime time, std::function<void()> function);
  // False if it ran or was cancelled before.
  bool Cancel(TimerId id);

  // Runs `function` in the next round; wakes the loop if it waits, which is
  // what costs. Any thread. Nothing here bounds how many wait: whoever posts
  // must.
  void Post(std::function<void()> function) NEPHILA_EXCLUDES(mutex_);
  // The same, but lets the loop nap (RunOnce): for what is better done many at
  // a time.
  void PostSoon(std::function<void()> function) NEPHILA_EXCLUDES(mutex_);
  // Ends the waiting of RunOnce. Any thread.
  void Wake();

  // One round: waits until something can be done, at most to `deadline`
  // (rounded up to a millisecond), does what can be done and tells how many
  // calls that were.
  size_t RunOnce(MonoTime deadline) { return RunOnce(deadline, MonoTime{}); }
  // Until `nap_until` it is not woken by what PostSoon brings, or has brought.
  size_t RunOnce(MonoTime deadline, MonoTime nap_until);

  const Clock& clock() const { return clock_; }
  size_t timers() const { return timers_.size(); }
  size_t descriptors() const { return watched_; }

 private:
  // Events carry the generation of their watch, so that one fetched before a
  // Forget is known, even if the number was given to another socket since.
  struct Watcher {
    FdHandler* handler = nullptr;
    uint32_t generation = 0;
  };

  EventLoop(const Clock& clock, Descriptor epoll, Descriptor wake);
  Status Control(int operation, int fd, uint32_t events);
  int WaitMs(MonoTime deadline, MonoTime nap_until) NEPHILA_EXCLUDES(mutex_);
  size_t RunReady(size_t count);
  size_t RunPosted() NEPHILA_EXCLUDES(mutex_);
  size_t RunTimers();

  const Clock& clock_;
  const Descriptor epoll_;
  const Descriptor wake_;
  std::vector<epoll_event> events_;
  std::vector<Watcher> watchers_;  // by descriptor
  size_t watched_ = 0;
  TimerHeap timers_;
  bool running_ = false;
  std::vector<std::function<void()>> taken_;

  Mutex mutex_;
  std::vector<std::function<void()>> posted_ NEPHILA_GUARDED_BY(mutex_);
  bool asleep_ NEPHILA_GUARDED_BY(mutex_) = false;   // or about to be
  bool napping_ NEPHILA_GUARDED_BY(mutex_) = false;  // PostSoon lets it sleep
  bool urgent_ NEPHILA_GUARDED_BY(mutex_) = false;   // some of `posted_` is
};

}  // namespace nephila::net
