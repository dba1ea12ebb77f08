// A broad crawl of the simulated web, with everything on: robots.txt, delays
// scaled by budgets, reading, archive, checkpoints. The web is another process;
// the crawler is the program as users have it, looked at from outside.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"

namespace nephila::bench {

struct BroadCrawlOptions {
  int64_t hosts = 200'000;
  int64_t addresses = 5'000;
  // Home pages of so many domains: with few of them most of the time goes by
  // before the crawl knows enough hosts to be busy.
  uint64_t seeds = 50'000;
  std::chrono::seconds time{600};
  std::string memory = "1GiB";
  std::vector<std::string> settings;  // besides
};

// A line for each tenth of the time, then one for the second half: pages of
// that, by the clock and by processor time of the crawler, and how its threads
// share that.
Status RunBroadCrawl(const BroadCrawlOptions& options,
                     const std::string& nephila, const std::string& folder,
                     bool json, std::ostream& out);

}  // namespace nephila::bench
