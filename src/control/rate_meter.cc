#include "control/rate_meter.h"

namespace nephila::control {
namespace {

// Closer samples say nothing new.
constexpr std::chrono::milliseconds kApart{500};

}  // namespace

void RateMeter::Note(MonoTime now, uint64_t value) {
  // The newest is always of now; those before it stay apart.
  if (samples_.size() > 1 &&
      now - samples_[samples_.size() - 2].time < kApart) {
    samples_.pop_back();
  }
  samples_.push_back({now, value});
  // One that is older than the window is its beginning.
  while (samples_.size() > 2 && now - samples_[1].time >= kLongest) {
    samples_.pop_front();
  }
}

double RateMeter::Over(std::chrono::nanoseconds window) const {
  if (samples_.size() < 2) return 0;
  const Sample& last = samples_.back();
  const Sample* first = &samples_.front();
  for (const Sample& sample : samples_) {
    if (last.time - sample.time < window) break;
    first = &sample;
  }
  const double seconds = Seconds(last.time - first->time);
  if (seconds <= 0 || last.value < first->value) return 0;
  return static_cast<double>(last.value - first->value) / seconds;
}

}  // namespace nephila::control
