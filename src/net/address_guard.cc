#include "net/address_guard.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
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
    // Public by the registry, but Azure answers it inside every machine there
    // (WireServer), with what the machine may know and nobody else.
    {"168.63.129.16/32", "metadata service", false},
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

constexpr std::string_view kThisMachine = "this machine";
constexpr std::string_view kRefusedByJob = "guard.refuse";

Result<std::vector<Network>> ParseNetworks(
    const std::vector<std::string>& texts, std::string_view setting) {
  std::vector<Network> networks;
  networks.reserve(texts.size());
  for (const std::string& text : texts) {
    auto network = Network::Parse(text);
    if (!network) {
      return Unexpected(std::move(network).error().WithContext(setting));
    }
    networks.push_back(*network);
  }
  return networks;
}

bool AnyContains(const std::vector<Network>& networks,
                 const IpAddress& address) {
  return std::any_of(
      networks.begin(), networks.end(),
      [&](const Network& network) { return network.Contains(address); });
}

}  // namespace

Result<std::vector<IpAddress>> MachineAddresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return Unexpected(Error::FromErrno("this machine's addresses", errno));
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list,
                                                               &freeifaddrs);
  std::vector<IpAddress> addresses;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const int family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t size =
        family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    const auto address = IpAddress::FromSockaddr(*entry->ifa_addr, size);
    if (address) addresses.push_back(*address);
  }
  return addresses;
}

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
  NEPHILA_TRY(const auto own, MachineAddresses());
  return Make(settings, own);
}

Result<AddressGuard> AddressGuard::Make(const config::GuardSettings& settings,
                                        std::span<const IpAddress> own) {
  NEPHILA_TRY(auto allow, ParseNetworks(settings.allow, "guard.allow"));
  AddressGuard guard(std::move(allow));
  NEPHILA_TRY(guard.refuse_, ParseNetworks(settings.refuse, "guard.refuse"));
  NEPHILA_TRY(guard.nat64_, ParseNetworks(settings.nat64, "guard.nat64"));
  for (const Network& network : guard.nat64_) {
    if (network.first().is_v4() || network.prefix_bits() != 96) {
      return Unexpected(Error{
          ErrorCode::kInvalidArgument,
          "guard.nat64: " + network.ToString() + " is no prefix of 96 bits"});
    }
  }
  for (const IpAddress& address : own) {
    // Those that are not public have a name that says more.
    const Row* row = guard.Find(address);
    if (row != nullptr && !row->is_public) continue;
    auto& rows = address.is_v4() ? guard.v4_ : guard.v6_;
    // No prefix is longer.
    rows.insert(rows.begin(), {Network::Of(address), kThisMachine, false});
  }
  return guard;
}

const AddressGuard::Row* AddressGuard::Find(const IpAddress& address) const {
  for (const Row& row : address.is_v4() ? v4_ : v6_) {
    if (row.network.Contains(address)) return &row;
  }
  return nullptr;
}

std::string_view AddressGuard::BlockOf(const IpAddress& address) const {
  if (AnyContains(refuse_, address)) return kRefusedByJob;
  // A translator of ours: what it leads to decides, wherever it stands.
  if (AnyContains(nat64_, address)) return "";
  const Row* row = Find(address);
  return row == nullptr || row->is_public ? std::string_view() : row->name;
}

GuardAnswer AddressGuard::Check(const IpAddress& address) const {
  GuardAnswer answer;
  const auto look_inside = [&](uint32_t number, EmbeddedForm form) {
    if (!answer.block.empty()) return;
    answer.block = BlockOf(IpAddress::V4(number));
    if (!answer.block.empty()) answer.embedded = EmbeddedFormName(form);
  };
  answer.block = BlockOf(address);
  if (AnyContains(nat64_, address)) {
    look_inside(address.LastNumber(), EmbeddedForm::kNat64);
  }
  for (const auto& [form, number] : address.EmbeddedV4()) {
    look_inside(number, form);
  }
  if (answer.block.empty()) return answer;
  // What the operator refuses stays refused, whatever else is allowed.
  const bool allowed =
      answer.block != kRefusedByJob && AnyContains(allow_, address);
  answer.verdict = allowed ? GuardVerdict::kAllowed : GuardVerdict::kRefused;
  return answer;
}

std::span<const SpecialBlock> AddressGuard::Blocks() { return kBlocks; }

}  // namespace nephila::net
