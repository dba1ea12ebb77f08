// What limits a crawl right now, in words.
//   In: facts of one moment   Out: a line for people: "2 130 hosts wait for
//   their delay; nothing else is ready"   Threads: any; nothing is kept
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "crawl/crawl_status.h"

namespace nephila::control {

struct LimitFacts {
  crawl::CrawlState state = crawl::CrawlState::kRunning;
  std::string end;   // why it ends or has ended
  std::string disk;  // DiskWatch::Text
  bool is_behind = false;
  uint64_t in_flight = 0;
  uint64_t most_in_flight = 0;
  // Limits that were set, 0 for none, and what is reached.
  uint64_t max_pages_per_second = 0;
  uint64_t max_bytes_per_second = 0;
  double pages_per_second = 0;
  double bytes_per_second = 0;
  uint64_t resolving = 0;  // URLs that wait for the names of their hosts
  // Hosts in memory with URLs.
  uint64_t hosts_waiting = 0;  // for their delay
  uint64_t hosts_due = 0;      // for their turn at an address
  std::optional<std::chrono::nanoseconds> next_host;  // from now on
  // URLs.
  uint64_t ready = 0;
  uint64_t for_robots = 0;  // wait for a robots.txt
  uint64_t parked = 0;
  uint64_t waiting = 0;  // in all stages together
  std::optional<WallTime> next_parked;
};

std::string LimitText(const LimitFacts& facts);

// "2 130".
std::string Grouped(uint64_t number);

}  // namespace nephila::control
