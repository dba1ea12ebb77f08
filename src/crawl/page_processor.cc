#include "crawl/page_processor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include "item/product_token.h"
#include "parse/query_encoder.h"
#include "url/keys.h"
#include "url/parser.h"

namespace nephila::crawl {
namespace {

using config::ExternalLinks;

// Elements that are shown as a part of the page.
bool IsEmbed(const parse::PageLink& link) {
  constexpr std::array<std::string_view, 17> kEmbeds = {
      "img",   "script", "source", "video",  "audio", "track",
      "embed", "object", "input",  "iframe", "frame", "body",
      "table", "td",     "th",     "tr",     "use"};
  if (std::find(kEmbeds.begin(), kEmbeds.end(), link.element) !=
      kEmbeds.end()) {
    return true;
  }
  return link.element == "image" || link.element == "feimage" ||
         (link.element == "link" && parse::IsResourceRel(link.rel));
}

Hop HopOf(const parse::PageLink& link) {
  if (link.source == parse::LinkSource::kSitemap) return Hop::kManifest;
  if (IsEmbed(link)) return Hop::kEmbed;
  return link.source == parse::LinkSource::kHeader ? Hop::kRefer : Hop::kLink;
}

coding::DecodeLimits Bounded(coding::DecodeLimits limits, uint64_t max_bytes) {
  limits.max_bytes = std::min(limits.max_bytes, max_bytes);
  return limits;
}

}  // namespace

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 ||
         status == 308;
}

PageProcessor::PageProcessor(const config::Settings& settings,
                             const url::PublicSuffixList& suffixes,
                             uint64_t seed, bool text, uint64_t max_bytes)
    : settings_(settings),
      seed_(seed),
      max_bytes_(max_bytes),
      agent_(item::ProductToken(settings.agent.name)),
      head_(fetch::HeadLimitsOf(settings.fetch)),
      decoder_(Bounded(coding::DecodeLimitsOf(settings.fetch), max_bytes)),
      reader_(settings.parse, text, max_bytes),
      canonicalizer_(settings.url, suffixes, seed) {}

PageFacts PageProcessor::Process(const item::FetchedPage& page,
                                 FoundLinkSink* sink, bool as_sitemap) {
  PageFacts facts;
  head_.Clear();
  std::string_view head = page.response_head;
  if (head_.Add(&head) != fetch::HeadState::kComplete) head_.Finish();
  if (!url::Parse(page.url, nullptr, &page_url_)) return facts;

  item::RobotsDirectives header = HeaderDirectives();
  facts.use = item::UseOfPage(header, {}, settings_.robots);
  if (IsRedirect(head_.status())) {
    GiveRedirect(sink, &facts);
    return facts;
  }
  // Error pages repeat the links of their site, if they have any.
  if (head_.status() / 100 != 2) return facts;
  ReadBody(page, as_sitemap, &facts);
  facts.use = item::UseOfPage(header, MetaDirectives(), settings_.robots);
  GiveLinks(sink, &facts);
  return facts;
}

void PageProcessor::ReadBody(const item::FetchedPage& page, bool as_sitemap,
                             PageFacts* facts) {
  parse::ResponseHeaders headers;
  head_.ForEach("Content-Type", [&headers](std::string_view value) {
    headers.content_type.push_back(value);
  });
  head_.ForEach("Link", [&headers](std::string_view value) {
    headers.link.push_back(value);
  });
  headers.content_type_options = head_.Get("X-Content-Type-Options");
  reader_.Read(headers, decoder_.Decode(page, head_),
               as_sitemap ? parse::ReadAs::kSitemap : parse::ReadAs::kWhatItIs);
  facts->parsed = true;
  facts->decoding = decoder_.state();
  facts->chunks_broken = decoder_.chunks_broken();
  facts->content_bytes = decoder_.content_bytes();
  facts->over_memory = reader_.over_memory() ||
                       (max_bytes_ < settings_.fetch.max_content_bytes &&
                        decoder_.is_cut_at(max_bytes_));
  facts->media_type = reader_.sniffed().essence;
  facts->kind = reader_.sniffed().kind;
  facts->title = reader_.title();
  facts->text = reader_.text();
  facts->unwanted =
      reader_.dropped_header_links() + reader_.dropped_for_memory();
  if (const auto& counts = reader_.html_counts()) {
    for (uint64_t count : counts->dropped) facts->unwanted += count;
  }
  if (const auto& sitemap = reader_.sitemap()) {
    for (uint64_t count : sitemap->dropped) facts->unwanted += count;
  }
}

