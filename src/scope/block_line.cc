#include "scope/block_line.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/text.h"
#include "url/host.h"
#include "url/surt.h"

namespace nephila::scope {
namespace {

// Shown of what is wrong.
constexpr size_t kLongestShown = 200;

std::string Shown(std::string_view text) {
  return "'" + EscapeForTerminal(text.substr(0, kLongestShown)) + "'";
}

Unexpected<Error> Wrong(std::string message) {
  return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

struct Host {
  std::string name;
  url::HostKind kind = url::HostKind::kDomain;
};

// As URLs have it: in small letters, by IDNA, without a dot at its end.
std::optional<Host> ReadHost(std::string_view text) {
  Host host;
  // A port or a path is no part of a host.
  if (text.empty() || text.find_first_of("/?#@") != std::string_view::npos) {
    return std::nullopt;
  }
  // An IPv6 address may come without its brackets.
  const auto address = net::IpAddress::Parse(text);
  const std::string written = address && address->is_v6()
                                  ? "[" + std::string(text) + "]"
                                  : std::string(text);
  const auto kind = url::AppendHost(written, /*special=*/true, &host.name);
  if (!kind) return std::nullopt;
  host.kind = *kind;
  if (host.kind == url::HostKind::kDomain) {
    if (!url::IsDnsName(host.name)) return std::nullopt;
    if (host.name.ends_with('.')) host.name.pop_back();
  }
  return host;
}

Result<BlockLine> ReadHostLine(std::string_view value) {
  auto host = ReadHost(value);
  if (!host) return Wrong(Shown(value) + " is no name of a host");
  return BlockLine{BlockKind::kHost, std::move(host->name), {}};
}

Result<BlockLine> ReadDomainLine(std::string_view value,
                                 const url::PublicSuffixList& suffixes) {
  auto host = ReadHost(value);
  if (!host) return Wrong(Shown(value) + " is no name of a domain");
  const std::string_view domain =
      url::PayLevelDomain(host->name, host->kind, suffixes);
  // To block more than what is written would be a surprise, and less too.
  if (domain != host->name) {
    return Wrong(Shown(value) + " is no pay-level domain: that is " +
                 Shown(domain) + "; to block a host, write 'host'");
  }
  return BlockLine{BlockKind::kDomain, std::move(host->name), {}};
}

Result<BlockLine> ReadUrlLine(std::string_view value,
                              url::Canonicalizer& canonicalizer) {
  const auto canonical = canonicalizer.Canonicalize(value, nullptr);
  if (!canonical) {
    return Wrong(Shown(value) + " is no URL that could be crawled: " +
                 std::string(url::DropReasonName(canonical.error())));
  }
  return BlockLine{BlockKind::kUrl, std::string(canonical->href), {}};
}

}  // namespace

Result<std::optional<BlockLine>> ReadBlockLine(
    std::string_view line, url::Canonicalizer& canonicalizer,
    const url::PublicSuffixList& suffixes) {
  line = TrimSpaces(line);
  if (line.empty() || line.starts_with('#')) return std::optional<BlockLine>();
  const size_t space = static_cast<size_t>(
      std::find_if(line.begin(), line.end(), IsSpace) - line.begin());
  const std::string kind = LowerAscii(line.substr(0, space));
  const std::string_view value = TrimSpaces(line.substr(space));
  const auto found =
      std::find(kBlockKindNames.begin(), kBlockKindNames.end(), kind);
  if (found == kBlockKindNames.end() || value.empty()) {
    return Wrong(Shown(line) +
                 " is none of: url URL, host NAME, domain NAME, surt PREFIX, "
                 "address ADDRESS or NETWORK");
  }
  switch (static_cast<BlockKind>(found - kBlockKindNames.begin())) {
    case BlockKind::kUrl: {
      NEPHILA_TRY(BlockLine read, ReadUrlLine(value, canonicalizer));
      return std::optional(std::move(read));
    }
    case BlockKind::kHost: {
      NEPHILA_TRY(BlockLine read, ReadHostLine(value));
      return std::optional(std::move(read));
    }
    case BlockKind::kDomain: {
      NEPHILA_TRY(BlockLine read, ReadDomainLine(value, suffixes));
      return std::optional(std::move(read));
    }
    case BlockKind::kSurt: {
      auto prefix = url::ReadSurtPrefix(value);
      if (!prefix) return Wrong(Shown(value) + " is no SURT prefix");
      return std::optional(BlockLine{BlockKind::kSurt, *std::move(prefix), {}});
    }
    case BlockKind::kAddress: {
      NEPHILA_TRY(const net::Network network, net::Network::Parse(value));
      return std::optional(BlockLine{BlockKind::kAddress, "", network});
    }
  }
  return std::optional<BlockLine>();
}

}  // namespace nephila::scope
