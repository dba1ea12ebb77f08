// Origin: what a robots.txt speaks for, a scheme, a host and a port (RFC 9309
// s2.3, RFC 6454).
//
// Its name is the canonical URL of its root, "http://a.test:8080/". RobotsCache
// has one record for each host, with a file for each of its authorities
// (robots_record.h); jobs of older versions have one for each origin. Both keys
// are in the shard of the host's domain (url/keys.h), so that RobotsCache
// splits by shard as every store does.
//   In: canonical URLs of http and https   Out: names, keys, paths
//   Threads: any. Cost: about that of copying the name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "item/url_record.h"
#include "robots/robots_record.h"
#include "url/public_suffix.h"

namespace nephila::robots {

struct Origin {
  std::string text;
  uint32_t host_start = 0;  // in `text`
  uint32_t host_size = 0;   // without a dot at its end

  std::string_view host() const {
    return std::string_view(text).substr(host_start, host_size);
  }
  bool operator==(const Origin&) const = default;
};

// Of a URL; the error is why it has none, a constant.
Result<Origin, std::string_view> OriginOf(const item::UrlRecord& record);
// The origin of this name. Names are bytes of a peer: all else is refused.
Result<Origin, std::string_view> ReadOrigin(std::string_view text);

// The part of a record's URL that rules speak of, as MatchedPart (matcher.h):
// path and query. Empty means "/". REQUIRES: OriginOf(record) has one.
std::string_view PathOf(const item::UrlRecord& record);

// How many of the host's last bytes are its pay-level domain.
uint32_t PldSizeOf(const Origin& origin, const url::PublicSuffixList& suffixes);

// Of its host: the HostKey of url/keys.h.
uint64_t HostKeyOf(const Origin& origin, uint32_t pld_size, uint64_t seed);
// Of the origin itself, in jobs of older versions.
uint64_t OriginKey(const Origin& origin, uint32_t pld_size, uint64_t seed);

// Its robots.txt, as a file of its host.
FileId OwnFileOf(const Origin& origin);

// A URL that a robots.txt is redirected to: the origin that it is requested
// from, and which of its files it is.
struct Target {
  Origin origin;
  FileId file = 0;
  // Empty if it is the robots.txt of that origin.
  std::string_view url;
};
// `url`: as the URL parser writes it, without user and fragment. The error is
// why it is none, a constant.
Result<Target, std::string_view> TargetOf(std::string_view url, uint64_t seed);

}  // namespace nephila::robots