void PageProcessor::GiveRedirect(FoundLinkSink* sink, PageFacts* facts) {
  if (!head_.Has("Location")) return;
  ++facts->links;
  seen_.assign(2, 0);
  auto url = canonicalizer_.Canonicalize(head_.location(), &page_url_);
  if (!url) {
    ++facts->not_crawled;
    return;
  }
  Give({*url, Hop::kRedirect, 0, {}}, sink, facts);
}

void PageProcessor::GiveLinks(FoundLinkSink* sink, PageFacts* facts) {
  const std::vector<parse::PageLink>& links = reader_.links();
  facts->links = links.size();
  if (!facts->use.follow) {
    facts->nofollow = links.size();
    return;
  }
  url::Url base;
  reader_.html().BaseUrl(page_url_, &base);
  url::Url own_base;
  auto encoder = parse::MakeQueryEncoder(reader_.charset().encoding);
  const auto policy = settings_.scope.external_links;
  page_host_.clear();
  if (policy != ExternalLinks::kDeep) {
    const auto page = canonicalizer_.Canonicalize(page_url_);
    if (page) page_host_ = page->host;
  }
  const size_t most =
      links.size() * (policy == ExternalLinks::kCombined ? 2 : 1);
  seen_.assign(std::bit_ceil(2 * most + 1), 0);
  for (size_t i = 0; i < links.size(); ++i) {
    const parse::PageLink& link = links[i];
    if (!item::TakesLink(link.rel, settings_.robots)) {
      ++facts->nofollow;
      continue;
    }
    const url::Url& on =
        parse::PageReader::BaseOf(link, page_url_, base, &own_base);
    auto url = canonicalizer_.Canonicalize(link.value, &on, encoder.get());
    if (!url) {
      ++facts->not_crawled;
      continue;
    }
    GiveByPolicy({*url, HopOf(link), static_cast<uint32_t>(2 * i), link.rel},
                 sink, facts);
  }
}

void PageProcessor::GiveByPolicy(const FoundLink& link, FoundLinkSink* sink,
                                 PageFacts* facts) {
  const auto policy = settings_.scope.external_links;
  // What a sitemap names is meant.
  const bool stays = policy == ExternalLinks::kDeep ||
                     link.hop == Hop::kManifest || page_host_.empty() ||
                     link.url.host == page_host_;
  if (stays) return Give(link, sink, facts);
  const FoundLink root = RootOf(link);
  if (policy == ExternalLinks::kHomePage) return Give(root, sink, facts);
  Give(link, sink, facts);
  if (root.url.href == link.url.href) return;
  ++facts->roots;
  Give(root, sink, facts);
}

FoundLink PageProcessor::RootOf(const FoundLink& link) {
  const std::string_view href = link.url.href;
  const auto host_start =
      static_cast<size_t>(link.url.host.data() - href.data());
  const size_t end = href.find('/', host_start + link.url.host.size());
  root_.assign(href.substr(0, end)).append("/");
  const std::string_view root = root_;
  FoundLink of = link;
  of.url.href = root;
  of.url.host = root.substr(host_start, link.url.host.size());
  of.url.pld = of.url.host.substr(of.url.host.size() - link.url.pld.size());
  of.url.keys = url::MakeKeys(root, of.url.host, of.url.pld, seed_);
  of.hop = Hop::kLink;
  ++of.ordinal;
  of.rel = {};
  return of;
}

void PageProcessor::Give(const FoundLink& link, FoundLinkSink* sink,
                         PageFacts* facts) {
  if (IsRepeated(link.url.keys.url)) {
    ++facts->repeated;
    return;
  }
  ++facts->out;
  sink->OnLink(link);
}

bool PageProcessor::IsRepeated(url::UrlKey key) {
  // The low bits are the shard, the same for a whole site.
  uint64_t value = key.value == 0 ? 1 : key.value;
  size_t mask = seen_.size() - 1;
  size_t slot = (value >> url::kShardBits) & mask;
  while (seen_[slot] != 0) {
    if (seen_[slot] == value) return true;
    slot = (slot + 1) & mask;
  }
  seen_[slot] = value;
  return false;
}

item::RobotsDirectives PageProcessor::HeaderDirectives() const {
  item::RobotsDirectives directives;
  head_.ForEach("X-Robots-Tag", [&](std::string_view value) {
    directives.Add(item::ReadXRobotsTag(value, agent_));
  });
  return directives;
}

item::RobotsDirectives PageProcessor::MetaDirectives() const {
  item::RobotsDirectives directives;
  const parse::PageLinks& page = reader_.html();
  for (size_t i = 0; i < page.metas(); ++i) {
    parse::HtmlMeta meta = page.meta(i);
    directives.Add(item::ReadMetaRobots(meta.name, meta.content, agent_));
  }
  return directives;
}

}  // namespace nephila::crawl
