// LoopThread: an event loop with a thread of its own that runs it; or, in a
// crawl that one thread steps, a loop that is somebody else's.
//
//   Threads: made and stopped by one thread. What it runs is handed in by Post;
//   Stop waits until all that was posted before has run.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "net/event_loop.h"

namespace nephila::crawl {

class LoopThread {
 public:
  // `shared`: the loop to use; null: one of its own, with a thread. `name` is
  // what top and perf show, at most 15 letters.
  static Result<std::unique_ptr<LoopThread>> Make(const Clock& clock,
                                                  net::EventLoop* shared,
                                                  const char* name) {
    std::unique_ptr<net::EventLoop> own;
    if (shared == nullptr) {
      NEPHILA_TRY(own, net::EventLoop::Make(clock));
    }
    return std::unique_ptr<LoopThread>(
        new LoopThread(std::move(own), shared, name));
  }
  ~LoopThread() { Stop(); }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  net::EventLoop& loop() { return own_ != nullptr ? *own_ : *shared_; }
  void Start() {
    if (own_ == nullptr || thread_.joinable()) return;
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(), name_);
      while (!stop_) {
        own_->RunOnce(own_->clock().Now() + std::chrono::seconds(60));
      }
    });
  }
  void Stop() {
    if (!thread_.joinable()) return;
    own_->Post([this] { stop_ = true; });
    thread_.join();
  }

 private:
  LoopThread(std::unique_ptr<net::EventLoop> own, net::EventLoop* shared,
             const char* name)
      : own_(std::move(own)), shared_(shared), name_(name) {}

  const std::unique_ptr<net::EventLoop> own_;
  net::EventLoop* const shared_;
  const char* const name_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace nephila::crawl
