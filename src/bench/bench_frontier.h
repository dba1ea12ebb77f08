// nephila bench frontier: the frontier of a broad crawl that grows until so
// many URLs wait: its rate, its memory against `crawl.memory`, its disk. All
// stages are the real ones, on a real disk and with checkpoints; the web is not
// (frontier_web.h): a page is "fetched" the moment it is given out.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "base/result.h"
#include "bench/frontier_web.h"

namespace nephila::bench {

struct BenchFrontierOptions {
  uint64_t waiting = 10'000'000;              // it ends when so many URLs wait
  uint64_t memory_bytes = uint64_t{1} << 30;  // crawl.memory, crawl.disk
  uint64_t disk_bytes = uint64_t{8} << 30;
  int merge_threads = 1;
  std::chrono::milliseconds checkpoint_interval{5000};
  FrontierWebShape web;
  double time_limit_s = 0;  // 0: none
  std::string directory;    // where to work; empty: here
  bool json = false;
};

// A line for each twentieth of `waiting`, then one for the whole run: URLs
// seen, and waiting behind `seen`; links and visits a second since the line
// before (of the whole: overall, and over the last fifth of `waiting`),
// resident memory now and at most, next to what the memory plan gives the
// stages of the frontier and what it leaves for the program itself; bytes on
// disk; CPU time a link of the frontier's thread (the web's own apart) and of
// the merge threads; how long the frontier stood still for checkpoints, and had
// nothing to do. At the end it is opened again, as after a crash.
Status RunBenchFrontier(const BenchFrontierOptions& options, std::ostream& out);

}  // namespace nephila::bench
