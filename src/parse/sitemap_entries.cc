#include "parse/sitemap_entries.h"

#include <algorithm>

#include "base/ascii.h"

namespace nephila::parse {
namespace {

bool IsWebUrl(std::string_view text) {
  return StartsWithIgnoreCase(text, "http://") ||
         StartsWithIgnoreCase(text, "https://");
}

// Dates are short; what is longer is none.
constexpr size_t kLongestDate = 64;

// `outer` and behind it the xml:base of an element, if it has one: a relative
// one is resolved on what is in force around it (XML Base s4.2).
std::string BasesWith(std::string_view outer, const XmlTag& tag,
                      size_t max_bytes) {
  std::string bases(outer);
  std::string own;
  tag.Attribute("xml:base", &own);
  std::erase(own, '\n');  // as the URL parser does
  if (own.empty() || own.size() > max_bytes) return bases;
  if (!bases.empty()) bases.push_back('\n');
  return bases += own;
}

bool IsMediaElement(std::string_view local, std::string_view parent) {
  return (local == "loc" && parent == "image") || local == "content_loc" ||
         local == "player_loc" || local == "thumbnail_loc" ||
         local == "content_segment_loc";
}

}  // namespace

void SitemapOutput::Emit(SitemapLink link, bool cut) {
  link.url = TrimSpaces(link.url);
  if (link.url.empty() && !cut) {
    Drop(SitemapDrop::kEmpty);
  } else if (cut || link.url.size() > max_url_bytes_) {
    Drop(SitemapDrop::kTooLong);
  } else if (report_.links >= max_urls_) {
    Drop(SitemapDrop::kTooManyUrls);
  } else {
    link.lastmod = TrimSpaces(link.lastmod);
    ++report_.links;
    sink_.OnLink(link);
  }
}

void SitemapEntries::Text::Append(std::string_view text, bool was_cut,
                                  size_t limit) {
  // Spaces before the text do not count: files are indented.
  if (value.empty()) text.remove_prefix(SkipSpaces(text, 0));
  size_t room = limit - std::min(limit, value.size());
  // Nor those behind it.
  if (was_cut || TrimSpaces(text).size() > room) cut = true;
  value.append(text.substr(0, room));
}

void SitemapEntries::Text::Clear() {
  value.clear();
  cut = false;
}

void SitemapEntries::OnStart(const XmlTag& tag) {
  std::string_view local = tag.local_name();
  path_.emplace_back(local);
  if (depth() == 1) {
    StartRoot(tag);
  } else if (!known_root_) {
    return;
  } else if (in_entry()) {
    StartInEntry(tag, local);
  } else {
    StartEntry(tag, local);
    if (!in_entry()) StartInFeed(tag, local);
  }
}

std::string_view SitemapEntries::parent() const {
  return path_.size() < 2 ? std::string_view() : path_[path_.size() - 2];
}

void SitemapEntries::StartRoot(const XmlTag& tag) {
  std::string_view local = tag.local_name();
  SitemapFormat& format = output_.report().format;
  if (local == "urlset") {
    format = SitemapFormat::kUrlset;
  } else if (local == "sitemapindex") {
    format = SitemapFormat::kIndex;
  } else if (local == "rss" || local == "RDF") {
    format = SitemapFormat::kRss;
  } else if (local == "feed") {
    format = SitemapFormat::kAtom;
    feed_base_ = BasesWith("", tag, output_.max_url_bytes());
  } else {
    known_root_ = false;
  }
}

void SitemapEntries::StartEntry(const XmlTag& tag, std::string_view local) {
  bool entry = false;
  switch (output_.report().format) {
    case SitemapFormat::kUrlset:
    case SitemapFormat::kIndex:
      entry = depth() == 2 && (local == "url" || local == "sitemap");
      break;
    case SitemapFormat::kRss:
      entry = depth() <= 3 && local == "item";
      break;
    case SitemapFormat::kAtom:
      entry = depth() == 2 && local == "entry";
      break;
    case SitemapFormat::kText:
    case SitemapFormat::kUnknown:
      break;
  }
  if (!entry) return;
  entry_depth_ = depth();
  entry_is_sitemap_ = local == "sitemap";
  links_in_entry_ = 0;
  for (Text* text : {&loc_, &original_, &guid_, &lastmod_, &direct_}) {
    text->Clear();
  }
  entry_base_.clear();
  loc_base_.clear();
  if (output_.report().format == SitemapFormat::kAtom) {
    entry_base_ = BasesWith(feed_base_, tag, output_.max_url_bytes());
  }
}

void SitemapEntries::StartInEntry(const XmlTag& tag, std::string_view local) {
  if (IsMediaElement(local, parent()) && depth() > entry_depth_ + 1) {
    other_kind_ = SitemapLinkKind::kMedia;
    if (media_) Collect(&other_);
    return;
  }
  if (depth() != entry_depth_ + 1) return;
  SitemapFormat format = output_.report().format;
  if (format == SitemapFormat::kUrlset || format == SitemapFormat::kIndex) {
    if (local == "loc") Collect(&loc_);
    if (local == "lastmod") Collect(&lastmod_);
    if (local == "link") LinkElement(tag);
  } else if (format == SitemapFormat::kRss) {
    std::string href;
    if (local == "link" && tag.Attribute("href", &href)) {
      LinkElement(tag);
    } else if (local == "link") {
      Collect(&loc_);
    }
    if (local == "origLink") Collect(&original_);
    if (local == "guid") Collect(&guid_);
    if (local == "pubDate" || local == "date") Collect(&lastmod_);
    if (local == "enclosure" && media_ && tag.Attribute("url", &href)) {
      output_.Emit({.url = href, .kind = SitemapLinkKind::kMedia}, false);
    }
  } else {
    if (local == "link") LinkElement(tag);
    if (local == "origLink") Collect(&original_);
    if (local == "updated") Collect(&lastmod_);
  }
}

// What stands around the entries: a channel's own page, other parts of a feed.
void SitemapEntries::StartInFeed(const XmlTag& tag, std::string_view local) {
  if (local != "link") return;
  SitemapFormat format = output_.report().format;
  std::string href;
  if (tag.Attribute("href", &href)) {
    bool feed = format == SitemapFormat::kAtom || format == SitemapFormat::kRss;
    if (feed) LinkElement(tag);
  } else if (format == SitemapFormat::kRss && parent() == "channel") {
    other_kind_ = SitemapLinkKind::kPage;
    Collect(&other_);
  }
}

void SitemapEntries::LinkElement(const XmlTag& tag) {
  std::string href;
  std::string rel;
  std::string hreflang;
  if (!tag.Attribute("href", &href)) return;
  tag.Attribute("rel", &rel);
  tag.Attribute("hreflang", &hreflang);
  SitemapFormat format = output_.report().format;
  bool sitemap =
      format == SitemapFormat::kUrlset || format == SitemapFormat::kIndex;
  std::string bases = BasesWith(Base(), tag, output_.max_url_bytes());
  SitemapLink link{.url = href, .hreflang = hreflang, .base = bases};
  if (sitemap) {
    if (!EqualsIgnoreCase(rel, "alternate")) return;
    link.kind = SitemapLinkKind::kAlternate;
  } else if (rel.empty() || rel == "alternate") {
    if (in_entry() && loc_.value.empty()) {
      // It waits for the entry's date.
      loc_.Append(href, false, output_.max_url_bytes());
      loc_base_ = std::move(bases);
      return;
    }
    link.kind = SitemapLinkKind::kPage;
    ++links_in_entry_;
  } else if (!in_entry() &&
             (rel == "next" || rel == "previous" || rel == "prev" ||
              rel == "first" || rel == "last" || rel == "next-archive" ||
              rel == "prev-archive" || rel == "current")) {
    link.kind = SitemapLinkKind::kSitemap;  // RFC 5005
  } else if (rel == "enclosure" && media_) {
    link.kind = SitemapLinkKind::kMedia;
  } else {
    return;
  }
  output_.Emit(link, false);
}

void SitemapEntries::Collect(Text* target) {
  // The second of a kind in one entry is another link.
  if (target == &loc_ && (!loc_.value.empty() || loc_.cut)) {
    EmitPage(loc_, entry_is_sitemap_ ? SitemapLinkKind::kSitemap
                                     : SitemapLinkKind::kPage);
    ++links_in_entry_;
  }
  target->Clear();
  target_ = target;
  target_depth_ = depth();
}

void SitemapEntries::OnText(std::string_view text, bool cut) {
  if (target_ != nullptr && depth() >= target_depth_) {
    target_->Append(
        text, cut,
        target_ == &lastmod_ ? kLongestDate : output_.max_url_bytes());
  } else if (in_entry() && depth() == entry_depth_) {
    direct_.Append(text, cut, output_.max_url_bytes());
  }
}

void SitemapEntries::OnEnd(std::string_view) {
  if (target_ != nullptr && depth() == target_depth_) {
    if (target_ == &other_) EmitPage(other_, other_kind_);
    if (target_ == &lastmod_ && lastmod_.cut) lastmod_.Clear();
    target_ = nullptr;
  }
  if (in_entry() && depth() == entry_depth_) EndEntry();
  path_.pop_back();
}

void SitemapEntries::EndEntry() {
  target_ = nullptr;
  SitemapLinkKind kind =
      entry_is_sitemap_ ? SitemapLinkKind::kSitemap : SitemapLinkKind::kPage;
  if (!original_.value.empty()) EmitPage(original_, kind);
  if (!loc_.value.empty() || loc_.cut) {
    EmitPage(loc_, kind);
  } else if (IsWebUrl(guid_.value)) {
    EmitPage(guid_, kind);
  } else if (IsWebUrl(direct_.value)) {
    EmitPage(direct_, kind);  // <sitemap>http://...</sitemap>
  } else if (links_in_entry_ == 0 && original_.value.empty()) {
    output_.Drop(SitemapDrop::kEmpty);
  }
  entry_depth_ = 0;
  entry_base_.clear();
}

void SitemapEntries::EmitPage(const Text& text, SitemapLinkKind kind) {
  bool own = &text == &loc_ && !loc_base_.empty();
  SitemapLink link{
      .url = text.value, .kind = kind, .base = own ? loc_base_ : Base()};
  if (in_entry()) link.lastmod = lastmod_.value;
  output_.Emit(link, text.cut);
}

void SitemapEntries::Finish() {
  // A URL that was cut off is another URL.
  if (target_ == &loc_) loc_.Clear();
  if (in_entry() && !loc_.value.empty()) EndEntry();
}

}  // namespace nephila::parse
