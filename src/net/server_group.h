// ServerGroups: which addresses count as one server.
//
// Politeness has one clock for each server. An IPv4 address is a server. A
// customer of an IPv6 network gets 2^64 addresses and more, so a clock for each
// address would bound nothing: all addresses of a /64 are one server. The
// exceptions are addresses that stand for one IPv4 address each: IPv4-mapped
// and IPv4-compatible ones, those of NAT64 (RFC 6052, RFC 8215), and those
// under the prefixes of `guard.nat64`.
//   In: addresses, hostile   Out: the first address of the server's group
//   Threads: any; it never changes. Cost: some comparisons, no allocation.
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"
#include "net/ip_address.h"

namespace nephila::net {

class ServerGroups {
 public:
  ServerGroups() = default;
  explicit ServerGroups(std::vector<Network> nat64);
  // Items of `guard.nat64` that are no network are left out:
  // AddressGuard::Make reports them.
  static ServerGroups Of(const config::GuardSettings& settings);

  // Two addresses with the same result are one server. The result is its own
  // result.
  IpAddress FirstOf(const IpAddress& address) const;
  // The group as text: "192.0.2.1", "2001:db8::/64".
  std::string NameOf(const IpAddress& address) const;

 private:
  bool IsWhole(const IpAddress& address) const;

  std::vector<Network> nat64_;
};

}  // namespace nephila::net
