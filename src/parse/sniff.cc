#include "parse/sniff.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "parse/charset.h"
#include "parse/magic.h"

namespace nephila::parse {
namespace {

constexpr std::string_view kOctetStream = "application/octet-stream";

// s7.1: a tag that a page begins with, and what ends its name.
bool StartsWithTag(std::string_view text, std::string_view lower) {
  if (!StartsWithIgnoreCase(text, lower)) return false;
  if (text.size() == lower.size()) return false;
  char next = text[lower.size()];
  return next == ' ' || next == '>';
}

bool BeginsAsHtml(std::string_view text) {
  constexpr std::array<std::string_view, 16> kTags = {"<!doctype html",
                                                      "<html",
                                                      "<head",
                                                      "<script",
                                                      "<iframe",
                                                      "<h1",
                                                      "<div",
                                                      "<font",
                                                      "<table",
                                                      "<a",
                                                      "<style",
                                                      "<title",
                                                      "<b",
                                                      "<body",
                                                      "<br",
                                                      "<p"};
  if (text.starts_with("<!--")) return true;
  return std::any_of(kTags.begin(), kTags.end(), [text](std::string_view tag) {
    return StartsWithTag(text, tag);
  });
}

// No text file begins so unless it is a page.
bool BeginsAsPage(std::string_view text) {
  if (StartsWithIgnoreCase(text, "<!doctype html")) return true;
  if (!StartsWithIgnoreCase(text, "<html") || text.size() <= 5) return false;
  return IsSpace(text[5]) || text[5] == '>';
}

// The content behind a mark and spaces.
std::string_view Content(std::string_view bytes) {
  if (auto mark = CharsetOfMark(bytes)) bytes.remove_prefix(mark->mark_bytes);
  return bytes.substr(SkipSpaces(bytes, 0));
}

// s8.3, and sitemaps.
ContentKind KindOfMarkup(std::string_view bytes, ContentKind otherwise) {
  std::string_view root = RootElement(bytes);
  std::string_view local = root.substr(root.find(':') + 1);
  if (local == "urlset" || local == "sitemapindex") {
    return ContentKind::kSitemap;
  }
  if (root == "rss" || local == "feed") return ContentKind::kFeed;
  if (root == "rdf:RDF" &&
      bytes.find("http://purl.org/rss/1.0/") != std::string_view::npos) {
    return ContentKind::kFeed;
  }
  if (otherwise == ContentKind::kXml && local == "html") {
    return ContentKind::kHtml;
  }
  return otherwise;
}

ContentKind KindOf(const MimeType& mime, std::string_view bytes) {
  if (mime.IsHtml()) return KindOfMarkup(bytes, ContentKind::kHtml);
  if (mime.Is("application/xhtml+xml")) return ContentKind::kHtml;
  if (mime.Is("image/svg+xml")) return ContentKind::kOther;
  if (mime.IsXml()) return KindOfMarkup(bytes, ContentKind::kXml);
  if (mime.Is("text/css")) return ContentKind::kCss;
  if (mime.Is("application/x-gzip") || mime.Is("application/gzip")) {
    return ContentKind::kGzip;
  }
  if (mime.type == "text" || mime.IsJson() || mime.IsJavaScript()) {
    return ContentKind::kText;
  }
  return ContentKind::kOther;
}

Sniffed Found(std::string_view essence, std::string_view bytes) {
  Sniffed sniffed;
  sniffed.essence = essence;
  auto mime = ParseMimeType(essence);
  if (mime) sniffed.kind = KindOf(*mime, bytes);
  return sniffed;
}

// s7.1, "identifying a resource with an unknown MIME type". `scriptable`: it
// may turn out to be something that a browser would run.
Sniffed SniffUnknown(std::string_view bytes, bool scriptable, bool lenient) {
  std::string_view content =
      lenient ? Content(bytes) : bytes.substr(SkipSpaces(bytes, 0));
  if (scriptable) {
    if (BeginsAsHtml(content)) return Found("text/html", bytes);
    if (content.starts_with("<?xml")) return Found("text/xml", bytes);
    if (lenient &&
        KindOfMarkup(bytes, ContentKind::kOther) != ContentKind::kOther) {
      return Found("text/xml", bytes);
    }
  }
  if (bytes.starts_with("%PDF-")) {
    return Found(scriptable ? "application/pdf" : kOctetStream, bytes);
  }
  if (bytes.starts_with("%!PS-Adobe-")) {
    return Found("application/postscript", bytes);
  }
  if (CharsetOfMark(bytes)) return Found("text/plain", bytes);
  for (auto match : {MatchImage, MatchAudioOrVideo, MatchArchive}) {
    std::string_view type = match(bytes);
    if (!type.empty()) return Found(type, bytes);
  }
  return Found(HasBinaryByte(bytes) ? kOctetStream : "text/plain", bytes);
}

// s4.2: what old Apache servers send for all that they do not know.
bool IsApachesDefault(const MimeType& mime) {
  if (!mime.Is("text/plain") || mime.parameters.size() > 1) return false;
  if (mime.parameters.empty()) return true;
  std::string_view charset = mime.Charset();
  return charset == "ISO-8859-1" || charset == "iso-8859-1" ||
         charset == "UTF-8";
}

bool IsUnknown(const MimeType& mime, bool lenient) {
  return mime.Is("unknown/unknown") || mime.Is("application/unknown") ||
         mime.Is("*/*") || (lenient && mime.Is(kOctetStream));
}

// The crawler's departures for a declared type that its bytes contradict;
// empty: none.
std::string_view Contradiction(const MimeType& mime, std::string_view bytes) {
  bool text = mime.type == "text" || mime.IsXml() || mime.IsJson() ||
              mime.IsJavaScript();
  if (!text) return "";
  if (mime.Is("text/plain") && BeginsAsPage(Content(bytes))) {
    return "text/html";
  }
  // "BM" and "ID3" are words as well; text without a binary byte is text.
  if (!HasBinaryByte(bytes) && !bytes.starts_with("%PDF-")) return "";
  if (CharsetOfMark(bytes)) return "";
  return IdentifyMagic(bytes);
}

}  // namespace

std::string_view ContentKindName(ContentKind kind) {
  constexpr std::array<std::string_view, 8> kNames = {
      "html", "sitemap", "feed", "xml", "text", "css", "gzip", "other"};
  return kNames[static_cast<size_t>(kind)];
}

bool HasBinaryByte(std::string_view bytes) {
  return std::any_of(bytes.begin(), bytes.end(), [](char c) {
    auto byte = static_cast<unsigned char>(c);
    return byte <= 0x08 || byte == 0x0b || (byte >= 0x0e && byte <= 0x1a) ||
           (byte >= 0x1c && byte <= 0x1f);
  });
}

std::string_view RootElement(std::string_view bytes) {
  std::string_view text = Content(bytes);
  for (;;) {
    if (!text.starts_with('<')) return "";
    std::string_view end;
    if (text.starts_with("<!--")) {
      end = "-->";
    } else if (text.starts_with("<!")) {
      end = ">";
    } else if (text.starts_with("<?")) {
      end = "?>";
    } else {
      break;
    }
    size_t at = text.find(end, 2);
    if (at == std::string_view::npos) return "";
    text.remove_prefix(at + end.size());
    text.remove_prefix(SkipSpaces(text, 0));
  }
  text.remove_prefix(1);
  size_t length = 0;
  while (length < text.size() && !IsSpace(text[length]) &&
         text[length] != '>' && text[length] != '/') {
    ++length;
  }
  return text.substr(0, length);
}

bool IsNosniff(std::string_view header) {
  size_t comma = std::min(header.find(','), header.size());
  return EqualsIgnoreCase(TrimSpaces(header.substr(0, comma)), "nosniff");
}

SniffHints SniffHintsOf(const config::ParseSettings& settings,
                        std::string_view content_type_options) {
  SniffHints hints;
  hints.nosniff = IsNosniff(content_type_options);
  hints.lenient = settings.lenient_types;
  return hints;
}

Sniffed Sniff(const std::optional<MimeType>& declared, std::string_view bytes,
              const SniffHints& hints) {
  bytes = bytes.substr(0, kSniffBytes);
  if (!declared || IsUnknown(*declared, hints.lenient && !hints.nosniff)) {
    return SniffUnknown(bytes, !hints.nosniff, hints.lenient);
  }
  Sniffed supplied = Found(declared->Essence(), bytes);
  supplied.declared = true;
  if (hints.nosniff) return supplied;
  if (hints.lenient) {
    std::string_view other = Contradiction(*declared, bytes);
    if (!other.empty()) return Found(other, bytes);
  }
  if (IsApachesDefault(*declared)) {
    // s7.2, "distinguishing if a resource is text or binary".
    if (CharsetOfMark(bytes) || !HasBinaryByte(bytes)) return supplied;
    return SniffUnknown(bytes, /*scriptable=*/false, hints.lenient);
  }
  if (declared->IsXml()) return supplied;
  if (declared->IsHtml() && supplied.kind == ContentKind::kFeed) {
    std::string_view root = RootElement(bytes);
    supplied.essence =
        root.ends_with("feed") ? "application/atom+xml" : "application/rss+xml";
    supplied.declared = false;
    return supplied;
  }
  std::string_view other;
  if (declared->IsImage()) other = MatchImage(bytes);
  if (declared->IsAudioOrVideo()) other = MatchAudioOrVideo(bytes);
  if (other.empty() || other == supplied.essence) return supplied;
  return Found(other, bytes);
}

}  // namespace nephila::parse
