#include "parse/sitemap.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/ascii.h"
#include "coding/content_decoder.h"
#include "parse/charset.h"
#include "parse/decoder.h"
#include "parse/prescan.h"
#include "parse/sitemap_entries.h"
#include "parse/sniff.h"
#include "parse/xml_reader.h"

namespace nephila::parse {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";

// Lines of a text sitemap.
class Lines {
 public:
  explicit Lines(SitemapOutput* output) : output_(*output) {}

  void Feed(std::string_view text) {
    while (!text.empty()) {
      size_t end = std::min(text.find_first_of("\r\n"), text.size());
      std::string_view piece = text.substr(0, end);
      if (line_.empty()) piece.remove_prefix(SkipSpaces(piece, 0));
      size_t room = output_.max_url_bytes() + 1 - line_.size();
      line_.append(piece.substr(0, room));
      if (end == text.size()) return;
      Finish();
      text.remove_prefix(end + 1);
    }
  }

  void Finish() {
    std::string_view line = TrimSpaces(line_);
    bool web = StartsWithIgnoreCase(line, "http://") ||
               StartsWithIgnoreCase(line, "https://");
    if (web) {
      output_.Emit({.url = line}, false);
    } else if (!line.empty()) {
      output_.Drop(SitemapDrop::kNotAUrl);
    }
    line_.clear();
  }

 private:
  SitemapOutput& output_;
  std::string line_;  // at most one byte longer than a URL may be
};

XmlLimits LimitsOf(const config::ParseSettings& settings) {
  XmlLimits limits;
  limits.max_depth = static_cast<size_t>(settings.xml_max_depth);
  return limits;
}

}  // namespace

// Bytes pass a gunzip, if they are gzip, then a decoder, then either the XML
// reader or the lines. Which of them is decided from the head.
class SitemapReader::Impl {
 public:
  Impl(const config::ParseSettings& settings, std::string_view header_charset,
       SitemapSink* sink)
      : settings_(settings),
        header_charset_(header_charset),
        output_(settings, sink),
        entries_(settings.sitemap_media, &output_),
        xml_(LimitsOf(settings), &entries_),
        lines_(&output_) {}

  bool Feed(std::string_view bytes) {
    if (stopped_) return false;
    if (!magic_known_) {
      magic_.append(bytes);
      if (magic_.size() < kGzipMagic.size()) return true;
      StartContent();
      std::string taken = std::move(magic_);
      return FeedContent(taken);
    }
    return FeedContent(bytes);
  }

  SitemapReport Finish() {
    SitemapReport& report = output_.report();
    if (!magic_known_ && !magic_.empty()) {
      StartContent();
      FeedContent(magic_);
    }
    if (!stopped_ && !head_known_) StartText();
    if (!stopped_) {
      std::string rest;
      decoder_->Finish(&rest);
      FeedText(rest);
    }
    bool is_xml = report.format != SitemapFormat::kText;
    if (!is_xml && !stopped_) lines_.Finish();
    if (is_xml) entries_.Finish();
    bool cut_off = (is_xml && !xml_.complete()) || FinishGunzip();
    if (!stopped_ && cut_off) {
      report.outcome = report.format == SitemapFormat::kUnknown
                           ? SitemapOutcome::kNoSitemap
                           : SitemapOutcome::kCutOff;
    }
    return report;
  }

 private:
  void Stop(SitemapOutcome outcome) {
    if (stopped_) return;
    stopped_ = true;
    output_.report().outcome = outcome;
  }

  void StartContent() {
    magic_known_ = true;
    if (!magic_.starts_with(kGzipMagic)) return;
    coding::DecodeLimits limits;
    limits.max_bytes = settings_.sitemap_max_size_bytes;
    limits.max_ratio = static_cast<uint64_t>(settings_.gzip_max_ratio);
    gunzip_ = std::make_unique<coding::ContentDecoder>(limits);
    gunzip_->Begin("gzip", coding::ContentDecoder::Undecodable::kLeaveOut);
  }

  // Whether the last member has no end.
  bool FinishGunzip() {
    if (gunzip_ == nullptr) return false;
    auto state = gunzip_->Finish([](std::string_view) {});
    gunzip_.reset();
    return state != coding::DecodeState::kWhole;
  }

