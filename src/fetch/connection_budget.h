// ConnectionBudget: the one limit on the connections of all fetchers of a
// process, in use or kept open for later.
//
//   In: slots taken and given back, fetchers that join   Out: yes or no
//   Threads: thread-safe.   Cost: an atomic operation per slot; a lock only
//   when a fetcher is short of slots.
//
// A running transfer holds one slot, an idle kept connection holds one slot. A
// transfer that reuses an idle connection inherits its slot. When no slot is
// free, a fetcher closes idle connections of its own, then asks the other
// fetchers to close theirs, and waits. Since the crawl runs at most as many
// transfers as there are slots, an idle connection is always there to close.
//
// Slots only say what we mean to open. `max_descriptor` is what protects the
// files of the crawl if anything else in the process opens more than was
// planned: the kernel gives out the lowest free number, and a socket whose
// number is not below `max_descriptor` is closed again at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace nephila::fetch {

class ConnectionBudget {
 public:
  // A fetcher that shares the budget.
  class Member {
   public:
    virtual ~Member() = default;
    // Closes up to `count` idle connections, soon, on the member's own thread.
    // Called by any thread, with the budget locked: it must not call back.
    virtual void CloseIdleSoon(size_t count) = 0;
  };

  explicit ConnectionBudget(
      size_t limit, int max_descriptor = std::numeric_limits<int>::max())
      : limit_(limit), max_descriptor_(max_descriptor) {}
  ConnectionBudget(const ConnectionBudget&) = delete;
  ConnectionBudget& operator=(const ConnectionBudget&) = delete;

  // False if all slots are taken.
  bool TryTake();
  // Takes a slot even if none is free: for a connection that is open already.
  void Take(size_t count);
  void Give(size_t count);

  // Whether so few slots are free that no further connection should be kept:
  // closing a kept connection early costs more than not keeping it.
  bool is_tight() const { return used() >= limit_ - limit_ / kTightPart; }
  size_t used() const { return used_.load(std::memory_order_relaxed); }
  size_t limit() const { return limit_; }
  int max_descriptor() const { return max_descriptor_; }

  // A member leaves before it is destroyed.
  void Join(Member* member) NEPHILA_EXCLUDES(mutex_);
  void Leave(Member* member) NEPHILA_EXCLUDES(mutex_);
  // Asks every member but `except`, which may be null, to close up to `count`
  // idle connections.
  void Squeeze(const Member* except, size_t count) NEPHILA_EXCLUDES(mutex_);

  // Blocks until a slot is given back, at most until `deadline`. For a thread
  // that needs a descriptor for a file and found none.
  void WaitForGive(const Clock& clock, MonoTime deadline)
      NEPHILA_EXCLUDES(mutex_);

 private:
  static constexpr size_t kTightPart = 8;

  const size_t limit_;
  const int max_descriptor_;
  std::atomic<size_t> used_{0};
  std::atomic<size_t> waiting_{0};  // in WaitForGive
  Mutex mutex_;
  CondVar given_;
  std::vector<Member*> members_ NEPHILA_GUARDED_BY(mutex_);
  size_t gives_ NEPHILA_GUARDED_BY(mutex_) = 0;  // while a thread waits
};

}  // namespace nephila::fetch
