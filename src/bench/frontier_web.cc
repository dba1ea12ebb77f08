#include "bench/frontier_web.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/bytes.h"
#include "url/record_keys.h"

namespace nephila::bench {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr std::string_view kFolder = "/p/";
constexpr int kBase = 36;
// Of a hundred new links of a page, those inside its site.
constexpr uint32_t kInsideOfHundred = 60;
constexpr uint64_t kMostHosts = 1000;

void AppendNumber(uint64_t number, std::string& out) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                 number, kBase);
  out.append(digits.data(), end.ptr);
}

// The number of a page, by its path; 0 for a home page.
uint64_t NumberOf(const item::UrlRecord& page) {
  const std::string_view path =
      page.url.substr(page.host_start + page.host_size);
  if (!path.starts_with(kFolder)) return 0;
  uint64_t number = 0;
  std::from_chars(path.data() + kFolder.size(), path.data() + path.size(),
                  number, kBase);
  return number;
}

// New links of a page that lead to its own site come first.
uint32_t InsideOf(const FrontierWebShape& shape) {
  return shape.new_links * kInsideOfHundred / 100;
}

}  // namespace

void FrontierWeb::SetSite(uint64_t domain, std::string_view host) {
  url_.assign(kScheme).append(host).append(".d");
  const size_t domain_start = kScheme.size() + host.size() + 1;
  AppendNumber(domain, url_);
  url_ += ".com";
  next_.host_start = static_cast<uint32_t>(kScheme.size());
  next_.host_size = static_cast<uint32_t>(url_.size() - kScheme.size());
  next_.pld_size = static_cast<uint32_t>(url_.size() - domain_start);
}

void FrontierWeb::SetPath(uint64_t number) {
  if (number == 0) {
    url_ += '/';
    return;
  }
  url_ += kFolder;
  AppendNumber(number, url_);
}

uint64_t FrontierWeb::DrawDomain() {
  // Zipf's law with an exponent of 1: the logarithm of the rank is uniform.
  const auto rank =
      static_cast<uint64_t>(std::exp(random_.Uniform() * log_domains_));
  return std::min(rank - 1, shape_.domains - 1);
}

void FrontierWeb::DrawSite() {
  const uint64_t domain = DrawDomain();
  const uint64_t hosts =
      std::clamp<uint64_t>(shape_.domains / 100 / (domain + 1), 1, kMostHosts);
  const uint64_t host = random_.Below(2) == 0 ? 0 : random_.Below(hosts);
  if (host == 0) {
    SetSite(domain, "www");
    return;
  }
  std::string name = "h";
  AppendNumber(host, name);
  SetSite(domain, name);
}

void FrontierWeb::AppendSeed(uint64_t n, std::string& links) {
  SetSite(n, "www");
  SetPath(0);
  item::UrlRecord record = next_;
  record.url = url_;
  record.flags = item::kFromSeed;
  bytes_.clear();
  AppendUrlRecord(record, bytes_);
  ByteWriter(links).Sized(bytes_);
}

void FrontierWeb::AppendLink(crawl::FinishedVisit& visit) {
  next_.url = url_;
  next_.hop_path = hops_;
  bytes_.clear();
  AppendUrlRecord(next_, bytes_);
  ByteWriter(visit.links).Sized(bytes_);
  ++next_.ordinal;
}

void FrontierWeb::AppendInside(const item::UrlRecord& page, uint64_t number,
                               crawl::FinishedVisit& visit) {
  url_.assign(page.url.substr(0, page.host_start + page.host_size));
  next_.host_start = page.host_start;
  next_.host_size = page.host_size;
  next_.pld_size = page.pld_size;
  SetPath(number);
  AppendLink(visit);
}

void FrontierWeb::AppendOutside(uint64_t number, crawl::FinishedVisit& visit) {
  DrawSite();
  SetPath(number);
  AppendLink(visit);
  pairs_.Add(from_, url::KeysOf(next_, seed_).pld);
}

void FrontierWeb::AddLinks(const item::UrlRecord& page,
                           crawl::FinishedVisit& visit) {
  pairs_.Clear();
  from_ = url::KeysOf(page, seed_).pld;
  hops_.clear();
  item::AppendHop(page.hop_path, 'L', hops_);
  next_ = {};
  next_.depth = page.depth + 1;
  next_.parent = page.url;
  next_.discovered = visit.when;
  next_.entry = visit.entry;

  const uint32_t inside = InsideOf(shape_);
  for (uint32_t i = 0; i < shape_.new_links; ++i) {
    ++pages_;
    if (i < inside) {
      AppendInside(page, pages_, visit);
    } else {
      AppendOutside(pages_, visit);
    }
  }
  // Siblings have numbers of the same page's: all are of this site if this is.
  const uint64_t number = NumberOf(page);
  const uint64_t place =
      number == 0 ? 0 : (number - 1) % std::max(shape_.new_links, 1U);
  const bool has_siblings = number > 0 && place < inside;
  for (uint32_t i = shape_.new_links; i < shape_.links; ++i) {
    if (has_siblings && i % 2 == 0) {
      AppendInside(page, number - place + random_.Below(inside), visit);
    } else {
      AppendOutside(0, visit);
    }
  }
  visit.edges.assign(pairs_.pairs().begin(), pairs_.pairs().end());
  visit.found.links = shape_.links;
  visit.found.out = shape_.links;
}

}  // namespace nephila::bench
