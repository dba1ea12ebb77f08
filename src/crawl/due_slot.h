// DueSlot: the disk queue in which a URL waits for its time. A slot is a
// second, a minute or an hour, the longer the further away, so that there are
// at most some thousand of them however many URLs wait.
//
// In: the time of a URL, and now. Out: the slot, which opens at a time of its
// own: seconds and minutes when all in them are due, an hour when it begins;
// who is not due then goes to a finer slot. Threads: a value.
#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstdint>

#include "base/clock.h"

namespace nephila::crawl {

struct DueSlot {
  // In the order in which they open.
  auto operator<=>(const DueSlot&) const = default;

  WallTime opens{};
  uint64_t queue = 0;  // its number, never 0
};

// The slot of a queue's number.
inline DueSlot SlotOfQueue(uint64_t queue) {
  constexpr int64_t kSeconds[] = {1, 60, 3600};
  const auto unit = static_cast<int64_t>((queue - 1) / 3);
  const int64_t seconds = kSeconds[(queue - 1) % 3];
  return {WallTime(std::chrono::seconds(unit * seconds)), queue};
}

inline DueSlot SlotFor(WallTime due, WallTime now) {
  using std::chrono::hours;
  using std::chrono::minutes;
  using std::chrono::seconds;
  due = std::max(due, WallTime{});
  const auto queue = [](auto unit, uint64_t kind) {
    return static_cast<uint64_t>(unit.time_since_epoch().count()) * 3 + kind +
           1;
  };
  if (due - now < minutes(2)) {
    return SlotOfQueue(queue(std::chrono::ceil<seconds>(due), 0));
  }
  if (due - now < hours(2)) {
    return SlotOfQueue(queue(std::chrono::ceil<minutes>(due), 1));
  }
  return SlotOfQueue(queue(std::chrono::floor<hours>(due), 2));
}

}  // namespace nephila::crawl
