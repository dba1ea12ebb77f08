#include "crawl/visit_reader.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "job/entry.h"
#include "robots/policy.h"
#include "robots/rules.h"
#include "url/parser.h"
#include "url/record_keys.h"
#include "url/url.h"

namespace nephila::crawl {
namespace {

// Of one page; more are handed on as they come.
constexpr size_t kPairs = 1024;

uint32_t FlagsOf(const FoundLink& link, uint32_t parent_flags) {
  switch (link.hop) {
    case Hop::kRedirect:
      // What a seed or a sitemap leads to is the one that was meant.
      return item::kFromRedirect |
             (parent_flags & (item::kFromSeed | item::kIsSitemap));
    case Hop::kManifest:
      // An index of sitemaps names others.
      return item::kFromSitemap |
             (link.rel == "sitemap" ? item::kIsSitemap : 0);
    case Hop::kEmbed:
      return item::kEmbedded;
    case Hop::kLink:
    case Hop::kRefer:
      return 0;
  }
  NEPHILA_CHECK(false);
}

// What a link takes besides its URL, here and in the stages.
constexpr uint64_t kLinkBytes = 64;
constexpr size_t kFirstLinksBytes = 1024;

// Links as records, and the domains that they lead to.
class LinkRecords final : public FoundLinkSink {
 public:
  struct Limits {
    uint64_t page_bytes = 0;  // of all links
    bool may_defer = false;
  };
  LinkRecords(uint32_t page_flags, url::PldKey domain, const Limits& limits,
              reputation::PairAggregator* pairs, FinishedVisit* finished)
      : page_flags_(page_flags),
        domain_(domain),
        limits_(limits),
        pairs_(pairs),
        finished_(finished) {}

  void OnLink(const FoundLink& link) override {
    const uint64_t bytes = link.url.href.size() + kLinkBytes;
    if (over_limit_ > 0 || bytes > limits_.page_bytes - used_bytes_) {
      ++over_limit_;
      return;
    }
    used_bytes_ += bytes;
    if (gave_up_) return;
    item::UrlRecord record = url::MakeUrlRecord(link.url);
    record.flags = FlagsOf(link, page_flags_);
    const char hop = static_cast<char>(link.hop);
    record.hop_path = std::string_view(&hop, 1);
    record.ordinal = link.ordinal;
    bytes_.clear();
    item::AppendUrlRecord(record, bytes_);
    if (!MakeRoom(bytes_.size() + kLengthBytes)) return;
    ByteWriter(finished_->links).Sized(bytes_);
    if (pairs_ != nullptr) AddPair(link.url.keys.pld);
  }

  // Behind the last link. False: the visit is to be read later.
  bool Finish() {
    if (pairs_ != nullptr) TakePairs();
    if (gave_up_) {
      finished_->links = {};
      finished_->edges = {};
    }
    finished_->charge.Set(BytesOf(*finished_));
    return !gave_up_;
  }
  uint64_t over_limit() const { return over_limit_; }

 private:
  static constexpr size_t kLengthBytes = 3;

  bool MakeRoom(size_t bytes) {
    std::string& links = finished_->links;
    const size_t needed = links.size() + bytes;
    if (needed <= links.capacity()) return true;
    const size_t wanted =
        std::max({needed, 2 * links.capacity(), kFirstLinksBytes});
    // For a moment the links stand in both buffers.
    if (!limits_.may_defer) {
      finished_->charge.Grow(wanted);
    } else if (!finished_->charge.TryGrow(wanted)) {
      gave_up_ = true;
      return false;
    }
    links.reserve(wanted);
    finished_->charge.Set(BytesOf(*finished_));
    return true;
  }
  void TakePairs() {
    finished_->edges.insert(finished_->edges.end(), pairs_->pairs().begin(),
                            pairs_->pairs().end());
    pairs_->Clear();
  }
  void AddPair(url::PldKey to) {
    if (pairs_->Add(domain_, to)) return;
    TakePairs();
    finished_->charge.Set(BytesOf(*finished_));
    pairs_->Add(domain_, to);
  }

