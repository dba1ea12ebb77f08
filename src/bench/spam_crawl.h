// SpamCrawl: a crawl of a SpamWeb in this process, where every fetch succeeds
// at once. Its frontier is the real one, seen, reputation and budget, or a
// queue and a set in memory: breadth-first.
//
// In: a web, how many pages. Out: what was fetched, and which domains linked to
// which. Threads: one, and the workers of the stores. Cost: minutes for a few
// hundred thousand pages; breadth-first has all URLs in memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "bench/spam_web.h"
#include "config/settings.h"

namespace nephila::bench {

// Where URLs wait.
class CrawlFrontier {
 public:
  virtual ~CrawlFrontier() = default;
  // A page with its links, the page itself first of all for a seed.
  virtual Status AddLinks(const SpamPage& from,
                          const std::vector<SpamPage>& links) = 0;
  // Up to `max_pages` pages to fetch; none: the crawl is over.
  virtual Result<std::vector<SpamPage>> Take(size_t max_pages) = 0;
};

std::unique_ptr<CrawlFrontier> MakeBreadthFirst();
// `dir` is an empty directory.
Result<std::unique_ptr<CrawlFrontier>> MakeBudgeted(
    const SpamWeb& web, FileSystem& fs, const std::string& dir,
    const config::ReputationSettings& settings);

struct SpamCrawlResult {
  uint64_t spam_fetches = 0;
  std::vector<SpamPage> good;  // in the order of their fetches
  // By domain, spam ones behind the good ones.
  std::map<uint64_t, uint64_t> pages_of;
  std::map<uint64_t, uint64_t> in_degree_of;
};

// Until `pages` pages were fetched, or `good_pages` good ones if that is not 0.
Result<SpamCrawlResult> RunSpamCrawl(const SpamWeb& web,
                                     CrawlFrontier& frontier, uint64_t pages,
                                     uint64_t good_pages);

// Spearman's rank correlation of the class of a domain's in-degree, its power
// of two, and the mean of the pages fetched from its domains (IRLbot fig. 6b),
// over classes of five domains or more. Only good domains.
double InDegreeCorrelation(const SpamWeb& web, const SpamCrawlResult& result);

// The share of the first as many good pages of `alone` that are in `result`.
double GoodCoverage(const SpamCrawlResult& result,
                    const SpamCrawlResult& alone);

}  // namespace nephila::bench
