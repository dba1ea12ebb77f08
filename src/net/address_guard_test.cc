#include "net/address_guard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace nephila::net {
namespace {

IpAddress Ip(std::string_view text) {
  const auto address = IpAddress::Parse(text);
  EXPECT_TRUE(address.has_value()) << text;
  return address.value_or(IpAddress());
}

std::string ReasonOf(const AddressGuard& guard, std::string_view text) {
  const GuardAnswer answer = guard.Check(Ip(text));
  return answer.refused() ? answer.Reason() : "";
}

// What stands before the first and behind the last address of a network.
IpAddress Neighbour(const IpAddress& address, int step) {
  std::string bytes(reinterpret_cast<const char*>(address.bytes().data()),
                    address.bytes().size());
  for (size_t i = bytes.size(); i-- > 0;) {
    const int sum = static_cast<uint8_t>(bytes[i]) + step;
    bytes[i] = static_cast<char>(sum);
    if (sum >= 0 && sum <= 255) break;
  }
  return IpAddress::FromBytes(bytes).value_or(IpAddress());
}

TEST(AddressGuard, EveryBlockIsRefusedFromItsFirstToItsLastAddress) {
  const AddressGuard guard;
  size_t refused = 0;
  for (const SpecialBlock& block : AddressGuard::Blocks()) {
    const auto network = Network::Parse(block.network);
    ASSERT_TRUE(network) << block.network;
    EXPECT_EQ(block.name.empty(), block.is_public);
    if (block.is_public) continue;
    ++refused;
    EXPECT_TRUE(guard.Check(network->first()).refused()) << block.network;
    EXPECT_TRUE(guard.Check(network->Last()).refused()) << block.network;
  }
  EXPECT_GE(refused, 32U);
}

TEST(AddressGuard, WhatMustNeverBeReachedWhateverTheTableSays) {
  const AddressGuard guard;
  for (const std::string_view text :
       {"0.0.0.0", "0.255.255.255", "10.0.0.1", "100.64.0.1", "127.0.0.1",
        "127.255.255.254", "169.254.169.254", "169.254.170.2", "172.16.0.1",
        "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1",
        "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
        "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1",
        "255.255.255.255",
        // The metadata services: Azure's, Alibaba's, Amazon's, Google's.
        "168.63.129.16", "100.100.100.200", "fd00:ec2::254", "fd20:ce::254",
        "::", "::1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::10.0.0.1",
        "64:ff9b::168.63.129.16", "64:ff9b:1::1", "100::1", "2001:db8::1",
        "2002:a83f:8110::1", "2002:7f00:1::1", "2600::5efe:10.0.0.1",
        "2600::200:5efe:127.0.0.1", "3fff::1", "5f00::1", "fc00::1", "fe80::1",
        "fec0::1", "ff02::1"}) {
    EXPECT_TRUE(guard.Check(Ip(text)).refused()) << text;
  }
  EXPECT_EQ(ReasonOf(guard, "168.63.129.16"), "metadata service");
  EXPECT_EQ(guard.Check(Ip("168.63.129.17")).verdict, GuardVerdict::kPublic);
}

TEST(AddressGuard, TheMachinesOwnAddressesAreRefusedUnlessAllowed) {
  const std::vector<IpAddress> own = {Ip("127.0.0.1"), Ip("8.8.8.8"),
                                      Ip("2600::8")};
  config::GuardSettings settings;
  auto guard = AddressGuard::Make(settings, own);
  ASSERT_TRUE(guard);
  EXPECT_EQ(ReasonOf(*guard, "8.8.8.8"), "this machine");
  EXPECT_EQ(ReasonOf(*guard, "2600::8"), "this machine");
  EXPECT_EQ(ReasonOf(*guard, "2002:808:808::1"), "this machine inside 6to4");
  EXPECT_EQ(ReasonOf(*guard, "127.0.0.1"), "loopback");
  EXPECT_EQ(ReasonOf(*guard, "8.8.8.9"), "");
  EXPECT_EQ(ReasonOf(*guard, "2600::9"), "");
  settings.allow = {"8.8.8.8"};
  guard = AddressGuard::Make(settings, own);
  ASSERT_TRUE(guard);
  EXPECT_EQ(guard->Check(Ip("8.8.8.8")).verdict, GuardVerdict::kAllowed);
  EXPECT_TRUE(guard->Check(Ip("2600::8")).refused());
}

TEST(AddressGuard, TheMachineKnowsItsAddressesAndTheGuardRefusesThem) {
  const auto own = MachineAddresses();
  ASSERT_TRUE(own);
  EXPECT_NE(std::find(own->begin(), own->end(), Ip("127.0.0.1")), own->end());
  const auto guard = AddressGuard::Make(config::GuardSettings());
  ASSERT_TRUE(guard);
  for (const IpAddress& address : *own) {
    EXPECT_TRUE(guard->Check(address).refused()) << address.ToString();
  }
}

TEST(AddressGuard, WhatTheOperatorRefusesIsRefusedEvenIfAllowed) {
  config::GuardSettings settings;
  // Longer than a prefix of the table that is public, and shorter.
  settings.refuse = {"8.8.0.0/16", "2001::/16", "10.1.0.0/16"};
  settings.allow = {"10.0.0.0/8", "8.0.0.0/8"};
  const auto guard = AddressGuard::Make(settings, {});
  ASSERT_TRUE(guard);
  EXPECT_EQ(ReasonOf(*guard, "8.8.255.255"), "guard.refuse");
  EXPECT_EQ(ReasonOf(*guard, "8.9.0.0"), "");
  EXPECT_EQ(ReasonOf(*guard, "2001:3::1"), "guard.refuse");
  EXPECT_EQ(ReasonOf(*guard, "64:ff9b::8.8.8.8"), "guard.refuse inside NAT64");
  EXPECT_EQ(ReasonOf(*guard, "10.1.2.3"), "guard.refuse");
  EXPECT_EQ(guard->Check(Ip("10.2.2.3")).verdict, GuardVerdict::kAllowed);
}

TEST(AddressGuard, ATranslatorsPrefixIsLookedInto) {
  config::GuardSettings settings;
  settings.nat64 = {"2600:64::/96", "fd00:64::/96"};
  const auto guard = AddressGuard::Make(settings, {});
  ASSERT_TRUE(guard);
  EXPECT_EQ(ReasonOf(*guard, "2600:64::10.0.0.1"), "private use inside NAT64");
  EXPECT_EQ(ReasonOf(*guard, "fd00:64::127.0.0.1"), "loopback inside NAT64");
  EXPECT_EQ(ReasonOf(*guard, "2600:64::8.8.8.8"), "");
  EXPECT_EQ(ReasonOf(*guard, "fd00:64::8.8.8.8"), "");
  EXPECT_EQ(ReasonOf(*guard, "fd00:65::8.8.8.8"), "unique local");
  for (const std::string_view wrong : {"2600::/64", "10.0.0.0/8"}) {
    settings.nat64 = {std::string(wrong)};
    const auto bad = AddressGuard::Make(settings, {});
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().message, "guard.nat64: " + std::string(wrong) +
                                       " is no prefix of 96 bits");
  }
}

