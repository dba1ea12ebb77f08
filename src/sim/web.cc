#include "sim/web.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace nephila::sim {
namespace {

// What the bits of a draw are for, so that no two draws are the same.
enum Purpose : uint64_t {
  kPldName = 1,
  kHostCount,
  kHostBits,
  kPageCount,
  kAddress,
  kPageBits,
  kPathWords,
  kRobotsText,
  kTextBits,
};

// Tail exponents: hosts of a domain and pages of a site fall slower than the
// sizes of pages.
constexpr double kHostTail = 1.4;
constexpr double kPageTail = 1.2;
constexpr double kSizeTail = 1.8;
// Links away that a broad crawl has not seen, of all of them: measured, with
// the default popularity, over a breadth-first crawl of 20 000 pages
// (WebStatisticsTest.BringsNewUrls).
constexpr double kNewAway = 0.53;
// Pages that compress to a fifth repeat this many pieces.
constexpr uint64_t kGzipPieces = 112;

double ChildrenOf(const Shape& shape) {
  const double away = static_cast<double>(shape.links) *
                      static_cast<double>(1000 - shape.inside_permille) / 1000;
  return std::max(
      1.0, static_cast<double>(shape.new_links_tenths) / 10 - away * kNewAway);
}

void AppendNumber(uint64_t number, std::string* out) {
  char digits[20];
  const auto end = std::to_chars(digits, std::end(digits), number).ptr;
  out->append(digits, end);
}

// The number that a text ends with, without leading zeros.
std::optional<uint64_t> NumberAtEnd(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data() + begin, text.data() + text.size(), number);
  if (begin == text.size() || error != std::errc()) return std::nullopt;
  return number;
}

uint64_t Skewed(double unit, double power, uint64_t n) {
  return std::min(n - 1, static_cast<uint64_t>(std::pow(unit, power) *
                                               static_cast<double>(n)));
}

}  // namespace

Result<Web> Web::Make(const Shape& shape) {
  NEPHILA_TRY(const Shape complete, CompleteShape(shape));
  return Web(complete);
}

Web::Web(const Shape& complete)
    : shape_(complete),
      seed_(Mix(static_cast<uint64_t>(complete.seed), 0x73696D)),
      children_(ChildrenOf(complete)),
      hosts_(static_cast<double>(complete.hosts) /
                 static_cast<double>(complete.plds),
             kHostTail, static_cast<uint64_t>(complete.hosts)),
      pages_(static_cast<double>(complete.pages_per_host), kPageTail,
             static_cast<uint64_t>(complete.largest_site)),
      bytes_(static_cast<double>(complete.page_bytes), kSizeTail,
             complete.largest_page) {
  first_address_ = *ParseIpv4(complete.first_address);
}

uint64_t Web::HostBits(HostId host) const {
  return Mix(Mix(seed_, kHostBits), host.pld, host.host);
}

uint64_t Web::PageBits(PageId page) const {
  return Mix(Mix(HostBits(page.host), kPageBits), page.page);
}

uint64_t Web::HostsOf(uint64_t pld) const {
  return hosts_.At(ToUnit(Mix(seed_, kHostCount, pld)));
}

uint64_t Web::PagesOf(HostId host) const {
  return pages_.At(ToUnit(Mix(HostBits(host), kPageCount)));
}

// Most hosts of a domain are on the domain's server, as most small domains are
// on the server of a large hoster: the squared unit.
AddressList Web::AddressesOf(HostId host) const {
  Draw draw(Mix(HostBits(host), kAddress));
  Draw shared(Mix(seed_, kAddress, host.pld));
  const auto count = static_cast<uint64_t>(shape_.addresses);
  const double unit = draw.Permille(800) ? shared.Unit() : draw.Unit();
  const uint64_t first = Skewed(unit, 2, count);
  AddressList list;
  const size_t wanted =
      draw.Permille(shape_.several_addresses_permille) ? 2 + draw.Below(3) : 1;
  list.size = std::min<size_t>(wanted, count);
  for (size_t i = 0; i < list.size; ++i) {
    list.items[i] = first_address_ + static_cast<uint32_t>((first + i) % count);
  }
  return list;
}

std::string_view Web::WordFor(uint64_t bits, size_t count) const {
  return text_.word(ToBelow(bits, count));
}

void Web::AppendPldName(uint64_t pld, std::string* out) const {
  const uint64_t bits = Mix(seed_, kPldName, pld);
  out->append(WordFor(Mix(bits, 1), 1024)).append(WordFor(Mix(bits, 2), 1024));
  AppendNumber(pld, out);
  out->append(".").append(TextTables::Suffix(Mix(bits, 3)));
}

