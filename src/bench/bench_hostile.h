// nephila bench hostile: well-behaved hosts beside hosts that try to use up
// what the crawler has. The real program crawls the simulated web; for each
// kind of adversary (sim/adversaries.h), and for a random mix of all, with as
// many hostile hosts as the table that they aim at holds, and with ten times as
// many. The promise: all pages of the well-behaved hosts come, in at most three
// times the time of a crawl without adversaries.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"

namespace nephila::bench {

// How many times as long as without adversaries a crawl may take.
inline constexpr double kHostileRatio = 3;

struct BenchHostileOptions {
  // Names of adversaries, and "mix"; empty: all of them.
  std::vector<std::string> adversaries;
  std::vector<int> factors = {1, 10};  // times the size of the table
  uint64_t good_hosts = 20;
  uint64_t pages = 10;  // of each good host
  std::chrono::milliseconds host_delay{200};
  // The tables: politeness.max_hosts, crawl.max_transfers and, of names,
  // dns.max_in_flight.
  uint64_t max_hosts = 100;
  uint64_t max_transfers = 32;
  uint64_t max_names = 32;
  uint64_t seed = 1;
  std::string memory = "64MiB";
  std::vector<std::string> settings;  // of the crawl: KEY=VALUE
  std::string directory;              // where to work; empty: here
  // Of one crawl; pages that did not come by then are missed.
  std::chrono::seconds limit{60};
  bool json = false;
};

// A line for the crawl without adversaries, then one for each kind and number
// of hostile hosts.
Status RunBenchHostile(const BenchHostileOptions& options, std::ostream& out);

}  // namespace nephila::bench
