// nephila bench recovery: how long a large job stands still when its process is
// killed. The job knows many URLs of the simulated web, given to it as seeds;
// it crawls for a while, is killed with SIGKILL, its files are put out of the
// page cache, and it is started again, up to its first request.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"

namespace nephila::bench {

struct BenchRecoveryOptions {
  uint64_t known = 1'000'000;  // URLs
  int64_t addresses = 5'000;   // that the hosts are on
  // From the first request of a process to its end.
  std::chrono::seconds run{20};
  int kills = 3;
  std::string memory = "1GiB";
  std::string disk = "8GiB";
  std::vector<std::string> settings;  // of the crawl: KEY=VALUE
  std::string directory;              // where to work; empty: here
  std::chrono::seconds limit{600};    // for a first request after a kill
  bool json = false;
};

// A line for each process: when it asked for something first, by the server's
// count, and how the job was at its end.
Status RunBenchRecovery(const BenchRecoveryOptions& options, std::ostream& out);

}  // namespace nephila::bench
