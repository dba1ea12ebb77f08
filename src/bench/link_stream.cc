#include "bench/link_stream.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/random.h"
#include "bench/link_text.h"

namespace nephila::bench {
namespace {

// A site comes back every so many links, over the links of a page: about 200
// visits to each whatever the length of the stream.
constexpr uint64_t kLinksPerSite = 32768;
constexpr uint64_t kFewestSites = 16;
// More pages than that are a site of their own, so that each comes back soon.
constexpr size_t kMostPagesOfSite = 4;
constexpr uint64_t kOneVersion = uint64_t{1} << 32;

uint64_t Mix(uint64_t value) { return NextSplitMix(value); }

}  // namespace

// Over one turn: places and distinct links shown, and all links of the sites.
struct LinkStream::Totals {
  double places = 0;
  double shown = 0;
  double links = 0;
};

Result<std::unique_ptr<LinkStream>> LinkStream::Create(
    const LinkPages& pages, const LinkStreamOptions& options) {
  if (options.links == 0 || !(options.unique_share > 0) ||
      options.unique_share > 1) {
    return Unexpected(
        Error{ErrorCode::kInvalidArgument,
              fmt::format("a stream of {} links, a share of {} new: "
                          "there must be links, and a share in (0, 1]",
                          options.links, options.unique_share)});
  }
  std::unique_ptr<LinkStream> stream(new LinkStream(options));
  stream->AddSites(pages, false);
  if (!stream->sites_.empty() && !options.shuffled &&
      options.unique_share > 0.95 * stream->MaxUniqueShare()) {
    stream.reset(new LinkStream(options));
    stream->AddSites(pages, true);
  }
  if (stream->sites_.empty()) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            pages.source + ": no links to make a stream of"});
  }
  stream->Plan();
  return stream;
}