void Web::AppendHostName(HostId host, std::string* out) const {
  if (host.host == 0) {
    out->append("www.");
  } else if (host.host > 1) {  // 1 is the bare domain
    out->append(WordFor(HostBits(host), 512));
    AppendNumber(host.host, out);
    out->append(".");
  }
  AppendPldName(host.pld, out);
}

std::optional<HostId> Web::FindHost(std::string_view name) const {
  if (name.size() > 253) return std::nullopt;
  std::string made;
  auto equals = [&](HostId host) {
    made.clear();
    AppendHostName(host, &made);
    return made == name;
  };
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  // Either the first label is the domain's, or the second.
  const auto first = NumberAtEnd(name.substr(0, dot));
  if (first && *first < pld_count() && equals({*first, 1}) &&
      HostsOf(*first) > 1) {
    return HostId{*first, 1};
  }
  const std::string_view rest = name.substr(dot + 1);
  const auto second = NumberAtEnd(rest.substr(0, rest.find('.')));
  if (!second || *second >= pld_count()) return std::nullopt;
  const HostId host{*second, name.starts_with("www.") ? 0 : first.value_or(0)};
  if (host.host >= HostsOf(host.pld) || !equals(host)) return std::nullopt;
  return host;
}

// Four ways in which sites name their pages; neighbours share directories.
void Web::AppendPath(PageId page, std::string* out) const {
  if (page.page == 0) {
    out->append("/");
    return;
  }
  const uint64_t host_bits = Mix(HostBits(page.host), kPathWords);
  const std::string_view folder =
      WordFor(Mix(host_bits, page.page / 64, 1), 256);
  const std::string_view leaf = WordFor(Mix(host_bits, page.page, 2), 2048);
  out->append("/").append(folder);
  switch (host_bits & 3) {
    case 0:
      out->append("/").append(leaf).append("-");
      AppendNumber(page.page, out);
      out->append(".html");
      break;
    case 1:
      out->append("/").append(leaf).append("/");
      AppendNumber(page.page, out);
      out->append("/");
      break;
    case 2:
      out->append(".php?id=");
      AppendNumber(page.page, out);
      break;
    default:
      out->append("/")
          .append(WordFor(Mix(host_bits, page.page / 8, 3), 256))
          .append("/")
          .append(leaf)
          .append("-")
          .append(WordFor(Mix(host_bits, page.page, 4), 2048))
          .append("-");
      AppendNumber(page.page, out);
  }
}

void Web::AppendUrl(PageId page, std::string* out) const {
  out->append("http://");
  AppendHostName(page.host, out);
  if (shape_.port != 80 && shape_.port != 0) {
    out->append(":");
    AppendNumber(static_cast<uint64_t>(shape_.port), out);
  }
  AppendPath(page, out);
}

std::optional<PageId> Web::FindPage(HostId host, std::string_view path) const {
  if (path == "/") return PageId{host, 0};
  std::string_view stem = path;
  if (stem.ends_with(".html")) stem.remove_suffix(5);
  if (stem.ends_with('/')) stem.remove_suffix(1);
  const auto number = NumberAtEnd(stem);
  if (!number || *number == 0 || *number >= PagesOf(host)) return std::nullopt;
  const PageId page{host, *number};
  std::string made;
  AppendPath(page, &made);
  if (made != path) return std::nullopt;
  return page;
}

// Links in proportion to bytes: a page with many links has much text around
// them.
PageFacts Web::FactsWith(Draw* draw) const {
  PageFacts facts;
  facts.bytes = bytes_.At(draw->Unit());
  const double share =
      static_cast<double>(facts.bytes) / static_cast<double>(shape_.page_bytes);
  const double links = static_cast<double>(shape_.links) * share;
  facts.links =
      static_cast<uint64_t>(std::llround(links * (0.5 + draw->Unit())));
  // Room for the links to the pages below it.
  const uint64_t children =
      shape_.links == 0 ? 0 : static_cast<uint64_t>(children_) + 1;
  facts.links = std::max(facts.links, children);
  facts.gzip = draw->Permille(shape_.gzip_permille);
  return facts;
}

PageFacts Web::FactsOf(PageId page) const {
  Draw draw(PageBits(page));
  return FactsWith(&draw);
}

WebLink Web::LinkAway(PageId page, Draw* draw) const {
  uint64_t pld =
      Skewed(draw->Unit(), static_cast<double>(shape_.popularity), pld_count());
  if (pld == page.host.pld) pld = (pld + 1) % pld_count();
  const double unit = draw->Unit();
  HostId host{pld, 0};
  // Mostly its first hosts.
  host.host = static_cast<uint64_t>(unit * unit * unit *
                                    static_cast<double>(HostsOf(pld)));
  if (draw->Permille(1000 - shape_.deep_permille)) {
    return {{host, 0}, LinkKind::kHome};
  }
  const uint64_t pages = PagesOf(host);
  if (pages == 1) return {{host, 0}, LinkKind::kHome};
  return {{host, 1 + Skewed(draw->Unit(), 4, pages - 1)}, LinkKind::kDeep};
}

