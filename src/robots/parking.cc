#include "robots/parking.h"

#include <algorithm>
#include <chrono>

namespace nephila::robots {
namespace {

using std::chrono::seconds;

// Class k has slots of 16^k seconds.
constexpr uint64_t Width(uint64_t number) {
  return uint64_t{1} << (4 * number);
}

// Rounded up: nothing comes before its time.
uint64_t SecondsOf(WallTime time) {
  const auto whole = std::chrono::ceil<seconds>(time.time_since_epoch());
  return static_cast<uint64_t>(std::max<int64_t>(whole.count(), 0));
}

}  // namespace

uint64_t ParkingQueue(WallTime due, WallTime now) {
  const uint64_t at = SecondsOf(std::max(due, now));
  const uint64_t wait = at - std::min(at, SecondsOf(now));
  uint64_t parking_class = 0;
  while (parking_class + 1 < kParkingClasses &&
         wait >= 16 * Width(parking_class + 1)) {
    ++parking_class;
  }
  const uint64_t width = Width(parking_class);
  const uint64_t slot = (at + width - 1) / width;
  return kFirstParkingQueue + slot * kParkingClasses + parking_class;
}

WallTime ParkingDue(uint64_t queue) {
  const uint64_t number = queue - kFirstParkingQueue;
  const uint64_t due =
      number / kParkingClasses * Width(number % kParkingClasses);
  return WallTime(seconds(static_cast<int64_t>(due)));
}

}  // namespace nephila::robots