  bool FeedContent(std::string_view bytes) {
    if (gunzip_ == nullptr) {
      FeedBounded(bytes);
      return !stopped_;
    }
    // In pieces, so that what one gives stays small.
    constexpr size_t kPiece = size_t{4} << 10;
    auto sink = [this](std::string_view content) {
      if (!stopped_) FeedBounded(content);
    };
    for (; !bytes.empty() && !stopped_;
         bytes.remove_prefix(std::min(bytes.size(), kPiece))) {
      if (gunzip_->Feed(bytes.substr(0, kPiece), sink)) continue;
      auto state = gunzip_->Finish(sink);
      Stop(state == coding::DecodeState::kTooLarge ? SitemapOutcome::kTooLarge
           : state == coding::DecodeState::kBomb   ? SitemapOutcome::kBomb
                                                   : SitemapOutcome::kBroken);
    }
    return !stopped_;
  }

  void FeedBounded(std::string_view bytes) {
    uint64_t left = settings_.sitemap_max_size_bytes - content_bytes_;
    bool too_large = bytes.size() > left;
    bytes = bytes.substr(
        0, static_cast<size_t>(std::min<uint64_t>(bytes.size(), left)));
    content_bytes_ += bytes.size();
    FeedHead(bytes);
    if (too_large) Stop(SitemapOutcome::kTooLarge);
  }

  // The encoding and the format stand in the first bytes.
  void FeedHead(std::string_view bytes) {
    if (head_known_) {
      FeedDecoder(bytes);
      return;
    }
    head_.append(bytes);
    if (head_.size() >= kPrescanBytes) StartText();
  }

  void StartText() {
    head_known_ = true;
    CharsetHints hints;
    hints.header = header_charset_;
    hints.xml = true;
    // No more than this, however much came at once.
    std::string_view first = std::string_view(head_).substr(0, kPrescanBytes);
    Charset charset = DecideCharset(first, hints);
    decoder_ = std::make_unique<Decoder>(charset.encoding);
    std::string start;
    Decoder(charset.encoding).Decode(first.substr(charset.mark_bytes), &start);
    // Only spaces so far is no text; the XML reader waits for a tag.
    std::string_view content =
        std::string_view(start).substr(SkipSpaces(start, 0));
    if (!content.empty() && content[0] != '<') {
      if (HasBinaryByte(content)) {
        Stop(SitemapOutcome::kNoSitemap);
        return;
      }
      output_.report().format = SitemapFormat::kText;
    }
    std::string head = std::move(head_);
    FeedDecoder(std::string_view(head).substr(charset.mark_bytes));
  }

  void FeedDecoder(std::string_view bytes) {
    if (stopped_) return;
    text_.clear();
    decoder_->Decode(bytes, &text_);
    FeedText(text_);
  }

  void FeedText(std::string_view text) {
    if (output_.report().format == SitemapFormat::kText) {
      lines_.Feed(text);
      return;
    }
    bool shallow = xml_.Feed(text);
    // The root stands before all that is deep, whatever came at once.
    if (!entries_.is_sitemap()) Stop(SitemapOutcome::kNoSitemap);
    if (!shallow) Stop(SitemapOutcome::kTooDeep);
  }

  const config::ParseSettings settings_;
  std::string header_charset_;
  SitemapOutput output_;
  SitemapEntries entries_;
  XmlReader xml_;
  Lines lines_;
  std::unique_ptr<coding::ContentDecoder> gunzip_;
  std::unique_ptr<Decoder> decoder_;
  std::string magic_;
  std::string head_;
  std::string text_;  // one piece, decoded
  uint64_t content_bytes_ = 0;
  bool magic_known_ = false;
  bool head_known_ = false;
  bool stopped_ = false;
};

SitemapReader::SitemapReader(const config::ParseSettings& settings,
                             std::string_view header_charset, SitemapSink* sink)
    : impl_(std::make_unique<Impl>(settings, header_charset, sink)) {}

SitemapReader::~SitemapReader() = default;

bool SitemapReader::Feed(std::string_view bytes) { return impl_->Feed(bytes); }

SitemapReport SitemapReader::Finish() { return impl_->Finish(); }

std::string_view SitemapFormatName(SitemapFormat format) {
  constexpr std::array<std::string_view, 6> kNames = {
      "unknown", "urlset", "sitemapindex", "text", "rss", "atom"};
  return kNames[static_cast<size_t>(format)];
}

std::string_view SitemapLinkKindName(SitemapLinkKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"page", "sitemap",
                                                      "alternate", "media"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view SitemapOutcomeName(SitemapOutcome outcome) {
  constexpr std::array<std::string_view, 7> kNames = {
      "whole", "cut-off", "too-large", "too-deep",
      "bomb",  "broken",  "no-sitemap"};
  return kNames[static_cast<size_t>(outcome)];
}

}  // namespace nephila::parse
