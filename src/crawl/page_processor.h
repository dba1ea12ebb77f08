// PageProcessor: what a finished fetch gives back to the crawl: the links of a
// page, or the target of a redirect, each in the form that the crawl knows.
//
// It undoes chunks and content codings within bounds, reads the page (`parse`),
// obeys what it says to crawlers about itself, and takes every link through
// `url`. The page comes from the web or, after a crash, from the archive: the
// same bytes give the same links in the same order, since their numbers are
// part of the crawl's history.
//
// A link to another host may become the root of that host, or both
// (`scope.external_links`, VN s4.4). So a link has two numbers, an even one for
// itself and the odd one behind it for the root: a restart in the middle of a
// page goes on between the two, and also if the setting is another one then.
//
//   In: item::FetchedPage, outcome kResponse
//   Out: FoundLink, in the order of the page; PageFacts
//   Drop: by reason, see PageFacts, and the account of `url`
//   Disk: none   Threads: one processor each, reused page after page
//   Cost: linear in the page and its content; a body that is neither chunked
//       nor compressed is not copied (nephila bench fetch)
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "coding/content_decoder.h"
#include "config/settings.h"
#include "crawl/body_decoder.h"
#include "fetch/response_head.h"
#include "item/fetched_page.h"
#include "item/robots_directives.h"
#include "parse/page_reader.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"

namespace nephila::crawl {

// Statuses whose Location is another address of the page (RFC 9110 s15.4).
bool IsRedirect(int status);

// How a link leads on, by Heritrix's letters, which hop paths are made of.
enum class Hop : char {
  kLink = 'L',
  kEmbed = 'E',     // part of the page: images, scripts, frames
  kRedirect = 'R',  // Location
  kRefer = 'F',     // a Link header that names no part of the page
  kManifest = 'M',  // from a sitemap or feed
};

// Views are valid during the call.
struct FoundLink {
  url::CanonicalUrl url;
  Hop hop = Hop::kLink;
  // Twice its number on the page, counted before anything is dropped; one more
  // for the root of its host.
  uint32_t ordinal = 0;
  std::string_view rel;
};

class FoundLinkSink {
 public:
  FoundLinkSink() = default;
  FoundLinkSink(const FoundLinkSink&) = delete;
  FoundLinkSink& operator=(const FoundLinkSink&) = delete;
  virtual ~FoundLinkSink() = default;
  virtual void OnLink(const FoundLink& link) = 0;
};

// Views into the processor, valid until its next page.
struct PageFacts {
  bool parsed = false;          // its body was looked into
  bool over_memory = false;     // it needs more memory than `max_bytes`
  std::string_view media_type;  // as the bytes say
  parse::ContentKind kind = parse::ContentKind::kOther;
  coding::DecodeState decoding = coding::DecodeState::kWhole;
  bool chunks_broken = false;
  uint64_t content_bytes = 0;  // codings undone
  item::PageUse use;
  std::string_view title;
  std::string_view text;

  uint64_t links = 0;        // found
  uint64_t out = 0;          // given to the sink
  uint64_t unwanted = 0;     // dropped by `parse`: too many, too long, empty
  uint64_t nofollow = 0;     // the page or the link says so
  uint64_t repeated = 0;     // were on the page before
  uint64_t not_crawled = 0;  // dropped by `url`
  uint64_t roots = 0;        // of other hosts, made besides their links
};

class PageProcessor {
 public:
  // Keeps references to both. `seed`: that of the job's keys; `text`: title
  // and text are wanted; `max_bytes`: memory for the content of a page that was
  // coded, and for its links before they are resolved, each.
  PageProcessor(const config::Settings& settings,
                const url::PublicSuffixList& suffixes, uint64_t seed, bool text,
                uint64_t max_bytes = std::numeric_limits<uint64_t>::max());

  // `as_sitemap`: it is named as one, by a robots.txt or an index.
  // REQUIRES: page.outcome is kResponse and page.url is a URL.
  PageFacts Process(const item::FetchedPage& page, FoundLinkSink* sink,
                    bool as_sitemap = false);

  // The head of the last page.
  const fetch::ResponseHead& head() const { return head_; }
  const StageAccount& url_account() const { return canonicalizer_.account(); }

 private:
  void ReadBody(const item::FetchedPage& page, bool as_sitemap,
                PageFacts* facts);
  void GiveRedirect(FoundLinkSink* sink, PageFacts* facts);
  void GiveLinks(FoundLinkSink* sink, PageFacts* facts);
  // The link as the policy for links to other hosts has it.
  void GiveByPolicy(const FoundLink& link, FoundLinkSink* sink,
                    PageFacts* facts);
  // The root of its host.
  FoundLink RootOf(const FoundLink& link);
  // Drops what was on the page before.
  void Give(const FoundLink& link, FoundLinkSink* sink, PageFacts* facts);
  bool IsRepeated(url::UrlKey key);
  item::RobotsDirectives HeaderDirectives() const;
  item::RobotsDirectives MetaDirectives() const;

  const config::Settings& settings_;
  const uint64_t seed_;
  const uint64_t max_bytes_;
  const std::string agent_;  // our product token
  fetch::ResponseHead head_;
  BodyDecoder decoder_;
  parse::PageReader reader_;
  url::Canonicalizer canonicalizer_;
  url::Url page_url_;
  std::string page_host_;  // canonical; only if links to others are changed
  std::string root_;
  std::vector<uint64_t> seen_;  // keys, by hash
};

}  // namespace nephila::crawl
