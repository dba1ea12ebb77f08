#include "net/server_group.h"

#include <gtest/gtest.h>

#include <string_view>

namespace nephila::net {
namespace {

std::string NameOf(const ServerGroups& groups, std::string_view text) {
  const auto address = IpAddress::Parse(text);
  EXPECT_TRUE(address.has_value()) << text;
  const IpAddress first = groups.FirstOf(*address);
  EXPECT_EQ(groups.FirstOf(first), first) << text;
  return groups.NameOf(*address);
}

TEST(ServerGroups, AddressesOfOneSlash64AreOneServer) {
  const ServerGroups groups;
  EXPECT_EQ(NameOf(groups, "2600:1:2:3::1"), "2600:1:2:3::/64");
  EXPECT_EQ(NameOf(groups, "2600:1:2:3:ffff::9"), "2600:1:2:3::/64");
  EXPECT_EQ(NameOf(groups, "2600:1:2:4::1"), "2600:1:2:4::/64");
  EXPECT_EQ(NameOf(groups, "2002:808:808::1"), "2002:808:808::/64");
}

TEST(ServerGroups, EveryIpv4AddressIsAServer) {
  const ServerGroups groups;
  EXPECT_EQ(NameOf(groups, "192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(NameOf(groups, "192.0.2.2"), "192.0.2.2");
  EXPECT_EQ(NameOf(groups, "::ffff:192.0.2.1"), "::ffff:192.0.2.1");
  EXPECT_EQ(NameOf(groups, "64:ff9b::192.0.2.1"), "64:ff9b::c000:201");
  EXPECT_EQ(NameOf(groups, "64:ff9b:1::192.0.2.1"), "64:ff9b:1::c000:201");
}

TEST(ServerGroups, AnAddressOfTheNetworksNat64IsAServer) {
  config::GuardSettings settings;
  settings.nat64 = {"2001:db8:64::/96", "no network"};
  const ServerGroups groups = ServerGroups::Of(settings);
  EXPECT_EQ(NameOf(groups, "2001:db8:64::192.0.2.1"), "2001:db8:64::c000:201");
  EXPECT_EQ(NameOf(groups, "2001:db8:65::1"), "2001:db8:65::/64");
}

}  // namespace
}  // namespace nephila::net
