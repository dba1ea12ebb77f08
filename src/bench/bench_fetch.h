// nephila bench fetch: pages a second and CPU for each, of wrk where it is
// installed (one page again and again), of a plain libcurl loop, of the engine,
// and of all that a crawl thread does with a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::bench {

struct BenchFetchOptions {
  uint64_t pages = 20000;  // in each mode
  size_t transfers = 500;
  // "" for all, or one: http-fresh, http-kept, https-fresh, https-kept.
  std::string mode;
  // Of libcurl, engine and chain those that are run; empty: all.
  std::vector<std::string> rows;
  std::string folder;  // for the archives; "": a temporary one
  // Besides: the engine with so many transfers that hardly move; what those
  // take alone is measured before, and told apart.
  size_t slow = 0;
  // Instead: what so many transfers take that all are in the midst of a body.
  bool memory = false;
  bool wrk = false;  // besides: wrk, if it is installed
  bool json = false;
};

// The servers are other processes: the simulated web for HTTP (pages of 21 KB,
// sent as they are), nginx for HTTPS with certificates that are checked. CPU
// is that of this process, the kernel's part for its sockets included. Memory
// and descriptors are looked at when a tenth of the pages is there and when the
// last one is begun, so that growth shows.
Status RunBenchFetch(const cli::Setup& setup, const BenchFetchOptions& options,
                     std::ostream& out);

}  // namespace nephila::bench
