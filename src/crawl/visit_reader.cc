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

// Links as records, and the domains that they lead to.
class LinkRecords final : public FoundLinkSink {
 public:
  LinkRecords(const item::UrlRecord& page, url::PldKey domain,
              reputation::PairAggregator* pairs, FinishedVisit* finished)
      : page_(page), domain_(domain), pairs_(pairs), finished_(finished) {}

  void OnLink(const FoundLink& link) override {
    item::UrlRecord record = url::MakeUrlRecord(link.url);
    record.flags = FlagsOf(link, page_.flags);
    record.depth = page_.depth < UINT32_MAX ? page_.depth + 1 : page_.depth;
    path_.clear();
    item::AppendHop(page_.hop_path, static_cast<char>(link.hop), path_);
    record.hop_path = path_;
    record.parent = page_.url;
    record.discovered = finished_->when;
    record.entry = finished_->entry;
    record.ordinal = link.ordinal;
    bytes_.clear();
    item::AppendUrlRecord(record, bytes_);
    ByteWriter(finished_->links).Sized(bytes_);
    if (pairs_ != nullptr) AddPair(link.url.keys.pld);
  }

  void TakePairs() {
    if (pairs_ == nullptr) return;
    finished_->edges.insert(finished_->edges.end(), pairs_->pairs().begin(),
                            pairs_->pairs().end());
    pairs_->Clear();
  }

 private:
  void AddPair(url::PldKey to) {
    if (pairs_->Add(domain_, to)) return;
    TakePairs();
    pairs_->Add(domain_, to);
  }

  const item::UrlRecord& page_;
  const url::PldKey domain_;
  reputation::PairAggregator* const pairs_;  // null: not wanted
  FinishedVisit* const finished_;
  std::string path_;
  std::string bytes_;
};

}  // namespace

VisitReader::VisitReader(const config::Settings& settings,
                         const url::PublicSuffixList& suffixes, uint64_t seed,
                         bool budgets)
    : seed_(seed),
      budgets_(budgets),
      processor_(settings, suffixes, seed, /*text=*/false),
      pairs_(kPairs),
      robots_(settings),
      canonicalizer_(settings.url, suffixes, seed) {}

PageFacts VisitReader::ReadPage(const item::FetchedPage& page,
                                FinishedVisit* finished) {
  const auto record = item::ReadUrlRecord(finished->record, parent_);
  NEPHILA_CHECK(record);
  const std::vector<uint64_t> before =
      processor_.url_account().Totals().dropped;
  LinkRecords links(*record, url::KeysOf(*record, seed_).pld,
                    budgets_ ? &pairs_ : nullptr, finished);
  const bool as_sitemap = (record->flags & item::kIsSitemap) != 0;
  const PageFacts facts = processor_.Process(page, &links, as_sitemap);
  links.TakePairs();
  FoundCounts& found = finished->found;
  found.links = facts.links + facts.unwanted;
  found.unwanted = facts.unwanted;
  found.nofollow = facts.nofollow;
  found.repeated = facts.repeated;
  found.roots = facts.roots;
  found.out = facts.out;
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
  const auto root = item::ReadUrlRecord(finished->record, parent_);
  NEPHILA_CHECK(root);
  url::Url base;
  if (!url::Parse(root->url, nullptr, &base)) return;
  base.ReplacePath("/robots.txt");
  item::UrlRecord robots = *root;
  robots.url = base.href();
  LinkRecords links(robots, url::KeysOf(*root, seed_).pld, nullptr, finished);
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
}

void VisitReader::ReadSitemaps(const item::FetchedPage& page,
                               FinishedVisit* finished) {
  robots_.ReadHop(page);
  GiveSitemaps(robots_.Parse().sitemaps, finished);
}

}  // namespace nephila::crawl
