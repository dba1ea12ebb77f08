#include "sim/heavy_tail.h"

#include <algorithm>
#include <cmath>

namespace nephila::sim {

HeavyTail::HeavyTail(double mean, double alpha, uint64_t largest)
    : alpha_(alpha), largest_(static_cast<double>(largest)), scale_(1) {
  double low = 1e-6;
  double high = largest_;
  for (int i = 0; i < 60; ++i) {
    scale_ = std::sqrt(low * high);
    (MeanWith(scale_) < mean ? low : high) = scale_;
  }
}

uint64_t HeavyTail::At(double unit) const {
  // 1 - unit is in (0, 1].
  const double value = scale_ * std::pow(1 - unit, -1 / alpha_);
  return static_cast<uint64_t>(std::clamp(value, 1.0, largest_));
}

// The sum of P(X >= k) over k from 1: the first terms one by one, the others as
// an integral from half a step before.
double HeavyTail::MeanWith(double scale) const {
  constexpr double kExact = 1000;
  auto at_least = [&](double k) {
    return k <= scale ? 1 : std::pow(scale / k, alpha_);
  };
  double mean = 1;
  double k = 2;
  for (; k <= std::min(kExact, largest_); ++k) mean += at_least(k);
  const double begin = std::max(k - 0.5, 1.0);
  const double end = largest_ + 0.5;
  if (begin >= end) return mean;
  const double knee = std::clamp(scale, begin, end);
  mean += knee - begin;
  const double power = 1 - alpha_;
  mean += std::abs(power) < 1e-9
              ? scale * std::log(end / knee)
              : std::pow(scale, alpha_) *
                    (std::pow(end, power) - std::pow(knee, power)) / power;
  return mean;
}

}  // namespace nephila::sim
