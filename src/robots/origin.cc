#include "robots/origin.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/hash.h"
#include "url/canonicalizer.h"
#include "url/keys.h"

namespace nephila::robots {
namespace {

using Refused = Unexpected<std::string_view>;

// Origins hash with a seed of their own: that of http must not have the key of
// a host.
constexpr uint64_t kOriginSalt = 0xa0761d6478bd642fu;

// Names of redirected files are no hashes of anything else.
constexpr uint64_t kTargetSalt = 0xe7037ed1a0b428dbu;

constexpr std::array<std::string_view, 2> kSchemes = {"http://", "https://"};

std::string_view SchemeOf(std::string_view url) {
  for (const std::string_view scheme : kSchemes) {
    if (url.starts_with(scheme)) return scheme;
  }
  return {};
}

// What stands behind the host: a port with its colon, then the rest.
struct Behind {
  std::string_view port;
  std::string_view rest;
};

Behind BehindHost(std::string_view text) {
  // The root's dot names no other host.
  if (text.starts_with('.')) text.remove_prefix(1);
  size_t end = 0;
  if (text.starts_with(':')) {
    end = 1;
    while (end < text.size() && IsDigit(text[end])) ++end;
  }
  return {text.substr(0, end), text.substr(end)};
}

bool BeginsPath(std::string_view rest) {
  return rest.empty() || rest[0] == '/' || rest[0] == '?' || rest[0] == '#';
}

Result<Origin, std::string_view> Make(std::string_view scheme,
                                      std::string_view host,
                                      std::string_view port) {
  Origin origin;
  origin.host_start = static_cast<uint32_t>(scheme.size());
  origin.host_size = static_cast<uint32_t>(host.size());
  origin.text.reserve(scheme.size() + host.size() + port.size() + 1);
  origin.text.append(scheme).append(host).append(port).push_back('/');
  return origin;
}

// As WHATWG serializes hosts: a domain has no last label of digits.
url::HostKind KindOf(std::string_view host) {
  if (host.starts_with('[')) return url::HostKind::kIpv6;
  const std::string_view label = host.substr(host.rfind('.') + 1);
  return std::all_of(label.begin(), label.end(), IsDigit)
             ? url::HostKind::kIpv4
             : url::HostKind::kDomain;
}

}  // namespace

Result<Origin, std::string_view> OriginOf(const item::UrlRecord& record) {
  const std::string_view scheme = SchemeOf(record.url);
  if (scheme.empty()) return Refused("neither http nor https");
  const Behind behind =
      BehindHost(record.url.substr(record.host_start + record.host_size));
  if (record.host_start < scheme.size() || !BeginsPath(behind.rest)) {
    return Refused("the host is not where it should be");
  }
  return Make(scheme, record.host(), behind.port);
}

namespace {

// An origin, and what stands behind it in a URL.
struct Split {
  Origin origin;
  std::string_view rest;
};

Result<Split, std::string_view> SplitUrl(std::string_view text) {
  const std::string_view scheme = SchemeOf(text);
  if (scheme.empty()) return Refused("neither http nor https");
  if (text.size() > item::kMostUrlBytes) return Refused("too long");
  std::string_view rest = text.substr(scheme.size());
  // Colons stand inside the brackets of an IPv6 address.
  const size_t end =
      rest.starts_with('[') ? rest.find(']') + 1 : rest.find_first_of(":/?#@[");
  if (end == 0 || end == std::string_view::npos) return Refused("no host");
  std::string_view host = rest.substr(0, end);
  const Behind behind = BehindHost(rest.substr(end));
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.empty()) return Refused("no host");
  Split split;
  NEPHILA_TRY(split.origin, Make(scheme, host, behind.port));
  split.rest = behind.rest;
  return split;
}

}  // namespace

Result<Origin, std::string_view> ReadOrigin(std::string_view text) {
  NEPHILA_TRY(Split split, SplitUrl(text));
  if (split.rest != "/") return Refused("not the root of a site");
  return std::move(split.origin);
}

Result<Target, std::string_view> TargetOf(std::string_view url, uint64_t seed) {
  NEPHILA_TRY(Split split, SplitUrl(url));
  if (!split.rest.starts_with('/')) return Refused("no path");
  Target target;
  target.origin = std::move(split.origin);
  if (split.rest == "/robots.txt") {
    target.file = OwnFileOf(target.origin);
  } else {
    target.file = KeyedHash(url, seed ^ kTargetSalt) | kTargetFile;
    target.url = url;
  }
  return target;
}

FileId OwnFileOf(const Origin& origin) {
  const bool https = origin.host_start == kSchemes[1].size();
  std::string_view port = std::string_view(origin.text)
                              .substr(origin.host_start + origin.host_size);
  uint16_t number = https ? 443 : 80;
  if (port.starts_with(':')) {
    number = 0;
    for (const char digit : port.substr(1)) {
      if (!IsDigit(digit)) break;
      number = static_cast<uint16_t>(number * 10 + (digit - '0'));
    }
  }
  return AuthorityFile(number, https);
}

std::string_view PathOf(const item::UrlRecord& record) {
  const Behind behind =
      BehindHost(record.url.substr(record.host_start + record.host_size));
  return behind.rest.substr(0, behind.rest.find('#'));
}

uint32_t PldSizeOf(const Origin& origin,
                   const url::PublicSuffixList& suffixes) {
  const std::string_view host = origin.host();
  return static_cast<uint32_t>(
      url::PayLevelDomain(host, KindOf(host), suffixes).size());
}

uint64_t HostKeyOf(const Origin& origin, uint32_t pld_size, uint64_t seed) {
  const std::string_view host = origin.host();
  const std::string_view pld = host.substr(host.size() - pld_size);
  return url::MakeKeys({}, host, pld, seed).host.value;
}

uint64_t OriginKey(const Origin& origin, uint32_t pld_size, uint64_t seed) {
  const std::string_view host = origin.host();
  const std::string_view pld = host.substr(host.size() - pld_size);
  const uint32_t shard = url::MakeKeys({}, {}, pld, seed).pld.shard();
  return (KeyedHash(origin.text, seed ^ kOriginSalt) & ~url::kShardMask) |
         shard;
}

}  // namespace nephila::robots