void LinkStream::AddSites(const LinkPages& pages, bool split_repeats) {
  std::map<std::string_view, std::vector<const LinkPage*>> by_site;
  for (const LinkPage& page : pages.pages) {
    if (!page.links.empty()) by_site[page.site].push_back(&page);
  }
  std::vector<std::vector<const LinkPage*>> sites;
  for (const auto& [name, of_site] : by_site) {
    for (size_t i = 0; i < of_site.size(); i += kMostPagesOfSite) {
      size_t end = std::min(i + kMostPagesOfSite, of_site.size());
      sites.emplace_back(of_site.begin() + static_cast<std::ptrdiff_t>(i),
                         of_site.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }
  // Neighbours in the alphabet are alike; the few of a short stream are not.
  Random random(options_.seed);
  random.Shuffle(std::span(sites));
  for (const auto& site : sites) AddSite(site, split_repeats);
  text_.append(kCopyOverrun, '\0');
  text_.shrink_to_fit();
  links_.shrink_to_fit();
  places_.shrink_to_fit();
}

void LinkStream::AddSite(const std::vector<const LinkPage*>& pages,
                         bool split_repeats) {
  Site site{static_cast<uint32_t>(pages_.size()),
            static_cast<uint32_t>(pages.size()),
            static_cast<uint32_t>(links_.size()), 0};
  std::unordered_map<std::string, uint32_t> known;
  for (const LinkPage* page : pages) {
    pages_.push_back({static_cast<uint32_t>(places_.size()),
                      static_cast<uint32_t>(page->links.size())});
    std::unordered_map<std::string_view, size_t> repeats;
    std::unordered_set<uint32_t> on_page;
    for (const std::string& text : page->links) {
      size_t repeat = split_repeats ? repeats[text]++ : 0;
      auto [entry, is_new] =
          known.try_emplace(fmt::format("{} {}", repeat, text), 0);
      if (is_new) entry->second = AddLink(text, repeat);
      Link& link = links_[entry->second];
      if (on_page.insert(entry->second).second) ++link.page_count;
      places_.push_back({entry->second, link.page_count - uint32_t{1}});
    }
  }
  site.link_count = static_cast<uint32_t>(links_.size()) - site.first_link;
  sites_.push_back(site);
}

uint32_t LinkStream::AddLink(std::string_view text, size_t repeat) {
  TagPlaces places = FindTagPlaces(text);
  std::string varied(text);
  if (repeat > 0) {
    std::string mark = fmt::format("~r{}", repeat);
    varied.insert(places.version_at, mark);
    places.version_at += mark.size();
  }
  Link link{};
  link.text = static_cast<uint32_t>(text_.size());
  link.size = static_cast<uint16_t>(varied.size());
  link.host_end = static_cast<uint16_t>(places.host_end);
  link.version_at = static_cast<uint16_t>(places.version_at);
  link.site = static_cast<uint32_t>(sites_.size());
  text_ += varied;
  links_.push_back(link);
  return static_cast<uint32_t>(links_.size() - 1);
}

const LinkStream::Site& LinkStream::SiteOf(uint64_t copy) const {
  return sites_[copy % sites_.size()];
}

LinkStream::Totals LinkStream::TotalsOf(uint64_t site_count) const {
  Totals totals;
  for (uint64_t i = 0; i < std::min<uint64_t>(site_count, sites_.size()); ++i) {
    // How often this site of the corpus is among them.
    const uint64_t whole_turns = (site_count - i - 1) / sites_.size();
    const auto copies = static_cast<double>(whole_turns + 1);
    const Site& site = sites_[i];
    double places = 0;
    double shown = 0;
    for (uint32_t p = 0; p < site.page_count; ++p) {
      places += pages_[site.first_page + p].place_count;
    }
    for (uint32_t l = 0; l < site.link_count; ++l) {
      shown += links_[site.first_link + l].page_count;
    }
    totals.places += copies * places / site.page_count;
    totals.shown += copies * shown / site.page_count;
    totals.links += copies * site.link_count;
  }
  return totals;
}

double LinkStream::MaxUniqueShare() const {
  Totals totals = TotalsOf(sites_.size());
  return totals.shown / totals.places;
}

double LinkStream::links_per_page() const {
  return TotalsOf(active_sites_).places / static_cast<double>(active_sites_);
}

void LinkStream::Plan() {
  buffer_.resize(size_t{1} << 16);
  auto links = static_cast<double>(options_.links);
  if (options_.shuffled) {
    uint64_t copies = options_.links / links_.size() + 1;
    draws_ = copies * links_.size();
    draw_bits_ = std::max(2, static_cast<int>(std::bit_width(draws_ - 1)));
    return;
  }
  active_sites_ = std::max(options_.links / kLinksPerSite, kFewestSites);
  // First visits may bring half of what is new: else steps would be too small.
  Totals all = TotalsOf(sites_.size());
  double first_links = all.links / static_cast<double>(sites_.size());
  double most = 0.5 * options_.unique_share * links / first_links;
  active_sites_ =
      std::clamp<uint64_t>(static_cast<uint64_t>(most), 1, active_sites_);
  step_ = StepFor(active_sites_);
  copy_ = active_sites_ - 1;
  turn_ = ~uint64_t{0};  // the first page begins turn 0
}

// A link that is shown c times brings 1 + (c - 1) step versions.
uint64_t LinkStream::StepFor(uint64_t site_count) const {
  auto links = static_cast<double>(options_.links);
  Totals totals = TotalsOf(site_count);
  double turns = links / totals.places;
  double first = totals.links;
  double later = totals.shown * turns - first;
  if (later <= 0) return kOneVersion;
  double step = (options_.unique_share * links - first) / later;
  return static_cast<uint64_t>(std::clamp(step, 0.0, 1.0) *
                               static_cast<double>(kOneVersion));
}

void LinkStream::TurnPage() {
  if (++copy_ == active_sites_) {
    copy_ = 0;
    ++turn_;
  }
  const Site& site = SiteOf(copy_);
  const Page& page = pages_[site.first_page + turn_ % site.page_count];
  round_ = turn_ / site.page_count;
  place_ = places_.data() + page.first_place;
  places_end_ = place_ + page.place_count;
  host_tag_ = "-" + Base36(copy_);
  host_tag_.reserve(kCopyOverrun);
  copy_mix_ = Mix(options_.seed + copy_);
}

bool LinkStream::Next(std::string_view* out) {
  if (options_.shuffled) {
    *out = NextShuffled();
    return true;
  }
  if (place_ == places_end_) TurnPage();
  const Place& place = *place_++;
  const Link& link = links_[place.link];
  uint64_t times = round_ * link.page_count + place.rank;
  uint64_t mixed = Mix(copy_mix_ + place.link);
  uint64_t position = times * step_ + (mixed >> 32);
  uint64_t version = position >> 32;
  // The first showing of a version is never replaced: then all that are older
  // have been shown.
  bool is_first = (position & (kOneVersion - 1)) < step_;
  if (version > 0 && !is_first) {
    uint64_t draw = (mixed + times) * kSplitMixStep >> 58;
    if (draw < 8) version -= std::min(version, draw + 1);
  }
  *out = Compose(link, host_tag_, version);
  return true;
}

std::string_view LinkStream::NextShuffled() {
  // A bijection of the numbers of `draw_bits_` bits, gone through until it
  // hits one that is meant: every combination of copy and link, once.
  uint64_t mask = (uint64_t{1} << draw_bits_) - 1;
  int half = draw_bits_ / 2;
  uint64_t draw = 0;
  do {
    draw = (drawn_++ + options_.seed) & mask;
    for (uint64_t odd :
         {0x9E3779B97F4A7C15U, 0xBF58476D1CE4E5B9U, 0x94D049BB133111EBU}) {
      draw = draw * odd & mask;
      draw ^= draw >> half;
    }
  } while (draw >= draws_);
  const Link& link = links_[draw % links_.size()];
  uint64_t copy = draw / links_.size() * sites_.size() + link.site;
  host_tag_ = "-" + Base36(copy);
  return Compose(link, host_tag_, 0);
}

std::string_view LinkStream::Compose(const Link& link,
                                     std::string_view host_tag,
                                     uint64_t version) {
  const char* text = text_.data() + link.text;
  char* end = buffer_.data();
  end = CopyOver(end, text, link.host_end);
  end = std::copy(host_tag.begin(), host_tag.end(), end);
  end = CopyOver(end, text + link.host_end,
                 size_t{link.version_at} - link.host_end);
  if (version > 0) {
    *end++ = '~';
    end = AppendBase36(end, version);
  }
  end = CopyOver(end, text + link.version_at,
                 size_t{link.size} - link.version_at);
  return {buffer_.data(), static_cast<size_t>(end - buffer_.data())};
}

}  // namespace nephila::bench
