// FrontierWeb: a web that costs next to nothing, for what a frontier costs: its
// pages have links and no bytes.
//
// A page's links are of four kinds: new pages of its own site, new pages of
// others, its siblings (which its parent has linked to already), and home pages
// of others. Domains are drawn by Zipf's law, so that some have pages without
// end and most have few; large domains have several hosts. New pages are
// numbered, and the number is their path: nothing is kept, and the same pages
// in the same order give the same links.
//
//   In: pages, in the order in which they are crawled
//   Out: their links as encoded UrlRecords, and the edges between domains
//   Threads: one. Cost: about 0.2 us a link.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"
#include "crawl/visit.h"
#include "item/url_record.h"
#include "reputation/pair_aggregator.h"
#include "url/keys.h"

namespace nephila::bench {

struct FrontierWebShape {
  uint64_t domains = 10'000'000;
  uint32_t links = 60;      // of a page
  uint32_t new_links = 50;  // of those, to pages that nobody has linked to
};

class FrontierWeb {
 public:
  // `seed`: of the job's keys. REQUIRES: new_links <= links, domains > 0.
  FrontierWeb(const FrontierWebShape& shape, uint64_t seed)
      : shape_(shape),
        seed_(seed),
        log_domains_(std::log1p(static_cast<double>(shape.domains))),
        pairs_(shape.links + size_t{1}) {}

  // The home page of the n-th best known domain, as a seed.
  void AppendSeed(uint64_t n, std::string& links);

  // Fills in links, edges and their counts. REQUIRES: `page` is one of this
  // web's, `visit.entry` and `visit.when` are set.
  void AddLinks(const item::UrlRecord& page, crawl::FinishedVisit& visit);

 private:
  // A URL of some site, in url_ and next_.
  void SetSite(uint64_t domain, std::string_view host);
  void SetPath(uint64_t number);
  uint64_t DrawDomain();
  void DrawSite();
  void AppendLink(crawl::FinishedVisit& visit);
  void AppendOutside(uint64_t number, crawl::FinishedVisit& visit);
  void AppendInside(const item::UrlRecord& page, uint64_t number,
                    crawl::FinishedVisit& visit);

  const FrontierWebShape shape_;
  const uint64_t seed_;
  const double log_domains_;
  Random random_{1};
  uint64_t pages_ = 0;  // that were numbered
  url::PldKey from_{};
  reputation::PairAggregator pairs_;
  item::UrlRecord next_;
  std::string url_;
  std::string hops_;
  std::string bytes_;
};

}  // namespace nephila::bench
