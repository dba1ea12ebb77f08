// AddressGuard: which addresses the crawler may connect to.
//
// Only public ones, unless a network is allowed by name (`guard.allow`): else
// a page or a DNS answer could make the crawler ask the routers, databases and
// metadata services around it. The blocks are those of IANA's special-purpose
// registries (RFC 6890) that are not globally reachable, multicast, and all of
// IPv6 outside 2000::/3, of which nothing is public; besides them the addresses
// of this machine as they are at the start, since what listens there may trust
// whoever comes from it, and the networks of `guard.refuse`. An IPv6 address
// that stands for an IPv4 one is refused with it.
//   In: addresses, hostile   Out: a verdict and the block's name
//   Threads: any; it never changes. Cost: some 50 comparisons, below 0.5 us;
//   no allocation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "net/ip_address.h"

namespace nephila::net {

enum class GuardVerdict : uint8_t {
  kPublic,
  kAllowed,  // not public, but in a network that the job allows
  kRefused,
};

struct GuardAnswer {
  GuardVerdict verdict = GuardVerdict::kPublic;
  // Why it is not public: a constant such as "loopback"; "" if it is. What is
  // allowed has it too.
  std::string_view block;
  // "6to4" and the like where the IPv4 address inside is what is not public.
  std::string_view embedded;

  bool refused() const { return verdict == GuardVerdict::kRefused; }
  // "loopback", "private use inside 6to4".
  std::string Reason() const;
};

// A row of the table: of all that contain an address the longest decides.
struct SpecialBlock {
  std::string_view network;
  std::string_view name;
  bool is_public;
};

class AddressGuard {
 public:
  explicit AddressGuard(std::vector<Network> allow = {});
  // An error names the setting and the text.
  static Result<AddressGuard> Make(const config::GuardSettings& settings);
  // With these as the machine's own addresses.
  static Result<AddressGuard> Make(const config::GuardSettings& settings,
                                   std::span<const IpAddress> own);

  // An allowed network speaks of the addresses as they are written: to allow
  // 127.0.0.0/8 does not allow ::ffff:127.0.0.1.
  GuardAnswer Check(const IpAddress& address) const;

  // The table, for its tests.
  static std::span<const SpecialBlock> Blocks();

 private:
  struct Row {
    Network network;
    std::string_view name;
    bool is_public;
  };

  const Row* Find(const IpAddress& address) const;
  // Why this very address is not public, "" if it is.
  std::string_view BlockOf(const IpAddress& address) const;

  // The longer prefixes first: the first that contains an address decides.
  std::vector<Row> v4_;
  std::vector<Row> v6_;
  std::vector<Network> allow_;
  std::vector<Network> refuse_;
  std::vector<Network> nat64_;
};

// Those of all of this machine's interfaces.
Result<std::vector<IpAddress>> MachineAddresses();

}  // namespace nephila::net
