#include "scope/block_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "config/settings.h"
#include "url/record_keys.h"

namespace nephila::scope {
namespace {

class BlockListTest : public testing::Test {
 protected:
  std::shared_ptr<const BlockList> Read(std::string_view text) {
    wrong_.clear();
    return BlockList::Read(
        "list", text, canonicalizer_, suffixes_,
        [this](uint32_t line, const Error& why) {
          wrong_.push_back(std::to_string(line) + ": " + why.message);
        });
  }
  // "list:1 (host)", or "".
  std::string Hit(const BlockList& list, std::string_view url) {
    const auto canonical = canonicalizer_.Canonicalize(url, nullptr);
    NEPHILA_CHECK(canonical);
    const auto hit = list.Find(url::MakeUrlRecord(*canonical), scratch_);
    return hit ? hit->ToString() : "";
  }
  static std::string HitAddress(const BlockList& list, std::string_view text) {
    const auto hit = list.Find(*net::IpAddress::Parse(text));
    return hit ? hit->ToString() : "";
  }

  const config::Settings settings_{};
  const url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  url::Canonicalizer canonicalizer_{settings_.url, suffixes_, 1};
  std::vector<std::string> wrong_;
  std::string scratch_;
};

TEST_F(BlockListTest, AHostIsBlockedWithThoseUnderIt) {
  const auto list = Read("host Example.ORG\nhost 192.0.2.1\r\nhost ::1\n");
  EXPECT_EQ(Hit(*list, "http://example.org/x"), "list:1 (host)");
  EXPECT_EQ(Hit(*list, "https://a.b.example.org:81/"), "list:1 (host)");
  EXPECT_EQ(Hit(*list, "http://notexample.org/"), "");
  EXPECT_EQ(Hit(*list, "http://org/"), "");
  EXPECT_EQ(Hit(*list, "http://192.0.2.1/"), "list:2 (host)");
  EXPECT_EQ(Hit(*list, "http://[::1]/"), "list:3 (host)");
  EXPECT_TRUE(wrong_.empty());
}

TEST_F(BlockListTest, AnInternationalNameIsTheOneThatUrlsHave) {
  const auto list = Read(
      "host b\xC3\xBC"
      "cher.test");
  EXPECT_EQ(Hit(*list, "http://xn--bcher-kva.test/"), "list:1 (host)");
}

TEST_F(BlockListTest, ADomainIsAPayLevelDomainAndNothingElse) {
  const auto list = Read("domain example.co.uk\ndomain www.example.org\n");
  EXPECT_EQ(Hit(*list, "http://a.example.co.uk/"), "list:1 (domain)");
  EXPECT_EQ(Hit(*list, "http://www.example.org/"), "");
  ASSERT_EQ(wrong_.size(), 1U);
  EXPECT_EQ(wrong_[0],
            "2: 'www.example.org' is no pay-level domain: that is "
            "'example.org'; to block a host, write 'host'");
}

TEST_F(BlockListTest, AUrlIsTheOneThatItIsNormalisedTo) {
  const auto list = Read("url HTTP://Example.org:80/a/../b#top");
  EXPECT_EQ(Hit(*list, "http://example.org/b"), "list:1 (url)");
  EXPECT_EQ(Hit(*list, "http://example.org/b?c"), "");
  EXPECT_EQ(Hit(*list, "https://example.org/b"), "");
}

TEST_F(BlockListTest, ASurtPrefixIsTheBeginningOfWhatItBlocks) {
  const auto list = Read("surt (org,example,www,)/private\n");
  EXPECT_EQ(Hit(*list, "http://www.example.org/private/x"), "list:1 (surt)");
  EXPECT_EQ(Hit(*list, "http://www.example.org/public"), "");
}

TEST_F(BlockListTest, AddressesAreBlockedInNetworksAndInHosts) {
  const auto list = Read(
      "address 192.0.2.0/24\naddress 192.0.2.7\naddress 10.0.0.0/8\n"
      "address 2001:db8::/32\n");
  EXPECT_EQ(HitAddress(*list, "192.0.2.7"), "list:1 (address)");
  EXPECT_EQ(HitAddress(*list, "192.0.2.0"), "list:1 (address)");
  EXPECT_EQ(HitAddress(*list, "192.0.2.255"), "list:1 (address)");
  EXPECT_EQ(HitAddress(*list, "192.0.3.0"), "");
  EXPECT_EQ(HitAddress(*list, "192.0.1.255"), "");
  EXPECT_EQ(HitAddress(*list, "10.255.0.1"), "list:3 (address)");
  EXPECT_EQ(HitAddress(*list, "2001:db8:ffff::1"), "list:4 (address)");
  EXPECT_EQ(HitAddress(*list, "2001:db9::1"), "");
  // An address of IPv6 that stands for a blocked one goes with it.
  EXPECT_EQ(HitAddress(*list, "::ffff:10.1.2.3"), "list:3 (address)");
  EXPECT_EQ(Hit(*list, "http://10.1.2.3/"), "list:3 (address)");
  EXPECT_EQ(Hit(*list, "http://[2001:db8::1]:8080/"), "list:4 (address)");
  EXPECT_EQ(Hit(*list, "http://11.1.2.3/"), "");
}

TEST_F(BlockListTest, WhatIsNoLineIsSaidAndLeftOut) {
  const auto list = Read(
      "# a comment\n\n  host a.test  \nexample.org\nhost\nhost a b.test\n"
      "url ftp://a.test/\nsurt x\naddress a.test\nhost a.test/x\nHOST B.test");
  EXPECT_EQ(list->lines(), 2U);
  EXPECT_EQ(Hit(*list, "http://a.test/"), "list:3 (host)");
  EXPECT_EQ(Hit(*list, "http://b.test/"), "list:11 (host)");
  ASSERT_EQ(wrong_.size(), 7U);
  EXPECT_EQ(wrong_[0],
            "4: 'example.org' is none of: url URL, host NAME, domain NAME, "
            "surt PREFIX, address ADDRESS or NETWORK");
  EXPECT_EQ(wrong_[3],
            "7: 'ftp://a.test/' is no URL that could be crawled: scheme");
}

TEST_F(BlockListTest, HoldsManyLines) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += "host h" + std::to_string(i) + ".test\n";
  }
  const auto list = Read(text);
  EXPECT_EQ(list->lines(), 20'000U);
  EXPECT_EQ(Hit(*list, "http://www.h0.test/"), "list:1 (host)");
  EXPECT_EQ(Hit(*list, "http://h19999.test/"), "list:20000 (host)");
  EXPECT_EQ(Hit(*list, "http://h20000.test/"), "");
}

TEST_F(BlockListTest, ASetAsksAllItsLists) {
  const BlockSet none;
  EXPECT_TRUE(none.empty());
  const BlockSet set({Read("host a.test"), nullptr, Read("# nothing"),
                      Read("address 192.0.2.1")});
  EXPECT_FALSE(set.empty());
  EXPECT_EQ(set.lines(), 2U);
  EXPECT_TRUE(set.has_addresses());
  EXPECT_TRUE(set.Find(*net::IpAddress::Parse("192.0.2.1")));
  EXPECT_FALSE(none.Find(*net::IpAddress::Parse("192.0.2.1")));
}

}  // namespace
}  // namespace nephila::scope
