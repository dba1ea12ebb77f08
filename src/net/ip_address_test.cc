#include "net/ip_address.h"

#include <gtest/gtest.h>

#include <set>
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

TEST(IpAddress, IsWrittenAsRfc5952Wants) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"0.0.0.0", "0.0.0.0"},
      {"255.255.255.255", "255.255.255.255"},
      {"::", "::"},
      {"::1", "::1"},
      {"1::", "1::"},
      {"0:0:0:0:0:0:0:0", "::"},
      {"2001:0db8::0001", "2001:db8::1"},
      {"2001:db8:0:0:0:0:2:1", "2001:db8::2:1"},
      // One group alone is not shortened; of two runs the longer, then the
      // first (RFC 5952 s4.2.2, s4.2.3).
      {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
      {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
      {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
      {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
      {"2001:DB8::ABCD", "2001:db8::abcd"},
      {"::ffff:c000:201", "::ffff:192.0.2.1"},
      {"::192.0.2.1", "::c000:201"},
      {"64:ff9b::192.0.2.1", "64:ff9b::c000:201"},
  };
  for (const auto& [text, want] : cases) {
    EXPECT_EQ(Ip(text).ToString(), want);
    EXPECT_EQ(Ip(Ip(text).ToString()), Ip(text));
  }
}

TEST(IpAddress, TextThatIsNoAddressIsRefused) {
  for (const std::string_view text :
       {"",
        "1",
        "1.2.3",
        "1.2.3.4.5",
        "1.2.3.256",
        "01.2.3.4",
        "1.2.3.4 ",
        " 1.2.3.4",
        "0x7f.0.0.1",
        "127.1",
        "1.2.3.4/8",
        ":",
        ":::",
        "1::2::3",
        "12345::",
        "::g",
        "[::1]",
        "fe80::1%eth0",
        "fe80::1%1",
        "::1.2.3",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        "::1:",
        "localhost",
        "1111:2222:3333:4444:5555:6666:255.255.255.2555"}) {
    EXPECT_FALSE(IpAddress::Parse(text).has_value()) << text;
  }
  EXPECT_FALSE(IpAddress::Parse(std::string_view("1.2.3.4\0", 8)).has_value());
  EXPECT_FALSE(IpAddress::Parse(std::string(100'000, '1')).has_value());
}

TEST(IpAddress, PartsAndFamilies) {
  const IpAddress v4 = IpAddress::V4(192, 0, 2, 1);
  EXPECT_EQ(v4, IpAddress::V4(0xc0000201));
  EXPECT_TRUE(v4.is_v4());
  EXPECT_EQ(v4.bits(), 32U);
  EXPECT_EQ(v4.bytes().size(), 4U);
  EXPECT_EQ(v4.bytes()[0], 192);
  const IpAddress v6 = Ip("2001:db8::1");
  EXPECT_TRUE(v6.is_v6());
  EXPECT_EQ(v6.bytes().size(), 16U);
  EXPECT_EQ(v6.bytes()[15], 1);
  EXPECT_EQ(IpAddress::FromBytes(std::string("\xc0\x00\x02\x01", 4)), v4);
  EXPECT_EQ(IpAddress::FromBytes(std::string(16, '\0')), Ip("::"));
  EXPECT_FALSE(IpAddress::FromBytes("12345").has_value());
}

TEST(IpAddress, SocketAddressesThereAndBack) {
  for (const std::string_view text : {"192.0.2.1", "2001:db8::1", "::"}) {
    sockaddr_storage storage{};
    const socklen_t size = Ip(text).ToSockaddr(443, &storage);
    const auto& generic = reinterpret_cast<const sockaddr&>(storage);
    EXPECT_EQ(IpAddress::FromSockaddr(generic, size), Ip(text));
    EXPECT_FALSE(IpAddress::FromSockaddr(generic, size - 1).has_value());
  }
  sockaddr_storage local{};
  local.ss_family = AF_UNIX;
  EXPECT_FALSE(
      IpAddress::FromSockaddr(reinterpret_cast<sockaddr&>(local), sizeof(local))
          .has_value());
}

TEST(IpAddress, AreOrderedAndHashedWithASeed) {
  const std::set<IpAddress> sorted = {Ip("::1"), Ip("10.0.0.2"), Ip("10.0.0.1"),
                                      Ip("::"), Ip("255.0.0.0")};
  std::vector<std::string> texts;
  texts.reserve(sorted.size());
  for (const IpAddress& address : sorted) texts.push_back(address.ToString());
  EXPECT_EQ(texts, (std::vector<std::string>{"10.0.0.1", "10.0.0.2",
                                             "255.0.0.0", "::", "::1"}));
  std::set<uint64_t> hashes;
  for (const IpAddress& address : sorted) hashes.insert(address.Hash(7));
  EXPECT_EQ(hashes.size(), 5U);
  EXPECT_NE(Ip("::").Hash(1), Ip("::").Hash(2));
}

TEST(IpAddress, KnowsTheIpv4InsideIt) {
  struct Case {
    std::string_view text;
    std::vector<std::pair<EmbeddedForm, std::string_view>> want;
  };
  const std::vector<Case> cases = {
      {"::ffff:192.0.2.1", {{EmbeddedForm::kMapped, "192.0.2.1"}}},
      {"::192.0.2.1", {{EmbeddedForm::kCompatible, "192.0.2.1"}}},
      {"64:ff9b::192.0.2.1", {{EmbeddedForm::kNat64, "192.0.2.1"}}},
      {"64:ff9b:1::192.0.2.1", {{EmbeddedForm::kNat64Local, "192.0.2.1"}}},
      {"2002:c000:201::5", {{EmbeddedForm::k6to4, "192.0.2.1"}}},
      // RFC 4380's own example: server 65.54.227.120, client 192.0.2.45.
      {"2001:0:4136:e378:8000:63bf:3fff:fdd2",
       {{EmbeddedForm::kTeredoServer, "65.54.227.120"},
        {EmbeddedForm::kTeredoClient, "192.0.2.45"}}},
      {"2600::5efe:192.0.2.1", {{EmbeddedForm::kIsatap, "192.0.2.1"}}},
      {"2600::200:5efe:192.0.2.1", {{EmbeddedForm::kIsatap, "192.0.2.1"}}},
      {"2002:808:808::5efe:192.0.2.1",
       {{EmbeddedForm::k6to4, "8.8.8.8"},
        {EmbeddedForm::kIsatap, "192.0.2.1"}}},
      {"2600::100:5efe:192.0.2.1", {}},
      {"2001:db8::192.0.2.1", {}},
      {"64:ff9b:2::192.0.2.1", {}},
      {"192.0.2.1", {}},
  };
  for (const auto& [text, want] : cases) {
    std::vector<std::pair<EmbeddedForm, std::string>> got;
    for (const auto& [form, number] : Ip(text).EmbeddedV4()) {
      got.emplace_back(form, IpAddress::V4(number).ToString());
    }
    ASSERT_EQ(got.size(), want.size()) << text;
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(got[i].first, want[i].first) << text;
      EXPECT_EQ(got[i].second, want[i].second) << text;
    }
  }
}

TEST(Network, ContainsFromItsFirstToItsLast) {
  const auto network = Network::Parse("172.16.0.0/12");
  ASSERT_TRUE(network);
  EXPECT_EQ(network->first(), Ip("172.16.0.0"));
  EXPECT_EQ(network->Last(), Ip("172.31.255.255"));
  EXPECT_TRUE(network->Contains(Ip("172.16.0.0")));
  EXPECT_TRUE(network->Contains(Ip("172.31.255.255")));
  EXPECT_FALSE(network->Contains(Ip("172.15.255.255")));
  EXPECT_FALSE(network->Contains(Ip("172.32.0.0")));
  EXPECT_FALSE(network->Contains(Ip("::ffff:172.16.0.0")));
  EXPECT_EQ(network->ToString(), "172.16.0.0/12");
}

TEST(Network, OfOneAndOfAll) {
  const auto one = Network::Parse("::1");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->ToString(), "::1/128");
  EXPECT_EQ(one->Last(), Ip("::1"));
  EXPECT_FALSE(one->Contains(Ip("::2")));
  const auto all = Network::Parse("::/0");
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->Contains(Ip("ffff::")));
  EXPECT_FALSE(all->Contains(Ip("1.2.3.4")));
  EXPECT_EQ(all->Last().ToString(), "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
}

TEST(Network, WhatIsNoneIsSaidInOneLine) {
  for (const std::string_view text :
       {"", "/8", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1",
        "10.0.0.0/+8", "10.0.0.0/08", "10.0.0.0/8/8", "10/8", "localhost/8",
        "10.0.0.0/8 ", "fe80::%1/64"}) {
    EXPECT_FALSE(Network::Parse(text)) << text;
  }
  const auto error = Network::Parse("10.1.2.3/8");
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().message,
            "\"10.1.2.3/8\" is no network: bits are set behind its prefix; "
            "10.0.0.0/8 would be one");
  const auto hostile = Network::Parse(std::string(100'000, '\n'));
  ASSERT_FALSE(hostile);
  EXPECT_LT(hostile.error().message.size(), 400U);
  EXPECT_EQ(hostile.error().message.find('\n'), std::string::npos);
}

TEST(Endpoint, IsReadWithAndWithoutAPort) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"127.0.0.1", "127.0.0.1:53"}, {"127.0.0.1:5353", "127.0.0.1:5353"},
      {"::1", "[::1]:53"},           {"[::1]", "[::1]:53"},
      {"[::1]:5353", "[::1]:5353"},
  };
  for (const auto& [text, want] : cases) {
    const auto endpoint = Endpoint::Parse(text, 53);
    ASSERT_TRUE(endpoint.has_value()) << text;
    EXPECT_EQ(endpoint->ToString(), want);
  }
  for (const std::string_view text :
       {"", ":53", "localhost:53", "127.0.0.1:", "127.0.0.1:0",
        "127.0.0.1:65536", "127.0.0.1:5a", "[::1", "[::1]53", "[127.0.0.1]:53",
        "[]:53", "127.0.0.1:+53"}) {
    EXPECT_FALSE(Endpoint::Parse(text, 53).has_value()) << text;
  }
}

}  // namespace
}  // namespace nephila::net
