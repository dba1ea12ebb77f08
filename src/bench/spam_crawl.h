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
  // Fetches on spam so far, at each fortieth of the crawl.
  std::vector<uint64_t> course;
  // By domain, spam ones behind the good ones.
  std::map<uint64_t, uint64_t> pages_of;
  std::map<uint64_t, uint64_t> in_degree_of;
};

struct SpamCrawlOptions {
  uint64_t seeds = 10;      // home pages of the best known domains
  uint64_t pages = 0;       // ends after so many
  uint64_t good_pages = 0;  // or, if this is not 0, after so many good ones
};

Result<SpamCrawlResult> RunSpamCrawl(const SpamWeb& web,
                                     CrawlFrontier& frontier,
                                     const SpamCrawlOptions& options);

// Good domains whose in-degree is from this power of two up to the next.
struct InDegreeClass {
  uint64_t in_degree = 0;
  uint64_t domains = 0;
  double pages_per_domain = 0;
};

// The classes of five domains or more, ascending (IRLbot fig. 6b).
std::vector<InDegreeClass> InDegreeClasses(const SpamWeb& web,
                                           const SpamCrawlResult& result);

// Spearman's rank correlation of a class and its pages per domain; 0 for less
// than two classes.
double InDegreeCorrelation(const std::vector<InDegreeClass>& classes);

// The share of the first as many good pages of `alone` that are in `result`.
double GoodCoverage(const SpamCrawlResult& result,
                    const SpamCrawlResult& alone);

}  // namespace nephila::bench