  const uint32_t page_flags_;
  const url::PldKey domain_;
  const Limits limits_;
  reputation::PairAggregator* const pairs_;  // null: not wanted
  FinishedVisit* const finished_;
  uint64_t used_bytes_ = 0;
  uint64_t over_limit_ = 0;
  bool gave_up_ = false;  // the budget is used up
  std::string bytes_;
};

// As if it had not been read.
void Defer(FinishedVisit* finished) {
  finished->links = {};
  finished->edges = {};
  finished->found = {};
  finished->unread = true;
  finished->charge.Set(BytesOf(*finished));
}

}  // namespace

VisitReader::VisitReader(const config::Settings& settings,
                         const url::PublicSuffixList& suffixes, uint64_t seed,
                         bool budgets, const Limits& limits)
    : limits_(limits),
      seed_(seed),
      budgets_(budgets),
      processor_(settings, suffixes, seed, /*text=*/false, limits.page_bytes),
      pairs_(kPairs),
      robots_(settings),
      canonicalizer_(settings.url, suffixes, seed) {}

PageFacts VisitReader::ReadPage(const item::FetchedPage& page,
                                FinishedVisit* finished) {
  const auto record = item::ReadUrl(finished->record);
  NEPHILA_CHECK(record);
  const std::vector<uint64_t> before =
      processor_.url_account().Totals().dropped;
  pairs_.Clear();
  LinkRecords links(record->flags, url::KeysOf(*record, seed_).pld,
                    {limits_.links_bytes, limits_.may_defer},
                    budgets_ ? &pairs_ : nullptr, finished);
  const bool as_sitemap = (record->flags & item::kIsSitemap) != 0;
  const PageFacts facts = processor_.Process(page, &links, as_sitemap);
  const bool fits = links.Finish();
  if (limits_.may_defer && (!fits || facts.over_memory)) {
    Defer(finished);
    return facts;
  }
  FoundCounts& found = finished->found;
  found.links = facts.links + facts.unwanted;
  found.unwanted = facts.unwanted;
  found.nofollow = facts.nofollow;
  found.repeated = facts.repeated;
  found.roots = facts.roots;
  found.over_limit = links.over_limit();
  found.out = facts.out - links.over_limit();
  const std::vector<uint64_t> after = processor_.url_account().Totals().dropped;
  for (size_t i = 0; i < found.not_crawled.size(); ++i) {
    found.not_crawled.at(i) = after[i] - before[i];
  }
  return facts;
}

std::vector<std::string> VisitReader::ReadRules(const fetch::RobotsWalk& walk,
                                                FinishedVisit* finished) {
  const robots::Fetch fetch = EndOf(walk);
  finished->robots_end = fetch.end;
  finished->robots_status = fetch.status;
  // What no file means depends on what was known before (robots/policy.h).
  if (robots::PolicyFor(fetch).verdict != robots::Verdict::kParse) return {};
  robots::RobotsFile file = robots_.Parse();
  finished->rules = robots::CompileRules(file);
  // More than the journal can hold is no honest file, and a part of it might
  // allow what the whole does not.
  if (finished->rules.size() > job::kMostEntryRulesBytes) {
    finished->rules = robots::CompileDisallowAll();
  }
  finished->robots_delay = file.crawl_delay;
  return std::move(file.sitemaps);
}

void VisitReader::GiveSitemaps(std::span<const std::string> sitemaps,
                               FinishedVisit* finished) {
  const auto root = item::ReadUrl(finished->record);
  NEPHILA_CHECK(root);
  url::Url base;
  // Of the robots.txt of a site, or of where another one is redirected to.
  if (!url::Parse(item::Asked(*root).url, nullptr, &base)) return;
  if (root->target.empty()) base.ReplacePath("/robots.txt");
  LinkRecords links(root->flags, url::KeysOf(*root, seed_).pld,
                    {limits_.links_bytes, limits_.may_defer}, nullptr,
                    finished);
  FoundCounts& found = finished->found;
  std::unordered_set<uint64_t> keys;
  for (size_t i = 0; i < sitemaps.size(); ++i) {
    ++found.links;
    const auto url = canonicalizer_.Canonicalize(sitemaps[i], &base);
    if (!url) {
      ++found.not_crawled.at(static_cast<size_t>(url.error()));
    } else if (!keys.insert(url->keys.url.value).second) {
      ++found.repeated;
    } else {
      ++found.out;
      links.OnLink({*url, Hop::kManifest, static_cast<uint32_t>(i), "sitemap"});
    }
  }
  found.over_limit = links.over_limit();
  found.out -= links.over_limit();
  if (!links.Finish()) Defer(finished);
}

void VisitReader::ReadSitemaps(const item::FetchedPage& page,
                               FinishedVisit* finished) {
  robots_.ReadHop(page);
  GiveSitemaps(robots_.Parse().sitemaps, finished);
}

}  // namespace nephila::crawl
