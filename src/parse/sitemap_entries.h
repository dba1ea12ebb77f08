// SitemapEntries: the elements of sitemaps and feeds that hold links.
//
// Half of SitemapReader: what XML elements mean. Names count without their
// prefix, as prefixes and namespaces are often wrong; but a <loc> is a page
// only directly in a <url>, so that those of extensions are told apart.
//   Threads: one each   Cost: linear in what it is given
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parse/sitemap.h"
#include "parse/xml_reader.h"

namespace nephila::parse {

// Where links leave a sitemap: bounds and counts.
class SitemapOutput {
 public:
  SitemapOutput(const config::ParseSettings& settings, SitemapSink* sink)
      : max_urls_(static_cast<uint64_t>(settings.sitemap_max_urls)),
        max_url_bytes_(settings.sitemap_max_url_length_bytes),
        sink_(*sink) {}

  // `cut`: the URL was longer than what was kept of it.
  void Emit(SitemapLink link, bool cut);
  void Drop(SitemapDrop reason) {
    ++report_.dropped[static_cast<size_t>(reason)];
  }
  size_t max_url_bytes() const { return max_url_bytes_; }
  SitemapReport& report() { return report_; }

 private:
  uint64_t max_urls_;
  size_t max_url_bytes_;
  SitemapSink& sink_;
  SitemapReport report_;
};

class SitemapEntries final : public XmlSink {
 public:
  SitemapEntries(bool media, SitemapOutput* output)
      : media_(media), output_(*output) {}

  void OnStart(const XmlTag& tag) override;
  void OnEnd(std::string_view name) override;
  void OnText(std::string_view text, bool cut) override;

  // An entry that the end of the input cut off.
  void Finish();

  // False if the root element is none of a sitemap or feed.
  bool is_sitemap() const { return known_root_; }

 private:
  // A text that is collected, up to a bound.
  struct Text {
    std::string value;
    bool cut = false;
    void Append(std::string_view text, bool was_cut, size_t limit);
    void Clear();
  };

  bool in_entry() const { return entry_depth_ > 0; }
  // Of the element that starts or ends; the root has 1.
  size_t depth() const { return path_.size(); }
  std::string_view parent() const;
  void StartRoot(const XmlTag& tag);
  void StartEntry(const XmlTag& tag, std::string_view local);
  void StartInEntry(const XmlTag& tag, std::string_view local);
  void StartInFeed(const XmlTag& tag, std::string_view local);
  // <link href>, of Atom and of XHTML.
  void LinkElement(const XmlTag& tag);
  void Collect(Text* target);
  void EndEntry();
  void EmitPage(const Text& text, SitemapLinkKind kind);
  std::string_view Base() const {
    return in_entry() ? entry_base_ : feed_base_;
  }

  const bool media_;
  SitemapOutput& output_;
  bool known_root_ = true;
  size_t entry_depth_ = 0;  // of the open <url>, <item> and so on; 0: none
  bool entry_is_sitemap_ = false;
  std::vector<std::string> path_;  // local names of the open elements
  Text loc_;
  Text original_;  // the page behind a feed's click counter
  Text guid_;
  Text lastmod_;
  Text direct_;  // text right in the entry
  Text other_;   // a channel's link, a medium's
  SitemapLinkKind other_kind_ = SitemapLinkKind::kPage;
  size_t links_in_entry_ = 0;
  std::string feed_base_;
  std::string entry_base_;  // the feed's is before it
  std::string loc_base_;    // of loc_, if its element has its own
  Text* target_ = nullptr;  // that text goes to
  size_t target_depth_ = 0;
};

}  // namespace nephila::parse
