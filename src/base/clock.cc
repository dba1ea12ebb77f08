#include "base/clock.h"

#include <fmt/core.h>

#include <ctime>

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

}  // namespace

MonoTime RealClock::Now() const { return MonoTime(ReadClock(CLOCK_BOOTTIME)); }

WallTime RealClock::WallNow() const {
  return WallTime(ReadClock(CLOCK_REALTIME));
}

MonoTime ManualClock::Now() const {
  return MonoTime(std::chrono::nanoseconds(mono_ns_.load()));
}

WallTime ManualClock::WallNow() const {
  return WallTime(std::chrono::nanoseconds(wall_ns_.load()));
}

void ManualClock::Advance(std::chrono::nanoseconds delta) {
  NEPHILA_CHECK(delta.count() >= 0);
  mono_ns_.fetch_add(delta.count());
  wall_ns_.fetch_add(delta.count());
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
