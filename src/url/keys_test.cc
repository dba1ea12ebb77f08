#include "url/keys.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace nephila::url {
namespace {

Keys KeysOf(const std::string& path, const std::string& host,
            const std::string& pld, uint64_t seed) {
  return MakeKeys("http://" + host + path, host, pld, seed);
}

TEST(Keys, LowBitsAreTheShardOfTheDomain) {
  for (int i = 0; i < 1000; ++i) {
    std::string pld = "domain" + std::to_string(i) + ".com";
    Keys keys = KeysOf("/x", "www." + pld, pld, 7);
    EXPECT_LT(keys.pld.shard(), 1024u);
    EXPECT_EQ(keys.url.shard(), keys.pld.shard());
    EXPECT_EQ(keys.host.shard(), keys.pld.shard());
  }
}

TEST(Keys, ShardsAreEven) {
  std::vector<int> domains(1024);
  constexpr int kDomains = 200 * 1024;
  for (int i = 0; i < kDomains; ++i) {
    std::string pld = "d" + std::to_string(i) + ".com";
    ++domains[MakeKeys("", "", pld, 1).pld.shard()];
  }
  for (int n : domains) {
    // 200 expected; six standard deviations of a binomial.
    EXPECT_GT(n, 200 - 85);
    EXPECT_LT(n, 200 + 85);
  }
}

TEST(Keys, DifferByUrlHostKindAndSeed) {
  Keys a = KeysOf("/x", "example.com", "example.com", 1);
  Keys b = KeysOf("/y", "example.com", "example.com", 1);
  Keys c = KeysOf("/x", "www.example.com", "example.com", 1);
  Keys d = KeysOf("/x", "example.com", "example.com", 2);
  EXPECT_NE(a.url, b.url);
  EXPECT_EQ(a.host, b.host);
  EXPECT_NE(a.host, c.host);
  EXPECT_EQ(a.pld, c.pld);
  EXPECT_NE(a.url, d.url);
  EXPECT_NE(a.host, d.host);
  EXPECT_NE(a.pld, d.pld);
  EXPECT_NE(a.host.value, a.pld.value);
}

// On disk: if this fails, every job written so far becomes unreadable.
TEST(Keys, NeverChange) {
  Keys keys = MakeKeys("https://www.example.co.uk/a?b=1", "www.example.co.uk",
                       "example.co.uk", 0);
  EXPECT_EQ(keys.url.value, 0xd2daf901168bda0au);
  EXPECT_EQ(keys.host.value, 0x64fe22b0c674be0au);
  EXPECT_EQ(keys.pld.value, 0x3f41ebcf59e42e0au);
  Keys seeded = MakeKeys("https://www.example.co.uk/a?b=1", "www.example.co.uk",
                         "example.co.uk", 0x0123456789abcdefu);
  EXPECT_EQ(seeded.url.value, 0xfc0e75193b57dec7u);
}

TEST(Keys, DoNotCollideAmongAMillion) {
  std::set<uint64_t> keys;
  for (int i = 0; i < 1000000; ++i) {
    keys.insert(
        MakeKeys("http://a.com/" + std::to_string(i), "a.com", "a.com", 3)
            .url.value);
  }
  EXPECT_EQ(keys.size(), 1000000u);
}

}  // namespace
}  // namespace nephila::url
