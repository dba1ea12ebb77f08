// BlockLine: a line of a black list, read (docs/scope.md).
//
//   url URL           that URL
//   host NAME         the host, and those under it
//   domain NAME       the pay-level domain
//   surt PREFIX       URLs whose SURT begins so (url/surt.h)
//   address ADDRESS   the address, or a network: 192.0.2.0/24
// Empty lines, and those that begin with '#', say nothing.
//   In: text of a user, hostile   Out: what it blocks, or why it is no line
//   Threads: any; one Canonicalizer each.   Cost: that of parsing a URL.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/ip_address.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"

namespace nephila::scope {

enum class BlockKind : uint8_t { kUrl, kHost, kDomain, kSurt, kAddress };
inline constexpr std::array<std::string_view, 5> kBlockKindNames = {
    "url", "host", "domain", "surt", "address"};

struct BlockLine {
  BlockKind kind = BlockKind::kUrl;
  std::string text;      // canonical: of all kinds but kAddress
  net::Network network;  // of kAddress
};

// Nothing for a line that says nothing. The error is one printable line
// without the place.
Result<std::optional<BlockLine>> ReadBlockLine(
    std::string_view line, url::Canonicalizer& canonicalizer,
    const url::PublicSuffixList& suffixes);

}  // namespace nephila::scope
