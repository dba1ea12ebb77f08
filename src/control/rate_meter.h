// RateMeter: how fast a counter has risen of late.
//   In: its value, about once a second   Out: units a second over a window
//   Threads: one   Memory: a sample for each second of the longest window
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

#include "base/clock.h"

namespace nephila::control {

class RateMeter {
 public:
  static constexpr std::chrono::seconds kLongest{60};

  void Note(MonoTime now, uint64_t value);
  // Of the last `window`, or of the time that is known, if that is shorter; 0
  // while nothing is.
  double Over(std::chrono::nanoseconds window) const;

 private:
  struct Sample {
    MonoTime time;
    uint64_t value = 0;
  };
  std::deque<Sample> samples_;
};

}  // namespace nephila::control
