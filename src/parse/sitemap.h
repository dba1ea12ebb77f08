// SitemapReader: sitemaps and feeds become links.
//
// Reads the formats of sitemaps.org (urlset, sitemapindex, a text file of
// URLs), RSS 0.9x to 2.0, RDF (RSS 1.0) and Atom, each also as gzip; prefixes
// and namespaces may be any or wrong. What the bytes are is found from
// themselves.
//   In: a body in chunks of any size, content coding removed
//   Out: SitemapLink to a SitemapSink
//   Drop: see SitemapDrop; the report counts them by reason
//   Memory: bounded by the limits, not by the body   Threads: one reader each
//   Cost: linear in the body (in its content, if it is gzip), which is bounded
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "config/settings.h"

namespace nephila::parse {

enum class SitemapFormat : uint8_t {
  kUnknown,
  kUrlset,
  kIndex,
  kText,
  kRss,
  kAtom,
};

std::string_view SitemapFormatName(SitemapFormat format);

enum class SitemapLinkKind : uint8_t {
  kPage,       // <loc> of a <url>, an item's or entry's link, a line of text
  kSitemap,    // <loc> of a <sitemap>; another page of an Atom feed
  kAlternate,  // the page in another language
  kMedia,      // images and videos, if parse.sitemap_media asks for them
};

std::string_view SitemapLinkKindName(SitemapLinkKind kind);

// Views that are valid during the call.
struct SitemapLink {
  std::string_view url;  // as written, trimmed; relative ones are the caller's
  SitemapLinkKind kind = SitemapLinkKind::kPage;
  std::string_view lastmod = {};   // as written; empty: none
  std::string_view hreflang = {};  // of an alternate
  // The xml:base of an Atom feed, of its entry and of the link, those that
  // there are, a line each: each is resolved on the one before.
  std::string_view base = {};
};

class SitemapSink {
 public:
  SitemapSink() = default;
  SitemapSink(const SitemapSink&) = delete;
  SitemapSink& operator=(const SitemapSink&) = delete;
  virtual ~SitemapSink() = default;
  virtual void OnLink(const SitemapLink& link) = 0;
};

enum class SitemapDrop : uint8_t {
  kTooManyUrls,  // over parse.sitemap_max_urls
  kTooLong,      // over parse.sitemap_max_url_length
  kEmpty,        // no URL where one belongs
  kNotAUrl,      // a line of a text file that is none
};
inline constexpr std::array<std::string_view, 4> kSitemapDropNames = {
    "too-many-urls", "too-long", "empty", "not-a-url"};

enum class SitemapOutcome : uint8_t {
  kWhole,
  kCutOff,     // it ended before its root or its gzip member did
  kTooLarge,   // over parse.sitemap_max_size; links up to there are out
  kTooDeep,    // over parse.xml_max_depth
  kBomb,       // over parse.gzip_max_ratio
  kBroken,     // the gzip is damaged
  kNoSitemap,  // another kind of file
};

std::string_view SitemapOutcomeName(SitemapOutcome outcome);

struct SitemapReport {
  SitemapOutcome outcome = SitemapOutcome::kWhole;
  SitemapFormat format = SitemapFormat::kUnknown;
  uint64_t links = 0;
  std::array<uint64_t, kSitemapDropNames.size()> dropped{};

  uint64_t Dropped(SitemapDrop reason) const {
    return dropped[static_cast<size_t>(reason)];
  }
};

class SitemapReader {
 public:
  // `header_charset`: the charset parameter of its Content-Type; empty: none.
  // The sink must outlive the reader.
  SitemapReader(const config::ParseSettings& settings,
                std::string_view header_charset, SitemapSink* sink);
  ~SitemapReader();
  SitemapReader(const SitemapReader&) = delete;
  SitemapReader& operator=(const SitemapReader&) = delete;

  // False when nothing that follows can matter any more.
  bool Feed(std::string_view bytes);

  // The last links, and what became of it all. To be called once.
  SitemapReport Finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nephila::parse
