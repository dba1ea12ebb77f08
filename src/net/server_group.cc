#include "net/server_group.h"

#include <algorithm>
#include <array>
#include <utility>

namespace nephila::net {
namespace {

constexpr size_t kGroupBytes = 8;

}  // namespace

ServerGroups::ServerGroups(std::vector<Network> nat64)
    : nat64_(std::move(nat64)) {}

ServerGroups ServerGroups::Of(const config::GuardSettings& settings) {
  std::vector<Network> nat64;
  for (const std::string& item : settings.nat64) {
    if (const auto network = Network::Parse(item)) nat64.push_back(*network);
  }
  return ServerGroups(std::move(nat64));
}

bool ServerGroups::IsWhole(const IpAddress& address) const {
  if (address.is_v4()) return true;
  for (const IpAddress::Embedded& embedded : address.EmbeddedV4()) {
    switch (embedded.form) {
      case EmbeddedForm::kMapped:
      case EmbeddedForm::kCompatible:
      case EmbeddedForm::kNat64:
      case EmbeddedForm::kNat64Local:
        return true;
      case EmbeddedForm::k6to4:
      case EmbeddedForm::kTeredoServer:
      case EmbeddedForm::kTeredoClient:
      case EmbeddedForm::kIsatap:
        break;
    }
  }
  return std::any_of(nat64_.begin(), nat64_.end(), [&](const Network& network) {
    return network.Contains(address);
  });
}

IpAddress ServerGroups::FirstOf(const IpAddress& address) const {
  if (IsWhole(address)) return address;
  std::array<uint8_t, 16> bytes{};
  std::copy_n(address.bytes().begin(), kGroupBytes, bytes.begin());
  return IpAddress::V6(bytes);
}

std::string ServerGroups::NameOf(const IpAddress& address) const {
  std::string name = FirstOf(address).ToString();
  if (!IsWhole(address)) name.append("/64");
  return name;
}

}  // namespace nephila::net
