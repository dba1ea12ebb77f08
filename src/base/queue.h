// BoundedQueue: a FIFO of fixed capacity between threads.
//
// What when full: Push waits for room, which slows the producer to the speed
// of its consumers; TryPush says kFull and leaves the item with the caller, who
// keeps it, spills it or counts it as dropped. The queue itself never drops.
// After Close() nothing goes in, and what is inside can still be taken out.
// The Try calls never wait, and tell a pause from the end: with them one thread
// can step all stages in turn.
//
// Threads: any number on both sides; every call takes one mutex, so what
// travels should be a batch. Memory: all slots are made by the constructor. The
// threads have to be joined before the queue is destroyed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "base/result.h"

namespace nephila {

enum class PushResult : uint8_t { kPushed, kFull, kClosed };

// Why there is no item.
enum class NoItem : uint8_t {
  kNotNow,  // empty; more may come
  kEnded,   // closed and drained: nothing will ever come
};

template <typename T>
class BoundedQueue {
 public:
  // REQUIRES: capacity > 0.
  explicit BoundedQueue(size_t capacity)
      : capacity_(capacity), slots_(capacity) {
    NEPHILA_CHECK(capacity > 0);
  }
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  // Waits for room. False once closed; only then is `item` left as it was.
  [[nodiscard]] bool Push(T&& item) NEPHILA_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      while (size_ == capacity_ && !closed_) not_full_.Wait(mutex_);
      if (closed_) return false;
      PushLocked(std::move(item));
    }
    not_empty_.NotifyOne();
    return true;
  }

  // Never waits. Unless kPushed, `item` is left as it was.
  [[nodiscard]] PushResult TryPush(T&& item) NEPHILA_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (closed_) return PushResult::kClosed;
      if (size_ == capacity_) return PushResult::kFull;
      PushLocked(std::move(item));
    }
    not_empty_.NotifyOne();
    return PushResult::kPushed;
  }

  // Waits for an item; nullopt once closed and drained.
  [[nodiscard]] std::optional<T> Pop() NEPHILA_EXCLUDES(mutex_) {
    std::optional<T> item;
    {
      MutexLock lock(mutex_);
      while (size_ == 0 && !closed_) not_empty_.Wait(mutex_);
      if (size_ == 0) return std::nullopt;
      item = PopLocked();
    }
    not_full_.NotifyOne();
    return item;
  }

  // Never waits.
  Result<T, NoItem> TryPop() NEPHILA_EXCLUDES(mutex_) {
    std::optional<T> item;
    {
      MutexLock lock(mutex_);
      if (size_ == 0) return Unexpected(NothingLocked());
      item = PopLocked();
    }
    not_full_.NotifyOne();
    return *std::move(item);
  }

  // Waits for at least one item, then takes up to `max` without waiting for
  // more; empty once closed and drained. REQUIRES: max > 0.
  [[nodiscard]] std::vector<T> PopBatch(size_t max) NEPHILA_EXCLUDES(mutex_) {
    NEPHILA_CHECK(max > 0);
    std::vector<T> batch;
    {
      MutexLock lock(mutex_);
      while (size_ == 0 && !closed_) not_empty_.Wait(mutex_);
      batch = PopBatchLocked(max);
    }
    not_full_.NotifyAll();
    return batch;
  }

  // Never waits; takes from one to `max` items. REQUIRES: max > 0.
  Result<std::vector<T>, NoItem> TryPopBatch(size_t max)
      NEPHILA_EXCLUDES(mutex_) {
    NEPHILA_CHECK(max > 0);
    std::vector<T> batch;
    {
      MutexLock lock(mutex_);
      if (size_ == 0) return Unexpected(NothingLocked());
      batch = PopBatchLocked(max);
    }
    not_full_.NotifyAll();
    return batch;
  }

  // No more items; wakes everyone who waits. Calling it again does nothing.
  void Close() NEPHILA_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      closed_ = true;
    }
    not_full_.NotifyAll();
    not_empty_.NotifyAll();
  }

  // Whether Close() was called; items may still be inside.
  bool closed() const NEPHILA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return closed_;
  }

  // May be out of date when it returns: for gauges, not for decisions.
  size_t size() const NEPHILA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return size_;
  }
  size_t capacity() const { return capacity_; }

 private:
  void PushLocked(T&& item) NEPHILA_REQUIRES(mutex_) {
    slots_[(head_ + size_) % capacity_].emplace(std::move(item));
    ++size_;
  }
  T PopLocked() NEPHILA_REQUIRES(mutex_) {
    std::optional<T>& slot = slots_[head_];
    T item = std::move(*slot);
    slot.reset();
    head_ = (head_ + 1) % capacity_;
    --size_;
    return item;
  }
  std::vector<T> PopBatchLocked(size_t max) NEPHILA_REQUIRES(mutex_) {
    const size_t count = std::min(max, size_);
    std::vector<T> batch;
    batch.reserve(count);
    while (batch.size() < count) batch.push_back(PopLocked());
    return batch;
  }
  NoItem NothingLocked() const NEPHILA_REQUIRES(mutex_) {
    return closed_ ? NoItem::kEnded : NoItem::kNotNow;
  }

  const size_t capacity_;
  mutable Mutex mutex_;
  CondVar not_full_;
  CondVar not_empty_;
  std::vector<std::optional<T>> slots_ NEPHILA_GUARDED_BY(mutex_);  // a ring
  size_t head_ NEPHILA_GUARDED_BY(mutex_) = 0;
  size_t size_ NEPHILA_GUARDED_BY(mutex_) = 0;
  bool closed_ NEPHILA_GUARDED_BY(mutex_) = false;
};

}  // namespace nephila
