#include "parse/page_reader.h"

#include <algorithm>

#include "parse/link_header.h"
#include "parse/mime_type.h"
#include "url/parser.h"

namespace nephila::parse {
namespace {

// Enough to say what it is, and to declare or betray an encoding.
constexpr size_t kStartBytes = size_t{64} << 10;

// Of a link when it is shown.
constexpr size_t kShownBytes = sizeof(PageLink);

HtmlOptions WithText(HtmlOptions options, bool text) {
  options.text = text;
  return options;
}

bool IsText(ContentKind kind) {
  return kind == ContentKind::kText || kind == ContentKind::kXml ||
         kind == ContentKind::kHtml;
}

// The element that holds the address, as the formats have it.
std::string_view SitemapElement(SitemapFormat format, std::string_view rel) {
  if (format == SitemapFormat::kText) return "";
  bool feed = format == SitemapFormat::kRss || format == SitemapFormat::kAtom;
  return feed || rel == "alternate" ? "link" : "loc";
}

std::string_view RelOf(SitemapLinkKind kind) {
  switch (kind) {
    case SitemapLinkKind::kSitemap:
      return "sitemap";
    case SitemapLinkKind::kAlternate:
      return "alternate";
    case SitemapLinkKind::kPage:
    case SitemapLinkKind::kMedia:
      return "";
  }
  return "";
}

}  // namespace

PageReader::PageReader(const config::ParseSettings& settings, bool text,
                       uint64_t max_bytes)
    : settings_(settings),
      max_bytes_(max_bytes),
      html_links_(max_bytes),
      html_reader_(WithText(OptionsOf(settings), text), &html_links_),
      html_page_(&html_reader_) {}

void PageReader::Read(const ResponseHeaders& headers,
                      std::span<const std::string_view> body, ReadAs read_as) {
  html_links_.Clear();
  buffer_.clear();
  kept_.clear();
  links_.clear();
  html_counts_.reset();
  sitemap_.reset();
  dropped_header_links_ = 0;
  dropped_for_memory_ = 0;
  charset_ = {};

  // The first bytes in one piece; the rest stays where it is.
  std::string_view start;
  if (!body.empty()) {
    start = body[0];
    body = body.subspan(1);
  }
  if (start.size() < kStartBytes && !body.empty()) {
    start_.assign(start);
    while (start_.size() < kStartBytes && !body.empty()) {
      start_.append(body[0]);
      body = body.subspan(1);
    }
    start = start_;
  }

  std::optional<MimeType> declared = ExtractMimeType(headers.content_type);
  sniffed_ = Sniff(declared, start,
                   SniffHintsOf(settings_, headers.content_type_options));
  std::string_view charset =
      declared ? declared->Charset() : std::string_view();
  ReadHeaderLinks(headers.link);
  ContentKind kind = sniffed_.kind;
  if (kind == ContentKind::kSitemap || kind == ContentKind::kFeed ||
      read_as == ReadAs::kSitemap) {  // whose reader knows it when it sees one
    ReadSitemap(charset, start, body);
  } else if (kind == ContentKind::kHtml ||
             (read_as == ReadAs::kHtmlIfText && IsText(kind))) {
    ReadHtml(charset, start, body);
  }
  ShowLinks();
}

void PageReader::ReadHeaderLinks(std::span<const std::string_view> headers) {
  HeaderLink link;
  for (std::string_view header : headers) {
    LinkHeaderReader reader(header);
    while (reader.Next(&link)) {
      // Of another page than this one: not ours to say (RFC 8288 s3.2).
      bool elsewhere = link.has_anchor && !link.anchor.empty() &&
                       !link.anchor.starts_with('#');
      if (elsewhere ||
          kept_.size() >= static_cast<uint64_t>(settings_.max_links) ||
          link.target.size() > static_cast<uint64_t>(settings_.max_link_size)) {
        ++dropped_header_links_;
        continue;
      }
      Keep(link.target, link.rel, "", LinkSource::kHeader);
    }
  }
}

void PageReader::ReadHtml(std::string_view charset, std::string_view start,
                          std::span<const std::string_view> rest) {
  // The same bytes whatever the pieces are.
  charset_ = DecideCharset(start.substr(0, kStartBytes),
                           CharsetHintsOf(settings_, charset));
  bool xhtml = sniffed_.essence == "application/xhtml+xml";
  html_page_.Begin(charset_, xhtml ? Syntax::kXhtml : Syntax::kHtml);
  html_page_.Feed(start);
  for (std::string_view piece : rest) html_page_.Feed(piece);
  html_page_.Finish();
  html_counts_ = html_reader_.counts();
}

void PageReader::ReadSitemap(std::string_view charset, std::string_view start,
                             std::span<const std::string_view> rest) {
  // It decodes by itself, and its addresses are ASCII or UTF-8 to a server.
  charset_.encoding = Encoding::kUtf8;
  SitemapReader reader(settings_, charset, this);
  bool more = reader.Feed(start);
  for (size_t i = 0; more && i < rest.size(); ++i) more = reader.Feed(rest[i]);
  sitemap_ = reader.Finish();
}

void PageReader::OnLink(const SitemapLink& link) {
  Keep(link.url, RelOf(link.kind), link.base, LinkSource::kSitemap);
}

void PageReader::Keep(std::string_view value, std::string_view rel,
                      std::string_view base, LinkSource source) {
  const uint64_t needed = buffer_.size() + value.size() + rel.size() +
                          base.size() +
                          (kept_.size() + 1) * (sizeof(KeptLink) + kShownBytes);
  if (needed > max_bytes_) {
    ++dropped_for_memory_;
    return;
  }
  KeptLink kept{buffer_.size(), value.size(), rel.size(), 0,
                base.size(),    source};
  buffer_.append(value).append(rel);
  std::string_view last;
  if (!kept_.empty()) {
    kept.base_begin = kept_.back().base_begin;
    last = std::string_view(buffer_).substr(kept.base_begin,
                                            kept_.back().base_size);
  }
  if (base != last) {
    kept.base_begin = buffer_.size();
    buffer_.append(base);
  }
  kept_.push_back(kept);
}

// The buffers have stopped moving: now there can be views into them.
void PageReader::ShowLinks() {
  links_.reserve(kept_.size() + html_links_.size());
  for (const KeptLink& kept : kept_) {
    std::string_view texts = std::string_view(buffer_).substr(kept.begin);
    PageLink& link = links_.emplace_back();
    link.value = texts.substr(0, kept.value_size);
    link.rel = texts.substr(kept.value_size, kept.rel_size);
    link.base =
        std::string_view(buffer_).substr(kept.base_begin, kept.base_size);
    link.source = kept.source;
    bool header = kept.source == LinkSource::kHeader;
    link.element = header ? "link" : SitemapElement(sitemap_->format, link.rel);
    if (link.element == "link") link.attribute = "href";
  }
  for (size_t i = 0; i < html_links_.size(); ++i) {
    HtmlLink html = html_links_[i];
    PageLink& link = links_.emplace_back();
    link.value = html.value;
    link.element = TagText(html.tag);
    link.attribute = AttrText(html.attr);
    link.rel = html.rel;
    link.in_template = html.in_template;
    link.in_svg = html.in_svg;
  }
}

const url::Url& PageReader::BaseOf(const PageLink& link, const url::Url& page,
                                   const url::Url& base, url::Url* scratch) {
  if (link.source == LinkSource::kHeader) return page;
  const url::Url* inner = &base;
  for (std::string_view rest = link.base; !rest.empty();) {
    size_t end = std::min(rest.find('\n'), rest.size());
    url::Url next;
    if (url::Parse(rest.substr(0, end), inner, &next)) {
      *scratch = std::move(next);
      inner = scratch;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return *inner;
}

}  // namespace nephila::parse
