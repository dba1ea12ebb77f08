#include "net/event_loop.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/check.h"

namespace nephila::net {
namespace {

// Fetched per round; more stay in the kernel for the next one.
constexpr size_t kEventsPerRound = 512;

}  // namespace

Result<std::unique_ptr<EventLoop>> EventLoop::Make(const Clock& clock) {
  Descriptor epoll(epoll_create1(EPOLL_CLOEXEC));
  if (epoll.get() < 0) return Unexpected(Error::FromErrno("epoll", errno));
  Descriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake.get() < 0) return Unexpected(Error::FromErrno("eventfd", errno));
  std::unique_ptr<EventLoop> loop(
      new EventLoop(clock, std::move(epoll), std::move(wake)));
  // Without a handler: being woken is all that there is to it.
  NEPHILA_RETURN_IF_ERROR(
      loop->Control(EPOLL_CTL_ADD, loop->wake_.get(), EPOLLIN));
  return loop;
}

EventLoop::EventLoop(const Clock& clock, Descriptor epoll, Descriptor wake)
    : clock_(clock),
      epoll_(std::move(epoll)),
      wake_(std::move(wake)),
      events_(kEventsPerRound) {}

EventLoop::~EventLoop() = default;

Status EventLoop::Control(int operation, int fd, uint32_t events) {
  const auto index = static_cast<size_t>(fd);
  if (index >= watchers_.size()) watchers_.resize(index + 1);
  epoll_event event{};
  event.events = events;
  event.data.u64 = static_cast<uint64_t>(watchers_[index].generation) << 32 |
                   static_cast<uint32_t>(fd);
  if (epoll_ctl(epoll_.get(), operation, fd, &event) != 0) {
    return Unexpected(Error::FromErrno("epoll", errno));
  }
  return {};
}

Status EventLoop::Watch(int fd, uint32_t events, FdHandler* handler) {
  NEPHILA_CHECK(handler != nullptr && !Watched(fd));
  if (fd < 0) return Unexpected(Error::FromErrno("epoll", EBADF));
  NEPHILA_RETURN_IF_ERROR(Control(EPOLL_CTL_ADD, fd, events));
  watchers_[static_cast<size_t>(fd)].handler = handler;
  ++watched_;
  return {};
}

Status EventLoop::Change(int fd, uint32_t events) {
  NEPHILA_CHECK(Watched(fd));
  return Control(EPOLL_CTL_MOD, fd, events);
}

void EventLoop::Forget(int fd) {
  if (!Watched(fd)) return;
  IgnoreError(Control(EPOLL_CTL_DEL, fd, 0),
              "closed already: the kernel has forgotten it then");
  Watcher& watcher = watchers_[static_cast<size_t>(fd)];
  watcher.handler = nullptr;
  ++watcher.generation;
  --watched_;
}

bool EventLoop::Watched(int fd) const {
  return fd >= 0 && static_cast<size_t>(fd) < watchers_.size() &&
         watchers_[static_cast<size_t>(fd)].handler != nullptr;
}

TimerId EventLoop::At(MonoTime time, std::function<void()> function) {
  // Not before now: one that is set anew for a time in the past would stand
  // before all that are due, round after round.
  return timers_.Add(std::max(time, clock_.Now()), std::move(function));
}

bool EventLoop::Cancel(TimerId id) { return timers_.Cancel(id); }

void EventLoop::Post(std::function<void()> function) {
  bool asleep = false;
  {
    MutexLock lock(mutex_);
    posted_.push_back(std::move(function));
    urgent_ = true;
    // Only the first has to wake it; one that is awake looks before it sleeps.
    asleep = std::exchange(asleep_, false);
  }
  if (asleep) Wake();
}

void EventLoop::PostSoon(std::function<void()> function) {
  bool asleep = false;
  {
    MutexLock lock(mutex_);
    posted_.push_back(std::move(function));
    if (!napping_) asleep = std::exchange(asleep_, false);
  }
  if (asleep) Wake();
}

void EventLoop::Wake() {
  const uint64_t one = 1;
  if (write(wake_.get(), &one, sizeof(one)) < 0) {
    // The counter is full: the loop will wake all the same.
  }
}

int EventLoop::WaitMs(MonoTime deadline, MonoTime nap_until) {
  if (!timers_.empty()) deadline = std::min(deadline, timers_.first_time());
  const MonoTime now = clock_.Now();
  const bool naps = nap_until > now;
  if (naps) deadline = std::min(deadline, nap_until);
  if (deadline <= now) return 0;
  {
    MutexLock lock(mutex_);
    if (naps ? urgent_ : !posted_.empty()) return 0;
    asleep_ = true;
    napping_ = naps;
  }
  if (deadline == MonoTime::max()) return -1;
  // Rounded up: waking early would mean to wait again for nothing.
  constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(1);
  const auto wait = std::min(deadline - now, kLongest);
  return static_cast<int>(
      std::chrono::ceil<std::chrono::milliseconds>(wait).count());
}

size_t EventLoop::RunOnce(MonoTime deadline, MonoTime nap_until) {
  NEPHILA_CHECK(!running_);
  running_ = true;
  const int count =
      epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()),
                 WaitMs(deadline, nap_until));
  {
    MutexLock lock(mutex_);
    asleep_ = false;
    napping_ = false;
  }
  // Interrupted by a signal: whoever handles it wants the round to end.
  size_t calls = RunReady(count < 0 ? 0 : static_cast<size_t>(count));
  calls += RunPosted();
  calls += RunTimers();
  running_ = false;
  return calls;
}

size_t EventLoop::RunReady(size_t count) {
  size_t calls = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t data = events_[i].data.u64;
    const int fd = static_cast<int>(data & 0xffffffff);
    if (fd == wake_.get()) {
      uint64_t value = 0;
      if (read(fd, &value, sizeof(value)) < 0) {
        // Read in an earlier round.
      }
      continue;
    }
    const Watcher& watcher = watchers_[static_cast<size_t>(fd)];
    if (watcher.handler == nullptr || watcher.generation != data >> 32) {
      continue;
    }
    watcher.handler->OnReady(events_[i].events);
    ++calls;
  }
  return calls;
}

size_t EventLoop::RunPosted() {
  {
    MutexLock lock(mutex_);
    taken_.swap(posted_);
    urgent_ = false;
  }
  const size_t calls = taken_.size();
  for (auto& function : taken_) {
    function();
    function = nullptr;  // what it holds goes now, not with the last one
  }
  taken_.clear();
  return calls;
}

size_t EventLoop::RunTimers() {
  if (timers_.empty()) return 0;
  size_t calls = 0;
  const MonoTime now = clock_.Now();
  const uint64_t end = timers_.next_order();
  while (!timers_.empty() && timers_.first_time() <= now &&
         timers_.first_order() < end) {
    const std::function<void()> function = timers_.TakeFirst();
    function();
    ++calls;
  }
  return calls;
}

}  // namespace nephila::net
