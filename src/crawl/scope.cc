#include "crawl/scope.h"

#include <algorithm>
#include <vector>

#include "url/canonicalizer.h"

namespace nephila::crawl {

Scope::Scope(const config::ScopeSettings& settings,
             const url::PublicSuffixList& suffixes)
    : settings_(settings), suffixes_(suffixes) {}

std::string_view Scope::SiteOf(std::string_view host) const {
  if (settings_.bounds == config::ScopeBounds::kHost) return host;
  return url::SiteOf(host, suffixes_);
}

void Scope::Widen(std::string_view host) {
  if (settings_.bounds == config::ScopeBounds::kAll) return;
  sites_.emplace(SiteOf(host));
}

std::optional<ScopeDrop> Scope::Refuses(const item::UrlRecord& record) const {
  if (settings_.max_depth > 0 &&
      record.depth > static_cast<uint64_t>(settings_.max_depth)) {
    return ScopeDrop::kTooDeep;
  }
  if (settings_.bounds == config::ScopeBounds::kAll) return std::nullopt;
  if (!sites_.contains(std::string(SiteOf(record.host())))) {
    return ScopeDrop::kOtherSite;
  }
  return std::nullopt;
}

void Scope::Write(ByteWriter& writer) const {
  std::vector<std::string_view> sites(sites_.begin(), sites_.end());
  std::sort(sites.begin(), sites.end());
  writer.Varint(sites.size());
  for (const std::string_view site : sites) writer.Sized(site);
}

bool Scope::Read(ByteReader& reader) {
  const auto count = reader.Varint();
  if (!count.has_value()) return false;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto site = reader.Sized();
    if (!site.has_value()) return false;
    sites_.emplace(*site);
  }
  return true;
}

}  // namespace nephila::crawl