TEST(AddressGuard, TheNeighboursOfBlocksArePublic) {
  const AddressGuard guard;
  // By hand: what the table has no say in.
  for (const std::string_view text :
       {"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8",
        "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
        "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24", "2001:db8::/32", "3fff::/20"}) {
    const auto network = Network::Parse(text);
    ASSERT_TRUE(network) << text;
    EXPECT_TRUE(guard.Check(network->first()).refused()) << text;
    EXPECT_TRUE(guard.Check(network->Last()).refused()) << text;
    const IpAddress after = Neighbour(network->Last(), 1);
    // 3fff::/20 is near the end of 2000::/3, not at it.
    EXPECT_EQ(guard.Check(after).verdict, GuardVerdict::kPublic) << text;
    if (network->first() == Ip("0.0.0.0")) continue;
    const IpAddress before = Neighbour(network->first(), -1);
    EXPECT_EQ(guard.Check(before).verdict, GuardVerdict::kPublic) << text;
  }
  EXPECT_EQ(guard.Check(Ip("223.255.255.255")).verdict, GuardVerdict::kPublic);
  EXPECT_TRUE(guard.Check(Ip("224.0.0.0")).refused());
  EXPECT_TRUE(guard.Check(Ip("1fff:ffff::")).refused());
  EXPECT_EQ(guard.Check(Ip("2600::")).verdict, GuardVerdict::kPublic);
  EXPECT_TRUE(guard.Check(Ip("4000::")).refused());
  EXPECT_EQ(guard.Check(Ip("2001:200::")).verdict, GuardVerdict::kPublic);
  EXPECT_TRUE(guard.Check(Ip("2001:1ff:ffff::")).refused());
}

