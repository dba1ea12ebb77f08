#include "dns/cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace nephila::dns {
namespace {

using std::chrono::seconds;

MonoTime Second(int64_t n) { return MonoTime(seconds(n)); }

CachedAnswer Until(int64_t second, Outcome outcome = Outcome::kFound) {
  CachedAnswer answer;
  answer.outcome = outcome;
  if (outcome == Outcome::kFound) {
    answer.addresses = {net::IpAddress::V4(192, 0, 2, 1)};
  }
  answer.expires = Second(second);
  return answer;
}

TEST(DnsCache, RemembersUntilTheTimeIsUp) {
  Cache cache(1 << 20, 1);
  cache.Insert("a", Until(10), Second(0));
  cache.Insert("b", Until(5, Outcome::kNoSuchName), Second(0));
  EXPECT_EQ(cache.entries(), 2U);
  const CachedAnswer* found = cache.Find("a", Second(9));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->addresses.size(), 1U);
  EXPECT_EQ(cache.Find("b", Second(4))->outcome, Outcome::kNoSuchName);
  EXPECT_EQ(cache.Find("b", Second(5)), nullptr);
  EXPECT_EQ(cache.Find("a", Second(10)), nullptr);
  EXPECT_EQ(cache.Find("c", Second(0)), nullptr);
  EXPECT_EQ(cache.entries(), 0U);
  EXPECT_EQ(cache.memory_bytes(), 0U);
}

TEST(DnsCache, WhatComesLaterReplaces) {
  Cache cache(1 << 20, 1);
  cache.Insert("a", Until(10), Second(0));
  cache.Insert("a", Until(20, Outcome::kNoAddress), Second(0));
  EXPECT_EQ(cache.entries(), 1U);
  EXPECT_EQ(cache.Find("a", Second(15))->outcome, Outcome::kNoAddress);
  // What no longer holds replaces too.
  cache.Insert("a", Until(3), Second(3));
  EXPECT_EQ(cache.Find("a", Second(3)), nullptr);
}

TEST(DnsCache, KeepsToItsMemory) {
  const uint64_t limit = 100 * Cache::MemoryOf("host00000", Until(1));
  Cache cache(limit, 1);
  for (int i = 10'000; i < 20'000; ++i) {
    cache.Insert("host" + std::to_string(i), Until(100), Second(0));
    ASSERT_LE(cache.memory_bytes(), limit);
  }
  EXPECT_EQ(cache.entries(), 100U);
  EXPECT_EQ(cache.evictions(), 9900U);
  cache.Clear();
  EXPECT_EQ(cache.memory_bytes(), 0U);
  EXPECT_EQ(cache.Find("host19999", Second(0)), nullptr);
}

TEST(DnsCache, WhatIsUsedStays) {
  Cache cache(50 * Cache::MemoryOf("host00000", Until(1)), 1);
  cache.Insert("host-kept", Until(100), Second(0));
  for (int i = 10'000; i < 11'000; ++i) {
    cache.Insert("host" + std::to_string(i), Until(100), Second(0));
    ASSERT_NE(cache.Find("host-kept", Second(0)), nullptr) << i;
  }
  EXPECT_EQ(cache.Find("host10000", Second(0)), nullptr);
}

TEST(DnsCache, WhatIsTooLargeOrHasNoRoomIsNotRemembered) {
  Cache none(0, 1);
  none.Insert("a", Until(10), Second(0));
  EXPECT_EQ(none.Find("a", Second(0)), nullptr);
  CachedAnswer large = Until(10);
  large.addresses.resize(1000);
  Cache small(1000, 1);
  small.Insert("a", Until(10), Second(0));
  small.Insert("b", large, Second(0));
  EXPECT_EQ(small.Find("b", Second(0)), nullptr);
  EXPECT_NE(small.Find("a", Second(0)), nullptr);
}

TEST(DnsCache, ManyNamesComeAndGo) {
  Cache cache(200 * Cache::MemoryOf("n1000", Until(1)), 7);
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = "n" + std::to_string(1000 + (i * 7919) % 700);
    if (i % 3 == 0) {
      cache.Insert(name, Until(i + 300), Second(i));
    } else if (const CachedAnswer* found = cache.Find(name, Second(i))) {
      ASSERT_GT(found->expires, Second(i));
    }
    ASSERT_LE(cache.entries(), 200U);
  }
}

}  // namespace
}  // namespace nephila::dns
