// nephila bench budget: how often a URL is moved on disk until it is crawled,
// by queues that double and by the naive re-scan, over a growing crawl and next
// to Theorems 6 and 7 of the thesis (4 and 5 of the paper).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "base/result.h"

namespace nephila::bench {

struct BenchBudgetOptions {
  uint64_t pages = 300'000;
  uint64_t domains = 2000;  // V
  double links = 6.5;       // L: new URLs a page
  uint32_t budget = 10;     // B_x, the same for all
  uint64_t memory_bytes = uint64_t{128} << 20;
  std::string directory;  // where to work; empty: here
  bool json = false;
};

// Crawls `pages` pages of a web in which every page has `links` new URLs on
// domains drawn evenly, which is the web of the theorems: once with queues that
// double, and once with one queue and Q_F, which is read whole whenever that is
// empty. Of the iterations 1, 2, 4, 8 ... of each, a line: moves of a URL for
// each page (reads and writes of queues), the theorem's number, the bytes that
// really went to and from the disk, and the number of queues beside eq. 11.
// Theorem 6 is proved for domains that always have URLs enough: at the start of
// a crawl they have not, and the figures are lower.
Status RunBenchBudget(const BenchBudgetOptions& options, std::ostream& out);

}  // namespace nephila::bench
