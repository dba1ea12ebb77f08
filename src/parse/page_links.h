// PageLinks: the links of one page in one buffer, resolved when all is known.
//
// A page's <base> holds for all its links, also those before it, so that links
// wait until the page ends (HTML s2.4.2, "document base URL").
//   In: the calls of an HtmlReader   Out: links, meta elements, the base
//   Bound: links and their lengths by HtmlOptions, meta elements by
//   kMaxMetaBytes Threads: one each   Cost: one copy of each value; no
//   allocation once grown
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parse/html_links.h"
#include "url/url.h"

namespace nephila::parse {

class PageLinks final : public HtmlHandler {
 public:
  static constexpr size_t kLongestMeta = 4096;  // a longer value is cut
  // Of all metas: thousands as pages have them, so that robots is among them.
  static constexpr size_t kMaxMetaBytes = size_t{1} << 20;
  static constexpr size_t kEmptyMetaBytes = 64;  // counted for each
  // Of a link in PageReader::links, counted for each.
  static constexpr size_t kShownLinkBytes = 96;

  // `max_bytes`: memory for links; those that do not fit are dropped.
  explicit PageLinks(uint64_t max_bytes = std::numeric_limits<uint64_t>::max())
      : max_bytes_(max_bytes) {}

  void Clear();

  void OnLink(const HtmlLink& link) override;
  void OnBase(std::string_view value) override;
  void OnMeta(const HtmlMeta& meta) override;

  size_t size() const { return links_.size(); }
  HtmlLink operator[](size_t i) const;
  size_t metas() const { return metas_.size(); }
  HtmlMeta meta(size_t i) const;
  uint64_t dropped_metas() const { return dropped_metas_; }
  uint64_t dropped_links() const { return dropped_links_; }

  // As the page has it.
  std::optional<std::string_view> base() const {
    if (!base_) return std::nullopt;
    return View(*base_);
  }
  // The URL that the page's links are resolved on: its <base>, unless that is
  // no URL or one that cannot be a base, else the page's own.
  void BaseUrl(const url::Url& page, url::Url* base) const;

 private:
  struct Text {
    size_t begin;
    size_t size;
  };
  struct StoredLink {
    Text value;
    Text rel;
    Tag tag;
    Attr attr;
    bool in_template;
    bool in_svg;
  };
  struct StoredMeta {
    Text name;
    Text http_equiv;
    Text content;
    Text charset;
  };

  Text Keep(std::string_view text) {
    Text kept{buffer_.size(), text.size()};
    buffer_.append(text);
    return kept;
  }
  std::string_view View(Text text) const {
    return std::string_view(buffer_).substr(text.begin, text.size);
  }

  const uint64_t max_bytes_;
  std::string buffer_;
  std::vector<StoredLink> links_;
  std::vector<StoredMeta> metas_;
  std::optional<Text> base_;
  size_t meta_bytes_ = 0;
  uint64_t dropped_metas_ = 0;
  uint64_t dropped_links_ = 0;
};

}  // namespace nephila::parse
