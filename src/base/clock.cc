#include "base/clock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <string_view>

#include "base/check.h"

namespace nephila {
namespace {

std::chrono::nanoseconds ReadClock(clockid_t id) {
  timespec now = {};
  // Fails only for a clock that the kernel does not have: BOOTTIME came with
  // Linux 2.6.39.
  NEPHILA_CHECK(clock_gettime(id, &now) == 0);
  return std::chrono::seconds(now.tv_sec) +
         std::chrono::nanoseconds(now.tv_nsec);
}

// Condition variables know no CLOCK_BOOTTIME: the time that a machine sleeps
// does not count for them. So that a deadline which passed in such a sleep is
// seen soon, no single wait is longer.
constexpr std::chrono::nanoseconds kLongestWait = std::chrono::seconds(1);

constexpr const char* kBootIdPath = "/proc/sys/kernel/random/boot_id";

}  // namespace

MonoTime RealClock::Now() const { return MonoTime(ReadClock(CLOCK_BOOTTIME)); }

WallTime RealClock::WallNow() const {
  return WallTime(ReadClock(CLOCK_REALTIME));
}

Result<std::string> RealClock::BootId() const {
  // Not through FileSystem: /proc is no disk of ours.
  const int fd = open(kBootIdPath, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Unexpected(Error::FromErrno(kBootIdPath, errno));
  std::array<char, 64> buffer;
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  const int read_errno = errno;
  close(fd);
  if (got < 0) return Unexpected(Error::FromErrno(kBootIdPath, read_errno));
  std::string_view id(buffer.data(), static_cast<size_t>(got));
  id = id.substr(0, id.find('\n'));
  if (id.empty()) {
    return Unexpected(
        Error{ErrorCode::kIo, std::string(kBootIdPath) + ": empty"});
  }
  return std::string(id);
}

bool RealClock::WaitUntil(CondVar& changed, Mutex& mutex,
                          MonoTime deadline) const {
  const MonoTime now = Now();
  if (now >= deadline) return true;
  changed.WaitFor(mutex, std::min(deadline - now, kLongestWait));
  return Now() >= deadline;
}

MonoTime ManualClock::Now() const {
  return MonoTime(std::chrono::nanoseconds(mono_ns_.load()));
}

WallTime ManualClock::WallNow() const {
  return WallTime(std::chrono::nanoseconds(wall_ns_.load()));
}

Result<std::string> ManualClock::BootId() const {
  return fmt::format("00000000-0000-4000-8000-{:012x}", boots_.load());
}

bool ManualClock::WaitUntil(CondVar& changed, Mutex& mutex,
                            MonoTime deadline) const {
  const auto self = std::make_shared<Waiter>();
  self->changed = &changed;
  self->mutex = &mutex;
  {
    MutexLock lock(waiters_mutex_);
    // An Advance after this look finds us in the list, and notifies only when
    // it has our mutex, hence when we sleep.
    if (Now() >= deadline) return true;
    waiters_.push_back(self);
  }
  changed.Wait(mutex);
  // An Advance that has us pinned wants the mutex before it lets go.
  mutex.Unlock();
  {
    MutexLock lock(waiters_mutex_);
    self->gone = true;
    std::erase(waiters_, self);
    while (self->pins > 0) unpinned_.Wait(waiters_mutex_);
  }
  mutex.Lock();
  return Now() >= deadline;
}

void ManualClock::Advance(std::chrono::nanoseconds delta) {
  NEPHILA_CHECK(delta.count() >= 0);
  mono_ns_.fetch_add(delta.count());
  wall_ns_.fetch_add(delta.count());
  std::vector<std::shared_ptr<Waiter>> waiters;
  {
    MutexLock lock(waiters_mutex_);
    waiters = waiters_;
  }
  for (const auto& waiter : waiters) Wake(*waiter);
}

void ManualClock::Wake(Waiter& waiter) {
  {
    MutexLock lock(waiters_mutex_);
    // Woken by someone else since, and its mutex may be gone as well.
    if (waiter.gone) return;
    ++waiter.pins;
  }
  {
    MutexLock lock(*waiter.mutex);
    waiter.changed->NotifyAll();
  }
  MutexLock lock(waiters_mutex_);
  --waiter.pins;
  unpinned_.NotifyAll();
}

void ManualClock::Reboot() {
  MutexLock lock(waiters_mutex_);
  NEPHILA_CHECK(waiters_.empty());
  ++boots_;
  mono_ns_ = 1'000'000'000;
}

size_t ManualClock::waiters() const {
  MutexLock lock(waiters_mutex_);
  return waiters_.size();
}

void ManualClock::StepWall(std::chrono::nanoseconds delta) {
  wall_ns_.fetch_add(delta.count());
}

std::string FormatUtc(WallTime time) {
  const auto millis = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(millis);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(millis - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                     static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

}  // namespace nephila
