// Sniff: what a response is, whatever it says it is.
//
// The computed MIME type of the MIME Sniffing standard (s7, s8), with the
// departures of a crawler, which has no user to ask and nothing to run:
//   - "application/octet-stream" counts as no type: servers send it for what
//     they do not know.
//   - "text/plain" that begins as an HTML document is one.
//   - "text/..." and XML types whose bytes are an image, a PDF, an archive
//     and the like are those: their text would be noise.
//   - a byte order mark does not hide what follows it.
//   - sitemaps are told from other XML by their root element.
// With `nosniff` the declared type stands, as in browsers.
//   In: the declared type, the first bytes   Threads: any
//   Cost: bounded, as no more than kSniffBytes are looked at
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/settings.h"
#include "parse/mime_type.h"

namespace nephila::parse {

// The standard's "resource header" (s5.2).
inline constexpr size_t kSniffBytes = 1445;

// What is to be done with a response. All are stored.
enum class ContentKind : uint8_t {
  kHtml,     // links and text
  kSitemap,  // links: urlset or sitemapindex
  kFeed,     // links: RSS, Atom, RDF
  kXml,      // other XML
  kText,     // plain text, JSON, scripts
  kCss,      // style sheets
  kGzip,     // whatever is inside; a sitemap, if it was asked for as one
  kOther,    // not text: not parsed
};

std::string_view ContentKindName(ContentKind kind);

struct Sniffed {
  std::string essence;  // "text/html"
  ContentKind kind = ContentKind::kOther;
  bool declared = false;  // the type is the one that the response declares
};

struct SniffHints {
  bool nosniff = false;  // X-Content-Type-Options: nosniff
  bool lenient = true;   // false: without the crawler's departures
};

// As the settings have it, and an X-Content-Type-Options header (empty: none).
SniffHints SniffHintsOf(const config::ParseSettings& settings,
                        std::string_view content_type_options);

// `declared`: from ExtractMimeType; nothing if there is none.
Sniffed Sniff(const std::optional<MimeType>& declared, std::string_view bytes,
              const SniffHints& hints);

// Whether one of the values of an X-Content-Type-Options header says "nosniff"
// (Fetch s3.6: the first counts).
bool IsNosniff(std::string_view header);

// The name of the root element, "rss" or "sm:urlset"; empty if the bytes do not
// begin as markup. Comments, declarations and instructions are skipped.
std::string_view RootElement(std::string_view bytes);

// Whether there is a byte that text does not have (s3, "binary data byte").
bool HasBinaryByte(std::string_view bytes);

}  // namespace nephila::parse
