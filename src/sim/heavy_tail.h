// HeavyTail: whole numbers from 1 to a largest one whose tail falls like
// x^-alpha (a Pareto law), with a mean of choice. Site sizes, hosts of a domain
// and page sizes are such numbers (IRLbot s5.1, VN s2).
//
// Threads: immutable. Cost: one pow, about 40 ns a number.
#pragma once

#include <cstdint>

namespace nephila::sim {

class HeavyTail {
 public:
  // The scale is found by bisection, so that the numbers' mean is `mean`.
  // REQUIRES: 1 <= mean <= largest, alpha > 0.
  HeavyTail(double mean, double alpha, uint64_t largest);

  // `unit` in [0, 1): the same number for the same `unit`.
  uint64_t At(double unit) const;

  // What the mean comes to: `mean` unless `largest` is too near to it.
  double Mean() const { return MeanWith(scale_); }

 private:
  double MeanWith(double scale) const;

  double alpha_;
  double largest_;
  double scale_;
};

}  // namespace nephila::sim
