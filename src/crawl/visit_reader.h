// VisitReader: what a finished attempt gives the frontier, from the bytes that
// came and the number of its entry in the journal: a page's links as records,
// its links between domains; a robots.txt's rules.
//
// The bytes come from the web or, after a restart, from the archive: the same
// bytes and the same entry give the same records, since they are part of the
// crawl's history.
//   In: item::FetchedPage, a FinishedVisit that says what it is of
//   Out: the rest of that FinishedVisit   Drop: counted there
//   Threads: one reader each, reused   Cost: that of page_processor.h
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "crawl/page_processor.h"
#include "crawl/robots_reader.h"
#include "crawl/visit.h"
#include "fetch/robots_walk.h"
#include "item/fetched_page.h"
#include "item/url_record.h"
#include "reputation/pair_aggregator.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"

namespace nephila::crawl {

class VisitReader {
 public:
  struct Limits {
    // Of the content of a page that was coded, and of its links before they
    // are resolved, each.
    uint64_t page_bytes = std::numeric_limits<uint64_t>::max();
    // Of the links of one page, resolved: each counts as its URL and 64 bytes.
    uint64_t links_bytes = std::numeric_limits<uint64_t>::max();
    // A page that needs more than that, or more than is left of the budget
    // that its visit is charged to, is left `unread`. Else it is read as far
    // as the limit, and the budget is overdrawn.
    bool may_defer = false;
  };

  // References are kept. `seed`: of the job's keys; `budgets`: links between
  // domains are wanted.
  VisitReader(const config::Settings& settings,
              const url::PublicSuffixList& suffixes, uint64_t seed,
              bool budgets, const Limits& limits);
  VisitReader(const config::Settings& settings,
              const url::PublicSuffixList& suffixes, uint64_t seed,
              bool budgets)
      : VisitReader(settings, suffixes, seed, budgets, Limits()) {}

  // Fills in links, edges, found, or `unread`. Links behind the limit of one
  // page are dropped and counted. REQUIRES: `record`, `entry` and `when` are
  // set, and page.outcome is kResponse.
  PageFacts ReadPage(const item::FetchedPage& page, FinishedVisit* finished);

  // A hop of a robots.txt, for RobotsWalk; views live until the next call.
  fetch::RobotsHop ReadHop(const item::FetchedPage& page) {
    return robots_.ReadHop(page);
  }
  // Fills in what the site's robots.txt says, if the walk ended with the last
  // hop that was read; and gives back the sitemaps that it names.
  std::vector<std::string> ReadRules(const fetch::RobotsWalk& walk,
                                     FinishedVisit* finished);
  // Fills in links and found, or `unread`. REQUIRES: `record`, `entry` and
  // `when` are set.
  void GiveSitemaps(std::span<const std::string> sitemaps,
                    FinishedVisit* finished);
  // All that of a page from the archive, whose rules the entry has: the last
  // hop of a robots.txt that was an answer.
  void ReadSitemaps(const item::FetchedPage& page, FinishedVisit* finished);

 private:
  const Limits limits_;
  const uint64_t seed_;
  const bool budgets_;
  PageProcessor processor_;
  reputation::PairAggregator pairs_;
  RobotsReader robots_;
  url::Canonicalizer canonicalizer_;  // of sitemaps' URLs
};

}  // namespace nephila::crawl
