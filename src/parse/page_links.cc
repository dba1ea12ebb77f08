#include "parse/page_links.h"

#include "url/parser.h"

namespace nephila::parse {

void PageLinks::Clear() {
  buffer_.clear();
  links_.clear();
  metas_.clear();
  base_.reset();
  meta_bytes_ = 0;
  dropped_metas_ = 0;
  dropped_links_ = 0;
}

void PageLinks::OnLink(const HtmlLink& link) {
  const uint64_t needed =
      buffer_.size() + link.value.size() + link.rel.size() +
      (links_.size() + 1) * (sizeof(StoredLink) + kShownLinkBytes);
  if (needed > max_bytes_) {
    ++dropped_links_;
    return;
  }
  // The links of one srcset share theirs.
  bool same = !links_.empty() && View(links_.back().rel) == link.rel;
  Text rel = same ? links_.back().rel : Keep(link.rel);
  links_.push_back({Keep(link.value), rel, link.tag, link.attr,
                    link.in_template, link.in_svg});
}

void PageLinks::OnBase(std::string_view value) { base_ = Keep(value); }

void PageLinks::OnMeta(const HtmlMeta& meta) {
  HtmlMeta kept = meta;
  size_t bytes = kEmptyMetaBytes;
  for (std::string_view* value :
       {&kept.name, &kept.http_equiv, &kept.content, &kept.charset}) {
    *value = value->substr(0, kLongestMeta);
    bytes += value->size();
  }
  if (meta_bytes_ + bytes > kMaxMetaBytes) {
    ++dropped_metas_;
    return;
  }
  meta_bytes_ += bytes;
  metas_.push_back({Keep(kept.name), Keep(kept.http_equiv), Keep(kept.content),
                    Keep(kept.charset)});
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
