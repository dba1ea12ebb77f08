#include "url/canonicalizer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "url/count_allocations.h"
#include "url/parser.h"

namespace nephila::url {
namespace {

class CanonicalizerTest : public testing::Test {
 protected:
  std::string DropOf(std::string_view link) {
    auto canonical = canonicalizer_.Canonicalize(link, nullptr);
    return canonical ? "none" : std::string(DropReasonName(canonical.error()));
  }

  PublicSuffixList suffixes_ = PublicSuffixList::BuiltIn();
  Canonicalizer canonicalizer_{config::UrlSettings(), suffixes_, 0};
};

TEST_F(CanonicalizerTest, GivesUrlHostDomainAndKeys) {
  Url base;
  ASSERT_TRUE(Parse("https://www.example.co.uk/a/b", nullptr, &base));
  auto canonical = canonicalizer_.Canonicalize("../c/index.html#x", &base);
  ASSERT_TRUE(canonical);
  EXPECT_EQ(canonical->href, "https://www.example.co.uk/c/");
  EXPECT_EQ(canonical->host, "www.example.co.uk");
  EXPECT_EQ(canonical->pld, "example.co.uk");
  EXPECT_EQ(canonical->keys,
            MakeKeys(canonical->href, canonical->host, canonical->pld, 0));
}

TEST_F(CanonicalizerTest, IpHostsAndSuffixesAreTheirOwnDomain) {
  auto pld = [&](std::string_view link) {
    auto canonical = canonicalizer_.Canonicalize(link, nullptr);
    return canonical ? std::string(canonical->pld) : "";
  };
  EXPECT_EQ(pld("http://10.0.0.1:8080/"), "10.0.0.1");
  EXPECT_EQ(pld("http://[::1]/"), "[::1]");
  EXPECT_EQ(pld("http://co.uk/"), "co.uk");
  EXPECT_EQ(pld("http://localhost/"), "localhost");
  EXPECT_EQ(pld("http://a.blogspot.com/"), "blogspot.com");
  EXPECT_EQ(pld("http://example.com./"), "example.com");
}

TEST_F(CanonicalizerTest, DropsForANamedReasonAndTheCountsAddUp) {
  EXPECT_EQ(DropOf("no url"), "invalid-url");
  EXPECT_EQ(DropOf("http://a b/"), "invalid-url");
  EXPECT_EQ(DropOf("mailto:x@example.com"), "scheme");
  EXPECT_EQ(DropOf("javascript:void(0)"), "scheme");
  EXPECT_EQ(DropOf("ftp://example.com/"), "scheme");
  EXPECT_EQ(DropOf("http://a..b/"), "bad-host");
  EXPECT_EQ(DropOf("http://" + std::string(64, 'a') + ".com/"), "bad-host");
  EXPECT_EQ(DropOf("http://a.com/" + std::string(2048, 'x')), "too-long");
  EXPECT_EQ(DropOf("http://a.com:25/"), "bad-port");
  EXPECT_EQ(DropOf("http://a.com/"), "none");
  StageTotals totals = canonicalizer_.account().Totals();
  EXPECT_EQ(totals.in, 10u);
  EXPECT_EQ(totals.out, 1u);
  EXPECT_EQ(totals.dropped, (std::vector<uint64_t>{2, 3, 2, 1, 1}));
  EXPECT_EQ(totals.Imbalance(), 0);
}

TEST_F(CanonicalizerTest, DropsPortsThatBrowsersRefuseUnlessAllowed) {
  for (const char* link :
       {"http://a.com:22/", "https://a.com:6667/x", "http://[::1]:5060/",
        "http://u:p@a.com:0025/", "http://a.com:0/"}) {
    EXPECT_EQ(DropOf(link), "bad-port") << link;
  }
  for (const char* link : {"http://a.com:80/", "http://a.com:8080/",
                           "https://a.com:80/", "http://a.com:6670/"}) {
    EXPECT_EQ(DropOf(link), "none") << link;
  }
  config::UrlSettings settings;
  settings.allow_ports = {"6667"};
  Canonicalizer allowing(settings, suffixes_, 0);
  EXPECT_TRUE(allowing.Canonicalize("http://a.com:6667/", nullptr));
  EXPECT_FALSE(allowing.Canonicalize("http://a.com:6668/", nullptr));
}

TEST_F(CanonicalizerTest, TheLengthThatCountsIsTheOneAfterNormalisation) {
  std::string at_limit = "http://a.com/";
  at_limit += std::string(2048 - at_limit.size(), 'x');
  EXPECT_EQ(DropOf(at_limit), "none");
  EXPECT_EQ(DropOf(at_limit + "#fragment"), "none");
  EXPECT_EQ(DropOf(at_limit + "?sid=12345"), "none");
  EXPECT_EQ(DropOf(at_limit + "x"), "too-long");
}

TEST_F(CanonicalizerTest, AHostHasOneKeyWithAndWithoutItsDot) {
  config::UrlSettings keep_dot;
  keep_dot.strip_host_dot = false;
  Canonicalizer canonicalizer(keep_dot, suffixes_, 0);
  Keys with_dot = canonicalizer.Canonicalize("http://a.com./", nullptr)->keys;
  Keys without = canonicalizer.Canonicalize("http://a.com/", nullptr)->keys;
  EXPECT_NE(with_dot.url, without.url);
  EXPECT_EQ(with_dot.host, without.host);
  EXPECT_EQ(with_dot.pld, without.pld);
}

TEST_F(CanonicalizerTest, LinksFarOverTheLimitAreDroppedUnparsed) {
  std::string hostile = "http://a.com/" + std::string(10 << 20, '\xff');
  size_t before = AllocationCount();
  EXPECT_FALSE(canonicalizer_.Canonicalize(hostile, nullptr));
  EXPECT_EQ(AllocationCount(), before);
  EXPECT_EQ(DropOf("  " + hostile + "  "), "too-long");
  EXPECT_EQ(DropOf("http://a.com/#" + std::string(60000, 'x')), "none");
}

TEST_F(CanonicalizerTest, DoesNotAllocateForOrdinaryLinks) {
  Url base;
  ASSERT_TRUE(Parse("https://www.example.co.uk/a/b?c=d", nullptr, &base));
  const std::string links[] = {
      "https://www.example.com/some/path/to/a-page-with-a-long-name.php"
      "?id=1234567890&category=books&page=3#reviews",
      "../relative/path/index.html",
      "?page=2",
      "/x;jsessionid=1E6FEC0D14D044541DD84D2D013D29ED",
      "http://user:secret@example.org:8080/%7euser/%c3%a9",
      "/dir/?C=N;O=D",
      "http://Example.COM/Upper",
      "http://192.168.0.1/x",
      "http://[2001:db8::1]/",
      "mailto:nobody@example.com",
      "http://exa mple.com/"};
  auto run = [&](size_t* allocations) {
    size_t before = AllocationCount();
    for (const std::string& link : links) {
      auto canonical = canonicalizer_.Canonicalize(link, &base);
      ASSERT_TRUE(!canonical || !canonical->href.empty());
    }
    *allocations = AllocationCount() - before;
  };
  size_t allocations = 0;
  run(&allocations);  // buffers grow once
  run(&allocations);
  EXPECT_EQ(allocations, 0u);
}

}  // namespace
}  // namespace nephila::url
