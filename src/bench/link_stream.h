// An endless stream of links as a crawl meets them, in constant memory.
//
// Sites take turns: each shows one of its pages, and comes back after all
// others. A site is one of the corpus (or a copy of it, told apart by a tag in
// the host names: www.example-k3f.com), and from visit to visit a link's path
// moves to a new version now and then (page~2.html): such a link is new, all
// others were on an earlier page of the same site; one in eight shows an older
// version. How often versions change is chosen so that over `links` links the
// share of new ones is `unique_share`, with the first visits (all new) and the
// repeats within a page (never new) taken into account. From where repeats
// would leave too few, they are made links of their own.
//
// What a link looks like is a function of seed, site, visit and place: nothing
// grows. Threads: one. Cost: under 50 ns a link.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/link_pages.h"

namespace nephila::bench {

class LinkSource {
 public:
  virtual ~LinkSource() = default;
  LinkSource(const LinkSource&) = delete;
  LinkSource& operator=(const LinkSource&) = delete;

  // The next link, valid until the next call; false if there is none, which
  // only a file that cannot be read can bring about.
  virtual bool Next(std::string_view* link) = 0;
  virtual Status status() const { return {}; }

 protected:
  LinkSource() = default;
};

struct LinkStreamOptions {
  uint64_t links = 0;  // what will be asked for
  double unique_share = 1.0 / 9;
  uint64_t seed = 1;
  // Instead: every link new, site and place drawn at random for each.
  bool shuffled = false;
};

class LinkStream : public LinkSource {
 public:
  // kInvalidArgument if there is nothing in `pages`, or for impossible options.
  static Result<std::unique_ptr<LinkStream>> Create(
      const LinkPages& pages, const LinkStreamOptions& options);

  bool Next(std::string_view* link) override;

  // Of one turn around all sites: how many, and links on a page on average.
  uint64_t active_sites() const { return active_sites_; }
  double links_per_page() const;

 private:
  // A link of a site: host_end and version_at are where the tags go.
  struct Link {
    uint32_t text;
    uint16_t size;
    uint16_t host_end;
    uint16_t version_at;
    uint16_t page_count;  // of the site, with this link on them
    uint32_t site;
  };
  // A place on a page. `rank` of the link's pages come before this one.
  struct Place {
    uint32_t link;
    uint32_t rank;
  };
  struct Page {
    uint32_t first_place;
    uint32_t place_count;
  };
  struct Site {
    uint32_t first_page;
    uint32_t page_count;
    uint32_t first_link;
    uint32_t link_count;
  };
  struct Totals;

  explicit LinkStream(const LinkStreamOptions& options) : options_(options) {}

  void AddSites(const LinkPages& pages, bool split_repeats);
  void AddSite(const std::vector<const LinkPage*>& pages, bool split_repeats);
  uint32_t AddLink(std::string_view text, size_t repeat);
  Totals TotalsOf(uint64_t site_count) const;
  void Plan();
  uint64_t StepFor(uint64_t site_count) const;
  double MaxUniqueShare() const;
  const Site& SiteOf(uint64_t copy) const;
  void TurnPage();
  std::string_view Compose(const Link& link, std::string_view host_tag,
                           uint64_t version);
  std::string_view NextShuffled();

  const LinkStreamOptions options_;
  std::string text_;  // of all links, with room behind it to read over the end
  std::vector<Link> links_;
  std::vector<Place> places_;
  std::vector<Page> pages_;
  std::vector<Site> sites_;

  uint64_t active_sites_ = 1;
  uint64_t step_ = 0;   // versions a visit, in units of 2^-32
  uint64_t copy_ = 0;   // whose page it is
  uint64_t turn_ = 0;   // how often all sites had theirs
  uint64_t round_ = 0;  // how often this site has shown all its pages
  uint64_t copy_mix_ = 0;
  const Place* place_ = nullptr;
  const Place* places_end_ = nullptr;
  std::string host_tag_;
  std::vector<char> buffer_;

  uint64_t drawn_ = 0;  // of the shuffled
  uint64_t draws_ = 0;  // how many there are
  int draw_bits_ = 0;
};

// The lines of a file (plain, or .zst), over and over: as they are at first,
// later with the number of the repetition in the host name. Reads as it goes.
Result<std::unique_ptr<LinkSource>> MakeTextSource(const std::string& path);

}  // namespace nephila::bench
