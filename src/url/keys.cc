#include "url/keys.h"

#include "base/hash.h"

namespace nephila::url {
namespace {

// The three kinds of key hash with seeds of their own: a host that is its own
// domain must not have its domain's key.
constexpr uint64_t kHostSalt = 0x9e3779b97f4a7c15u;
constexpr uint64_t kPldSalt = 0xc2b2ae3d27d4eb4fu;

uint64_t InShard(uint64_t hash, PldKey pld) {
  return (hash & ~kShardMask) | pld.shard();
}

}  // namespace

Keys MakeKeys(std::string_view canonical, std::string_view host,
              std::string_view pld, uint64_t seed) {
  PldKey pld_key{KeyedHash(pld, seed ^ kPldSalt)};
  return {UrlKey{InShard(KeyedHash(canonical, seed), pld_key)},
          HostKey{InShard(KeyedHash(host, seed ^ kHostSalt), pld_key)},
          pld_key};
}

}  // namespace nephila::url