TEST(AddressGuard, NamesTheBlock) {
  const AddressGuard guard;
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"8.8.8.8", ""},
      {"2606:4700::1111", ""},
      {"192.31.196.1", ""},
      {"64:ff9b::8.8.8.8", ""},
      {"2002:808:808::1", ""},
      {"2001:3::1", ""},
      {"2001:4:112::1", ""},
      {"0.0.0.0", "this network"},
      {"127.0.0.1", "loopback"},
      {"169.254.169.254", "link-local"},
      {"100.100.100.200", "shared address space"},
      {"192.0.0.9", "protocol assignments"},
      {"192.0.0.192", "protocol assignments"},
      {"255.255.255.255", "broadcast"},
      {"::", "unspecified"},
      {"::1", "loopback"},
      {"fd00:ec2::254", "unique local"},
      {"fe80::1", "link-local"},
      {"fec0::1", "site-local"},
      {"ff02::1", "multicast"},
      {"2001:1::1", "protocol assignments"},
      {"100::1", "discard-only"},
      {"5f00::1", "segment routing"},
      {"4000::1", "not global unicast"},
  };
  for (const auto& [text, want] : cases) {
    EXPECT_EQ(ReasonOf(guard, text), want) << text;
  }
}

TEST(AddressGuard, LooksInsideAddressesThatStandForOthers) {
  const AddressGuard guard;
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"::ffff:127.0.0.1", "IPv4-mapped"},
      {"::ffff:8.8.8.8", "IPv4-mapped"},
      {"::127.0.0.1", "IPv4-compatible"},
      {"64:ff9b::127.0.0.1", "loopback inside NAT64"},
      {"64:ff9b::169.254.169.254", "link-local inside NAT64"},
      {"64:ff9b:1::10.0.0.1", "local NAT64"},
      {"2002:7f00:1::", "loopback inside 6to4"},
      {"2002:a00:1::1", "private use inside 6to4"},
      {"2001:0:a00:1::", "private use inside Teredo server"},
      // 192.168.0.1 with its bits turned over.
      {"2001:0:4136:e378:8000:63bf:3f57:fffe",
       "private use inside Teredo client"},
      {"2001:0:4136:e378:8000:63bf:f7f7:f7f7", ""},
  };
  for (const auto& [text, want] : cases) {
    EXPECT_EQ(ReasonOf(guard, text), want) << text;
  }
}

TEST(AddressGuard, EveryRefusedIpv4IsRefusedInEveryForm) {
  const AddressGuard guard;
  for (const SpecialBlock& block : AddressGuard::Blocks()) {
    const auto network = Network::Parse(block.network);
    ASSERT_TRUE(network);
    if (network->first().is_v6() || block.is_public) continue;
    const IpAddress last = network->Last();
    const std::string v4 = last.ToString();
    const auto bytes = last.bytes();
    std::array<uint8_t, 16> six_to_four{0x20, 0x02};
    std::array<uint8_t, 16> teredo{0x20, 0x01, 0, 0, 8, 8, 8, 8};
    for (size_t i = 0; i < 4; ++i) {
      six_to_four[2 + i] = bytes[i];
      teredo[12 + i] = static_cast<uint8_t>(~bytes[i]);
    }
    for (const IpAddress& form :
         {Ip("::ffff:" + v4), Ip("::" + v4), Ip("64:ff9b::" + v4),
          Ip("64:ff9b:1::" + v4), IpAddress::V6(six_to_four),
          IpAddress::V6(teredo)}) {
      EXPECT_TRUE(guard.Check(form).refused()) << form.ToString();
    }
  }
}

TEST(AddressGuard, AllowsWhatIsNamedAndNothingElse) {
  config::GuardSettings settings;
  settings.allow = {"127.0.0.0/8", "::1", "8.0.0.0/8"};
  const auto guard = AddressGuard::Make(settings);
  ASSERT_TRUE(guard);
  const GuardAnswer allowed = guard->Check(Ip("127.255.255.255"));
  EXPECT_EQ(allowed.verdict, GuardVerdict::kAllowed);
  EXPECT_EQ(allowed.block, "loopback");
  EXPECT_EQ(guard->Check(Ip("::1")).verdict, GuardVerdict::kAllowed);
  EXPECT_EQ(guard->Check(Ip("8.8.8.8")).verdict, GuardVerdict::kPublic);
  EXPECT_TRUE(guard->Check(Ip("::ffff:127.0.0.1")).refused());
  EXPECT_TRUE(guard->Check(Ip("2002:7f00:1::")).refused());
  EXPECT_TRUE(guard->Check(Ip("10.0.0.1")).refused());
}

TEST(AddressGuard, AWrongSettingIsAnErrorOfOneLine) {
  config::GuardSettings settings;
  settings.allow = {"127.0.0.0/8", "intranet"};
  const auto guard = AddressGuard::Make(settings);
  ASSERT_FALSE(guard);
  EXPECT_EQ(guard.error().message,
            "guard.allow: \"intranet\" is no network: write it as 10.0.0.0/8 "
            "or fc00::/7");
}

}  // namespace
}  // namespace nephila::net
