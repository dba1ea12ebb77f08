// Scope: which URLs belong to a crawl, between `url` and `seen`.
//
// A crawl of all has no bounds but those of depth. A crawl of sites stays on
// the sites of its seeds, and on those that a seed redirects to: who asks for
// example.com means www.example.net if that is where it lives now. A site is a
// registrable domain by ICANN's and private rules (alice.github.io is one), or
// an address.
//   In: UrlRecords   Out: whether they belong, and if not why
//   Threads: one   Memory: the names of the sites   Cost: a lookup of the
//   suffix list and a hash
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/bytes.h"
#include "config/settings.h"
#include "item/url_record.h"
#include "url/public_suffix.h"

namespace nephila::crawl {

enum class ScopeDrop : uint8_t { kOtherSite, kTooDeep };
inline constexpr std::array<std::string_view, 2> kScopeDropNames = {
    "other-site", "too-deep"};

class Scope {
 public:
  // `suffixes` outlives it.
  Scope(const config::ScopeSettings& settings,
        const url::PublicSuffixList& suffixes);

  // What a seed asks for, or redirects to, belongs to the crawl with its site.
  void Widen(std::string_view host);
  // Why it does not belong; nothing if it does.
  std::optional<ScopeDrop> Refuses(const item::UrlRecord& record) const;

  size_t sites() const { return sites_.size(); }
  void Write(ByteWriter& writer) const;
  bool Read(ByteReader& reader);

 private:
  std::string_view SiteOf(std::string_view host) const;

  const config::ScopeSettings settings_;
  const url::PublicSuffixList& suffixes_;
  std::unordered_set<std::string> sites_;
};

}  // namespace nephila::crawl
