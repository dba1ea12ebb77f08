// Where URLs wait for a time: queues by due-time class.
//
// A queue holds what is due by the same moment, a multiple of its class's
// width. The class follows from the wait, so that a width is at most a
// sixteenth of it (one second for short waits): a URL comes at most that much
// late, each is written and read once, and there are at most some 250 queues
// of each class at a time, however many URLs wait.
//
//   class 0   1 s        waits below 4.3 min
//         1   16 s       below 68 min
//         2   4.3 min    below 18 h
//         3   68 min     below 12 days
//         4   18 h       longer ones
// Threads: any; pure functions.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace nephila::robots {

inline constexpr uint64_t kParkingClasses = 5;
// Numbers below are for other queues.
inline constexpr uint64_t kFirstParkingQueue = 16;

// The queue for what is due at `due`, seen from `now`. A due time in the past
// is now; before 1970 there is none.
uint64_t ParkingQueue(WallTime due, WallTime now);
// When a queue's URLs are due. REQUIRES: a number that ParkingQueue gave.
WallTime ParkingDue(uint64_t queue);
constexpr bool IsParkingQueue(uint64_t queue) {
  return queue >= kFirstParkingQueue;
}

}  // namespace nephila::robots
