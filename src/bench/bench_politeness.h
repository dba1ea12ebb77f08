// nephila bench politeness: what a lease costs, and what a host takes.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "base/result.h"

namespace nephila::bench {

struct BenchPolitenessOptions {
  std::vector<uint64_t> hosts = {1'000, 10'000, 100'000};
  uint64_t leases = 500'000;
  bool json = false;
};

// Crawls hosts on a fifth as many addresses in simulated time: each lease is
// contacted and done at once, and its host gets another URL of 80 bytes. Times
// are of this thread's CPU; memory is what the process grew by.
Status RunBenchPoliteness(const BenchPolitenessOptions& options,
                          std::ostream& out);

}  // namespace nephila::bench
