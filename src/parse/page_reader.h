// PageReader: the entry of the stage. What a response is, whatever it says, and
// the links in it: of an HTML page, a sitemap, a feed, and of `Link:` headers.
//
//   In: headers that matter here, and the body in pieces, content coding
//   removed Out: PageLink, in the order of the response, headers first; for
//   HTML also
//       its meta elements, title and text
//   Drop: links by reason (HtmlCounts, SitemapReport, dropped_header_links)
//   Disk: none   Threads: one reader each; it is reused response after response
//   Cost: linear in the body; of a body in one piece, or whose first is large,
//       nothing is copied but its links
//
// What is neither HTML nor a sitemap nor a feed has links in its headers alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "parse/charset.h"
#include "parse/html_links.h"
#include "parse/html_page.h"
#include "parse/page_links.h"
#include "parse/sitemap.h"
#include "parse/sniff.h"
#include "url/url.h"

namespace nephila::parse {

// Values as they came, in their order.
struct ResponseHeaders {
  std::vector<std::string_view> content_type = {};
  std::vector<std::string_view> link = {};
  std::string_view content_type_options = {};
};

// What the caller knows of the response.
enum class ReadAs : uint8_t {
  kWhatItIs,
  kHtmlIfText,  // HTML even if neither header nor bytes say so
  kSitemap,     // named as one, by a robots.txt or an index
};

enum class LinkSource : uint8_t { kHtml, kHeader, kSitemap };

// Views are valid until the next Read.
struct PageLink {
  std::string_view value = {};      // UTF-8, not resolved
  std::string_view element = {};    // "a", "loc"; of a header "link"
  std::string_view attribute = {};  // "href"; empty: it is the element's text
  std::string_view rel = {};        // of a sitemap: "sitemap", "alternate"
  std::string_view base = {};       // of a feed and its entry, see BaseOf
  LinkSource source = LinkSource::kHtml;
  bool in_template = false;
  bool in_svg = false;
};

class PageReader final : private SitemapSink {
 public:
  // `text`: HTML's title and text are wanted; `max_bytes`: memory for links.
  PageReader(const config::ParseSettings& settings, bool text,
             uint64_t max_bytes = std::numeric_limits<uint64_t>::max());

  void Read(const ResponseHeaders& headers,
            std::span<const std::string_view> body, ReadAs read_as);

  // Of the last response.
  const Sniffed& sniffed() const { return sniffed_; }
  const Charset& charset() const { return charset_; }
  const std::vector<PageLink>& links() const { return links_; }
  // With meta elements and base: of HTML.
  const PageLinks& html() const { return html_links_; }
  std::string_view title() const {
    return html_counts_ ? html_reader_.title() : std::string_view();
  }
  std::string_view text() const {
    return html_counts_ ? html_reader_.text() : std::string_view();
  }
  // What was left out; nothing where no such thing was read.
  const std::optional<HtmlCounts>& html_counts() const { return html_counts_; }
  const std::optional<SitemapReport>& sitemap() const { return sitemap_; }
  uint64_t dropped_header_links() const { return dropped_header_links_; }
  // Links that did not fit into `max_bytes`; they are not among those above.
  uint64_t dropped_for_memory() const {
    return dropped_for_memory_ + html_links_.dropped_links();
  }
  bool over_memory() const { return dropped_for_memory() > 0; }

  // What a link is to be resolved on: `page`, the URL of the response, for
  // those of headers (RFC 8288 s3.1), else `base`, which html().BaseUrl gave,
  // or what an entry of a feed says itself. *scratch holds the answer if need
  // be.
  static const url::Url& BaseOf(const PageLink& link, const url::Url& page,
                                const url::Url& base, url::Url* scratch);

 private:
  struct KeptLink {
    size_t begin;  // of the value in buffer_
    size_t value_size;
    size_t rel_size;    // behind the value
    size_t base_begin;  // all entries of a feed share theirs
    size_t base_size;
    LinkSource source;
  };

  void OnLink(const SitemapLink& link) override;
  void Keep(std::string_view value, std::string_view rel, std::string_view base,
            LinkSource source);
  void ReadHeaderLinks(std::span<const std::string_view> headers);
  void ReadHtml(std::string_view charset, std::string_view start,
                std::span<const std::string_view> rest);
  void ReadSitemap(std::string_view charset, std::string_view start,
                   std::span<const std::string_view> rest);
  void ShowLinks();

  const config::ParseSettings settings_;
  const uint64_t max_bytes_;
  PageLinks html_links_;
  HtmlReader html_reader_;
  HtmlPage html_page_;
  std::string start_;   // of a body in small pieces
  std::string buffer_;  // of links that are not HTML's
  std::vector<KeptLink> kept_;

  Sniffed sniffed_;
  Charset charset_;
  std::vector<PageLink> links_;
  std::optional<HtmlCounts> html_counts_;
  std::optional<SitemapReport> sitemap_;
  uint64_t dropped_header_links_ = 0;
  uint64_t dropped_for_memory_ = 0;
};

}  // namespace nephila::parse