template <typename Take>
void Web::ForEachLink(PageId page, uint64_t links, Draw* draw,
                      Take take) const {
  const uint64_t pages = PagesOf(page.host);
  const auto number = static_cast<double>(page.page);
  // Tiles the numbers from 1 on without a gap.
  uint64_t child = static_cast<uint64_t>(number * children_) + 1;
  const uint64_t end =
      std::min(pages, static_cast<uint64_t>((number + 1) * children_) + 1);
  const uint64_t known = std::max<uint64_t>(1, std::min(child, pages));
  for (uint64_t i = 0; i < links; ++i) {
    const uint64_t children_left = child < end ? end - child : 0;
    const bool inside = draw->Permille(shape_.inside_permille) ||
                        pld_count() == 1 || children_left >= links - i;
    if (inside && children_left > 0) {
      take(WebLink{{page.host, child++}, LinkKind::kChild});
    } else if (inside) {
      const double unit = draw->Unit();
      take(WebLink{{page.host, Skewed(unit * unit, 1, known)},
                   LinkKind::kInside});
    } else {
      take(LinkAway(page, draw));
    }
  }
}

void Web::AppendLinks(PageId page, std::vector<WebLink>* out) const {
  Draw draw(PageBits(page));
  const PageFacts facts = FactsWith(&draw);
  ForEachLink(page, facts.links, &draw,
              [&](const WebLink& link) { out->push_back(link); });
}

// Inside the site by path alone, as most sites have it.
void Web::AppendHref(const PageId& from, const WebLink& link,
                     std::string* out) const {
  if (link.to.host == from.host) {
    AppendPath(link.to, out);
  } else {
    AppendUrl(link.to, out);
  }
}

void Web::AppendPage(PageId page, std::string_view extra,
                     std::string* out) const {
  const uint64_t bits = PageBits(page);
  Draw draw(bits);
  const PageFacts facts = FactsWith(&draw);
  // Text has numbers of its own: the links do not depend on it.
  Draw text(Mix(bits, kTextBits));
  const uint64_t variety = facts.gzip ? kGzipPieces : TextTables::kPieces;
  const uint64_t offset = text.Below(TextTables::kPieces);
  const size_t begin = out->size();
  auto fill_to = [&](uint64_t bytes) {
    while (out->size() - begin < bytes) {
      out->append(text_.piece(offset + text.Below(variety)));
    }
  };
  out->append(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>");
  out->append(WordFor(text.Bits(), 4096)).append(" ");
  out->append(WordFor(text.Bits(), 4096)).append(" ");
  AppendNumber(page.page, out);
  out->append(
      "</title>\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n</head>\n<body>\n");
  uint64_t done = 0;
  ForEachLink(page, facts.links, &draw, [&](const WebLink& link) {
    ++done;
    fill_to(facts.bytes * done / (facts.links + 1));
    out->append("<a class=\"link\" href=\"");
    AppendHref(page, link, out);
    out->append("\">").append(WordFor(text.Bits(), 1024)).append(" ");
    out->append(WordFor(text.Bits(), 1024)).append("</a>\n");
  });
  out->append(extra);
  constexpr std::string_view kEnd = "</body>\n</html>\n";
  fill_to(facts.bytes - std::min<uint64_t>(facts.bytes, 250 + kEnd.size()));
  out->append(kEnd);
}

bool Web::HasRobots(HostId host) const {
  Draw draw(Mix(HostBits(host), kRobotsText));
  return draw.Permille(shape_.robots_permille);
}

// Most allow everything; one in eight closes one of its folders.
void Web::AppendRobots(HostId host, std::string* out) const {
  const uint64_t bits = Mix(HostBits(host), kRobotsText, 2);
  out->append("# robots.txt of ");
  AppendHostName(host, out);
  out->append("\nUser-agent: *\nDisallow: /private/\n");
  if (bits % 8 == 0) {
    out->append("Disallow: /")
        .append(WordFor(Mix(Mix(HostBits(host), kPathWords), 0, 1), 256))
        .append("/\n");
  }
  if (bits % 3 == 0) out->append("\nUser-agent: badbot\nDisallow: /\n");
}

bool Web::IsChunked(HostId host) const {
  Draw draw(Mix(HostBits(host), kRobotsText, 1));
  return draw.Permille(shape_.chunked_permille);
}

void Web::AppendText(uint64_t seed, uint64_t bytes, std::string* out) const {
  Draw draw(Mix(seed_, kTextBits, seed));
  const size_t begin = out->size();
  while (out->size() - begin < bytes) out->append(text_.piece(draw.Bits()));
}

}  // namespace nephila::sim
