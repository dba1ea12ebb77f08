#include "seen/cache_size.h"

#include <gtest/gtest.h>

namespace nephila::seen {
namespace {

constexpr uint64_t kGigabyte = 1'000'000'000;

CacheQuestion Ask(uint64_t memory_bytes, uint64_t known_urls) {
  CacheQuestion question;
  question.memory_bytes = memory_bytes;
  question.known_urls = known_urls;
  return question;
}

TEST(CacheSize, ASmallCrawlHasASmallOne) {
  EXPECT_EQ(CacheBytes(Ask(16'000'000, 0)), 1'000'000U);
}

TEST(CacheSize, WhereTheDiskIsTheBottleneckThereIsOne) {
  CacheQuestion question = Ask(8 * kGigabyte, 40 * kGigabyte);
  question.disk_bytes_per_s = 20e6;
  const uint64_t bytes = CacheBytes(question);
  EXPECT_GT(bytes, 10'000'000U);
  EXPECT_LE(bytes, 4 * kGigabyte);
}

TEST(CacheSize, WhereTheDiskIsNoBottleneckASmallOneSavesTime) {
  EXPECT_EQ(CacheBytes(Ask(8 * kGigabyte, 40 * kGigabyte)), uint64_t{4} << 20);
}

TEST(CacheSize, TheUserMayChoose) {
  CacheQuestion question = Ask(8 * kGigabyte, 40 * kGigabyte);
  question.choice = config::SeenCache::kOff;
  EXPECT_EQ(CacheBytes(question), 0U);
  question = Ask(64'000'000, 0);
  question.choice = config::SeenCache::kOn;
  EXPECT_EQ(CacheBytes(question), 16'000'000U);
}

}  // namespace
}  // namespace nephila::seen
