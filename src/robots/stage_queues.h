// The queues of the stage in its QueueSet; those of parking.h come behind.
// DO NOT CHANGE THESE VALUES: they are stored.
#pragma once

#include <cstdint>

namespace nephila::robots {

inline constexpr uint64_t kWaitingQueue = 0;  // Q_R
inline constexpr uint64_t kRequestQueue = 1;  // Q_D
inline constexpr uint64_t kChangesQueue = 2;  // updates that had no room
inline constexpr uint64_t kWalkQueue = 3;     // walks that begin

}  // namespace nephila::robots
