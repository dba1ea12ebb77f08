// nephila bench crawl: whole crawlers on the same work. A finite site on nginx
// with one request in flight, for us and for others (peer_crawlers.h); or a
// broad crawl of the simulated web, for us alone (broad_crawl.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/broad_crawl.h"

namespace nephila::bench {

struct BenchCrawlOptions {
  uint64_t pages = 20'000;  // of the site
  bool https = false;
  // Those that are run; empty: all that are installed.
  std::vector<std::string> crawlers;
  int rounds = 1;                     // the best by the clock counts
  std::vector<std::string> settings;  // of ours: KEY=VALUE
  bool broad = false;
  BroadCrawlOptions broad_options;
  std::string directory;            // where to work; empty: here
  std::chrono::seconds limit{600};  // of one crawler
  bool json = false;
};

// A line for each crawler: pages by the server's log, by the clock, by its
// processor time, and the most memory it had resident. Other than pages all is
// measured from outside. The server shares the machine.
Status RunBenchCrawl(const BenchCrawlOptions& options, std::ostream& out);

}  // namespace nephila::bench
