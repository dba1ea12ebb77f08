// nephila bench spam: what budgets do against link farms, beside breadth-first.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"

namespace nephila::bench {

struct BenchSpamOptions {
  uint64_t pages = 200'000;
  int64_t hosts = 200'000;  // good ones; their domains are about a third
  std::vector<uint64_t> rings = {1, 500};
  uint64_t seeds = 10;       // home pages of the best known domains
  int64_t entries = 10;      // good pages of a thousand that link to a farm
  uint64_t spam_links = 80;  // of a spam page; a good one has 59
  std::string top_k = "0.0111%";  // 10 000 of 89.7 million, as in the paper
  std::string directory;          // where to work; empty: here
  bool json = false;
};

// For each size of ring crawls `pages` pages of the web of spam_web.h
// breadth-first and with the real frontier, and as many good pages of the same
// web without spam with the real frontier. A line each: the share of fetches on
// spam, and the correlation of in-degree and pages; for the frontier also how
// many of the good pages it has in common with the crawl without spam. In JSON
// a line has besides what tools/plot_spam.py draws: the share of spam as the
// crawl went on, and the classes of in-degree.
Status RunBenchSpam(const BenchSpamOptions& options, std::ostream& out);

}  // namespace nephila::bench
