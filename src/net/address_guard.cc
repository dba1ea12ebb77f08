#include "net/address_guard.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"

namespace nephila::net {
namespace {

// IANA's registries of special-purpose addresses for IPv4 and IPv6. The
// anycast addresses of PCP, TURN and SRP (192.0.0.9 and 10, 2001:1::1 to 3)
// are globally reachable there, but what they reach is the nearest gateway,
// which is ours: they stay in their refused block.
constexpr std::array kBlocks = std::to_array<SpecialBlock>({
    {"0.0.0.0/8", "this network", false},
    {"10.0.0.0/8", "private use", false},
    {"100.64.0.0/10", "shared address space", false},
    {"127.0.0.0/8", "loopback", false},
    {"169.254.0.0/16", "link-local", false},
    {"172.16.0.0/12", "private use", false},
    {"192.0.0.0/24", "protocol assignments", false},
    {"192.0.2.0/24", "documentation", false},
    {"192.88.99.0/24", "6to4 relay", false},
    {"192.168.0.0/16", "private use", false},
    {"198.18.0.0/15", "benchmarking", false},
    {"198.51.100.0/24", "documentation", false},
    {"203.0.113.0/24", "documentation", false},
    {"224.0.0.0/4", "multicast", false},
    {"240.0.0.0/4", "reserved", false},
    {"255.255.255.255/32", "broadcast", false},

    {"::/0", "not global unicast", false},
    {"::/128", "unspecified", false},
    {"::1/128", "loopback", false},
    {"::/96", "IPv4-compatible", false},
    {"::ffff:0:0/96", "IPv4-mapped", false},
    {"64:ff9b::/96", "", true},
    {"64:ff9b:1::/48", "local NAT64", false},
    {"100::/64", "discard-only", false},
    {"100:0:0:1::/64", "dummy prefix", false},
    {"2000::/3", "", true},
    {"2001::/23", "protocol assignments", false},
    {"2001::/32", "", true},  // Teredo: what is inside decides
    {"2001:2::/48", "benchmarking", false},
    {"2001:3::/32", "", true},      // AMT
    {"2001:4:112::/48", "", true},  // AS112
    {"2001:10::/28", "ORCHID", false},
    {"2001:20::/28", "", true},  // ORCHIDv2
    {"2001:30::/28", "", true},  // drone remote ID
    {"2001:db8::/32", "documentation", false},
    {"3fff::/20", "documentation", false},
    {"5f00::/16", "segment routing", false},
    {"fc00::/7", "unique local", false},
    {"fe80::/10", "link-local", false},
    {"fec0::/10", "site-local", false},
    {"ff00::/8", "multicast", false},
});

}  // namespace

std::string GuardAnswer::Reason() const {
  std::string reason(block);
  if (!embedded.empty()) reason.append(" inside ").append(embedded);
  return reason;
}

AddressGuard::AddressGuard(std::vector<Network> allow)
    : allow_(std::move(allow)) {
  for (const SpecialBlock& block : kBlocks) {
    const auto network = Network::Parse(block.network);
    NEPHILA_CHECK(network.has_value());
    auto& rows = network->first().is_v4() ? v4_ : v6_;
    rows.push_back({*network, block.name, block.is_public});
  }
  for (auto* rows : {&v4_, &v6_}) {
    std::stable_sort(rows->begin(), rows->end(),
                     [](const Row& a, const Row& b) {
                       return a.network.prefix_bits() > b.network.prefix_bits();
                     });
  }
}

Result<AddressGuard> AddressGuard::Make(const config::GuardSettings& settings) {
  std::vector<Network> allow;
  allow.reserve(settings.allow.size());
  for (const std::string& text : settings.allow) {
    auto network = Network::Parse(text);
    if (!network) {
      return Unexpected(std::move(network).error().WithContext("guard.allow"));
    }
    allow.push_back(*network);
  }
  return AddressGuard(std::move(allow));
}

const AddressGuard::Row* AddressGuard::Find(const IpAddress& address) const {
  for (const Row& row : address.is_v4() ? v4_ : v6_) {
    if (row.network.Contains(address)) return &row;
  }
  return nullptr;
}

GuardAnswer AddressGuard::Check(const IpAddress& address) const {
  GuardAnswer answer;
  const Row* row = Find(address);
  if (row != nullptr && !row->is_public) {
    answer.verdict = GuardVerdict::kRefused;
    answer.block = row->name;
  } else {
    for (const auto& [form, number] : address.EmbeddedV4()) {
      const Row* inner = Find(IpAddress::V4(number));
      if (inner == nullptr || inner->is_public) continue;
      answer.verdict = GuardVerdict::kRefused;
      answer.block = inner->name;
      answer.embedded = EmbeddedFormName(form);
      break;
    }
  }
  if (!answer.refused()) return answer;
  for (const Network& network : allow_) {
    if (network.Contains(address)) {
      answer.verdict = GuardVerdict::kAllowed;
      break;
    }
  }
  return answer;
}

std::span<const SpecialBlock> AddressGuard::Blocks() { return kBlocks; }

}  // namespace nephila::net
