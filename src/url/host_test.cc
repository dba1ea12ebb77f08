#include "url/host.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::url {
namespace {

// The host as http has it, or "(refused)".
std::string Host(std::string_view text) {
  std::string out;
  return AppendHost(text, /*special=*/true, &out) ? out : "(refused)";
}

TEST(Host, DomainsAreLowerCasedAndDecoded) {
  EXPECT_EQ(Host("WWW.Example.COM"), "www.example.com");
  EXPECT_EQ(Host("ex%61mple.com"), "example.com");
  EXPECT_EQ(Host("b\xc3\xbc"
                 "cher.example"),
            "xn--bcher-kva.example");
  EXPECT_EQ(Host("b%C3%BCcher.example"), "xn--bcher-kva.example");
  EXPECT_EQ(Host("\xe3\x80\x82"
                 "com"),
            ".com");  // an ideographic full stop
  EXPECT_EQ(Host("under_score.example"), "under_score.example");
}

TEST(Host, ForbiddenCharactersAreRefused) {
  for (char c : std::string_view("\0\t\n\r #/:<>?@[\\]^|%\x7f\x01", 20)) {
    EXPECT_EQ(Host(std::string("a") + c + "b"), "(refused)") << int{c};
  }
  EXPECT_EQ(Host("a%00b"), "(refused)");
  EXPECT_EQ(Host("a%2fb"), "(refused)");
  EXPECT_EQ(Host("\xff.com"), "(refused)");
  EXPECT_EQ(Host("\xc2\xad"), "(refused)");  // a soft hyphen alone is nothing
}

TEST(Host, Ipv4IsReadInAllItsForms) {
  EXPECT_EQ(Host("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(Host("0x7f.1"), "127.0.0.1");
  EXPECT_EQ(Host("2130706433"), "127.0.0.1");
  EXPECT_EQ(Host("0177.0.0.0x1"), "127.0.0.1");
  EXPECT_EQ(Host("127.0.0.1."), "127.0.0.1");
  EXPECT_EQ(Host("%31%32%37.1"), "127.0.0.1");
  EXPECT_EQ(Host("\xef\xbc\x91.1.1.1"), "1.1.1.1");  // a full-width 1
  EXPECT_EQ(Host("256.1.1.1"), "(refused)");
  EXPECT_EQ(Host("1.2.3.4.5"), "(refused)");
  EXPECT_EQ(Host("1.2.3.08"), "(refused)");
  EXPECT_EQ(Host("4294967296"), "(refused)");
  EXPECT_EQ(Host("99999999999999999999999"), "(refused)");
  EXPECT_EQ(Host("1..2"), "(refused)");
  EXPECT_EQ(Host("a.1"), "(refused)");
  EXPECT_EQ(Host("1.a"), "1.a");
  EXPECT_EQ(Host("0xg"), "0xg");
}

TEST(Host, Ipv6IsShortened) {
  EXPECT_EQ(Host("[0:0:0:0:0:0:0:1]"), "[::1]");
  EXPECT_EQ(Host("[::]"), "[::]");
  EXPECT_EQ(Host("[2001:DB8:0:0:1:0:0:1]"), "[2001:db8::1:0:0:1]");
  EXPECT_EQ(Host("[1:0:0:2:0:0:0:3]"), "[1:0:0:2::3]");
  EXPECT_EQ(Host("[1:0:2:3:4:5:6:7]"), "[1:0:2:3:4:5:6:7]");
  EXPECT_EQ(Host("[::ffff:1.2.3.4]"), "[::ffff:102:304]");
  EXPECT_EQ(Host("[1:2:3:4:5:6:7::]"), "[1:2:3:4:5:6:7:0]");
  for (const char* bad :
       {"[", "[]", "[1]", "[:1]", "[1:2:3:4:5:6:7:8:9]", "[::1::]", "[12345::]",
        "[::1.2.3]", "[::1.2.3.4.5]", "[::01.2.3.4]", "[::256.1.1.1]", "[1:]",
        "[::g]", "[::1%25eth0]", "[1:2:3:4:5:6:7:1.2.3.4]", "[::1.2.3.4:1]"}) {
    EXPECT_EQ(Host(bad), "(refused)") << bad;
  }
}

TEST(Host, KindsAreTold) {
  std::string out;
  EXPECT_EQ(AppendHost("a.b", true, &out), HostKind::kDomain);
  EXPECT_EQ(AppendHost("1.2", true, &out), HostKind::kIpv4);
  EXPECT_EQ(AppendHost("[::1]", true, &out), HostKind::kIpv6);
  EXPECT_EQ(AppendHost("1.2", false, &out), HostKind::kOpaque);
}

TEST(Host, NamesThatDnsCannotKnow) {
  EXPECT_TRUE(IsDnsName("a"));
  EXPECT_TRUE(IsDnsName("a.b."));
  EXPECT_TRUE(IsDnsName(std::string(63, 'a') + ".com"));
  EXPECT_FALSE(IsDnsName(std::string(64, 'a') + ".com"));
  EXPECT_FALSE(IsDnsName(""));
  EXPECT_FALSE(IsDnsName("."));
  EXPECT_FALSE(IsDnsName(".a"));
  EXPECT_FALSE(IsDnsName("a..b"));
  EXPECT_FALSE(IsDnsName("a.."));
  std::string longest;
  while (longest.size() < 251) longest += "a.";
  EXPECT_TRUE(IsDnsName(longest + "b"));
  EXPECT_FALSE(IsDnsName(longest + "bcd"));
}

}  // namespace
}  // namespace nephila::url
