#include "parse/page_links.h"

#include "url/parser.h"

namespace nephila::parse {

void PageLinks::Clear() {
  buffer_.clear();
  links_.clear();
  metas_.clear();
  base_.reset();
  dropped_metas_ = 0;
}

void PageLinks::OnLink(const HtmlLink& link) {
  links_.push_back({Keep(link.value), Keep(link.rel), link.tag, link.attr,
                    link.in_template, link.in_svg});
}

void PageLinks::OnBase(std::string_view value) { base_ = Keep(value); }

void PageLinks::OnMeta(const HtmlMeta& meta) {
  size_t bytes = meta.name.size() + meta.http_equiv.size() +
                 meta.content.size() + meta.charset.size();
  if (metas_.size() >= kMaxMetas || bytes > kLongestMeta) {
    ++dropped_metas_;
    return;
  }
  metas_.push_back({Keep(meta.name), Keep(meta.http_equiv), Keep(meta.content),
                    Keep(meta.charset)});
}

HtmlLink PageLinks::operator[](size_t i) const {
  const StoredLink& link = links_[i];
  return {View(link.value), link.tag,         link.attr,
          View(link.rel),   link.in_template, link.in_svg};
}

HtmlMeta PageLinks::meta(size_t i) const {
  const StoredMeta& meta = metas_[i];
  return {View(meta.name), View(meta.http_equiv), View(meta.content),
          View(meta.charset)};
}

void PageLinks::BaseUrl(const url::Url& page, url::Url* base) const {
  if (base_ && url::Parse(View(*base_), &page, base) &&
      base->scheme() != "data" && base->scheme() != "javascript") {
    return;
  }
  *base = page;
}

}  // namespace nephila::parse
