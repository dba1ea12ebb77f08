// UrlKey, HostKey, PldKey: the 64-bit names by which the crawl knows things.
//
// A PldKey is a keyed hash of the pay-level domain; its low 10 bits are the
// domain's virtual shard. UrlKey and HostKey are keyed hashes whose low 10
// bits are the shard of their domain, so that a file sorted by key can be
// filtered by shard in one pass and each domain belongs to one owner. The seed
// is fixed when a job is made: keys reach disk.
//
// Collisions (two URLs, one key: the second is taken for seen): only within a
// shard, where 54 bits differ. n URLs spread over the shards lose n^2 / 2^65,
// as with 64 bits: 1 in a crawl of 6 billion. n URLs of ONE domain lose
// n^2 / 2^55: 0.3 of a hundred million, 28 of a billion.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace nephila::url {

inline constexpr int kShardBits = 10;
inline constexpr uint64_t kShardMask = (uint64_t{1} << kShardBits) - 1;

struct PldKey {
  uint64_t value;
  uint32_t shard() const { return static_cast<uint32_t>(value & kShardMask); }
  auto operator<=>(const PldKey&) const = default;
};

struct HostKey {
  uint64_t value;
  uint32_t shard() const { return static_cast<uint32_t>(value & kShardMask); }
  auto operator<=>(const HostKey&) const = default;
};

struct UrlKey {
  uint64_t value;
  uint32_t shard() const { return static_cast<uint32_t>(value & kShardMask); }
  auto operator<=>(const UrlKey&) const = default;
};

struct Keys {
  UrlKey url;
  HostKey host;
  PldKey pld;
  bool operator==(const Keys&) const = default;
};

// `canonical`: the normalised URL; `host` without port; `pld` of that host.
Keys MakeKeys(std::string_view canonical, std::string_view host,
              std::string_view pld, uint64_t seed);

}  // namespace nephila::url
