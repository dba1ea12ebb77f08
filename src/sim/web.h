// Web: the simulated web. Every host, page, link and address is a function of
// the seed, the shape and its name; nothing is stored, so that any process can
// compute what a page must contain, and a web of hundreds of millions of pages
// costs nothing until it is read.
//
// Domains are ranked by how much they are linked to: domain 0 is the most
// popular. A host's pages are numbered from its home page, 0, and form a tree:
// page i links to pages c i + 1 .. c (i + 1), so that every page can be reached
// and each brings about new_links_tenths / 10 new URLs to a broad crawl. All
// other links inside a site go to pages with lower numbers.
//   Threads: immutable, safe to share.
//   Cost: about 7 us for a page of 21 KB (docs/performance.md); no allocation
//   once the caller's buffer has grown.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/heavy_tail.h"
#include "sim/mix.h"
#include "sim/shape.h"
#include "sim/text_tables.h"

namespace nephila::sim {

struct HostId {
  uint64_t pld = 0;
  uint64_t host = 0;  // within the domain; 0 is www
  bool operator==(const HostId&) const = default;
};

struct PageId {
  HostId host;
  uint64_t page = 0;  // 0 is the home page
  bool operator==(const PageId&) const = default;
};

// What is known of a page without making it.
struct PageFacts {
  uint64_t bytes = 0;  // to within one piece of text
  uint64_t links = 0;
  bool gzip = false;  // sent so to whoever takes it
};

enum class LinkKind : uint8_t {
  kChild,   // a page that no page with a lower number links to
  kInside,  // another page of the host
  kHome,    // the home page of a host of another domain
  kDeep,    // another page there
};

struct WebLink {
  PageId to;
  LinkKind kind = LinkKind::kChild;
};

// The addresses of a host, as numbers with 127 in the highest byte.
struct AddressList {
  std::array<uint32_t, 4> items{};
  size_t size = 0;
  std::span<const uint32_t> span() const { return {items.data(), size}; }
};

class Web {
 public:
  // An error names the setting that cannot be.
  static Result<Web> Make(const Shape& shape);

  // Complete: without zeros that stand for something else.
  const Shape& shape() const { return shape_; }
  uint64_t pld_count() const { return static_cast<uint64_t>(shape_.plds); }

  uint64_t HostsOf(uint64_t pld) const;
  uint64_t PagesOf(HostId host) const;
  AddressList AddressesOf(HostId host) const;
  PageFacts FactsOf(PageId page) const;

  void AppendPldName(uint64_t pld, std::string* out) const;
  void AppendHostName(HostId host, std::string* out) const;
  // Path and query: "/", "/blog/word-17.html", "/list.php?id=4".
  void AppendPath(PageId page, std::string* out) const;
  // http://host/path, with the port unless it is 80 or not known.
  void AppendUrl(PageId page, std::string* out) const;

  // The inverse: what a name stands for, if it is one of this web.
  // REQUIRES: lower case, no port.
  std::optional<HostId> FindHost(std::string_view name) const;
  std::optional<PageId> FindPage(HostId host, std::string_view path) const;

  // The links of a page in their order, as AppendPage writes them.
  void AppendLinks(PageId page, std::vector<WebLink>* out) const;
  // The page: HTML in ASCII. `extra`, HTML too, stands at the end of its body.
  void AppendPage(PageId page, std::string_view extra, std::string* out) const;

  // The host's robots.txt; nothing if it has none.
  bool HasRobots(HostId host) const;
  void AppendRobots(HostId host, std::string* out) const;
  bool IsChunked(HostId host) const;

  const TextTables& text() const { return text_; }
  // About `bytes` of marked-up text, another for each `seed`.
  void AppendText(uint64_t seed, uint64_t bytes, std::string* out) const;

 private:
  explicit Web(const Shape& complete);

  uint64_t HostBits(HostId host) const;
  uint64_t PageBits(PageId page) const;
  PageFacts FactsWith(Draw* draw) const;
  std::string_view WordFor(uint64_t bits, size_t count) const;
  void AppendHref(const PageId& from, const WebLink& link,
                  std::string* out) const;

  // Calls take(WebLink) for each link of a page.
  template <typename Take>
  void ForEachLink(PageId page, uint64_t links, Draw* draw, Take take) const;
  WebLink LinkAway(PageId page, Draw* draw) const;

  Shape shape_;
  uint64_t seed_;
  uint32_t first_address_ = 0;
  double children_;  // of a page, on average
  HeavyTail hosts_;
  HeavyTail pages_;
  HeavyTail bytes_;
  TextTables text_;
};

}  // namespace nephila::sim
