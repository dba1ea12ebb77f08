// Mailbox: how one thread hands things to another whose event loop takes them.
//
// In: items, from any thread. Out: a call of the handler by the loop, with all
// that came since the last one, in order. Nothing here bounds how many wait:
// what travels is bounded by whoever makes it (visits by max_urls of
// politeness, finished ones by the transfers in flight).
// Threads: Push by any, the handler by the loop's. Cost: a mutex an item, and
// one wake-up a batch; none while the loop naps, for mail that can wait.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "net/event_loop.h"

namespace nephila::crawl {

// Whether the loop is woken for it even from a nap (EventLoop::PostSoon).
enum class Mail : uint8_t { kUrgent, kCanWait };

template <typename T>
class Mailbox {
 public:
  // The loop outlives it, and runs no round after it is gone.
  // The handler may take what it gets.
  Mailbox(net::EventLoop& loop, std::function<void(std::vector<T>&)> handler,
          Mail kind = Mail::kUrgent)
      : loop_(loop), handler_(std::move(handler)), kind_(kind) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  void Push(T item) NEPHILA_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      items_.push_back(std::move(item));
      if (items_.size() > 1) return;  // the loop knows
    }
    if (kind_ == Mail::kCanWait) {
      loop_.PostSoon([this] { Deliver(); });
    } else {
      loop_.Post([this] { Deliver(); });
    }
  }

 private:
  void Deliver() NEPHILA_EXCLUDES(mutex_) {
    std::vector<T> items;
    {
      MutexLock lock(mutex_);
      items.swap(items_);
    }
    handler_(items);
  }

  net::EventLoop& loop_;
  const std::function<void(std::vector<T>&)> handler_;
  const Mail kind_;
  Mutex mutex_;
  std::vector<T> items_ NEPHILA_GUARDED_BY(mutex_);
};

}  // namespace nephila::crawl
