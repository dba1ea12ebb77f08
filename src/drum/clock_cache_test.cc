#include "drum/clock_cache.h"

#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

// CLOCK as the books have it: one hand over all entries.
class PlainClock {
 public:
  explicit PlainClock(size_t entries) : keys_(entries), again_(entries) {}

  bool CheckAndInsert(uint64_t key) {
    if (auto it = places_.find(key); it != places_.end()) {
      again_[it->second] = true;
      return true;
    }
    size_t place = places_.size();
    if (place == keys_.size()) {
      for (; again_[hand_]; hand_ = (hand_ + 1) % keys_.size()) {
        again_[hand_] = false;
      }
      place = hand_;
      hand_ = (hand_ + 1) % keys_.size();
      places_.erase(keys_[place]);
    }
    keys_[place] = key;
    places_[key] = place;
    return false;
  }

 private:
  std::vector<uint64_t> keys_;
  std::vector<bool> again_;
  std::unordered_map<uint64_t, size_t> places_;
  size_t hand_ = 0;
};

// Keys of a skewed stream: the i-th most popular comes with a probability near
// i^-exponent (by the inverse of its integral), and what is popular drifts.
class Stream {
 public:
  Stream(double exponent, double keys, double drift)
      : exponent_(exponent), keys_(keys), drift_(drift) {}

  uint64_t Next() {
    const double a = 1 - exponent_;
    const double u = random_.Uniform();
    const double rank = std::pow(u * (std::pow(keys_, a) - 1) + 1, 1 / a);
    shift_ += drift_;
    return static_cast<uint64_t>(rank) + static_cast<uint64_t>(shift_);
  }

 private:
  Random random_{5};
  const double exponent_;
  const double keys_;
  const double drift_;
  double shift_ = 0;
};

TEST(ClockCache, ASecondTimeIsAHit) {
  ClockCache cache(1 << 20);
  for (uint64_t key : {uint64_t{0}, uint64_t{1}, ~uint64_t{0},
                       uint64_t{1} << 63, uint64_t{1} << 61}) {
    EXPECT_FALSE(cache.CheckAndInsert(key)) << key;
    EXPECT_TRUE(cache.CheckAndInsert(key)) << key;
  }
  cache.Clear();
  EXPECT_FALSE(cache.CheckAndInsert(0));
}

TEST(ClockCache, TakesTheMemoryItWasGivenAndEightBytesAnEntry) {
  for (size_t bytes : {size_t{1} << 20, size_t{5'000'000}}) {
    ClockCache cache(bytes);
    EXPECT_LE(cache.memory_bytes(), bytes);
    EXPECT_GT(cache.memory_bytes(), bytes - ClockCache::kSetBytes);
    EXPECT_EQ(cache.entries() * 8, cache.memory_bytes());
  }
  EXPECT_EQ(ClockCache(0).memory_bytes(), 512u);
}

TEST(ClockCache, HoldsHalfAsManyKeysAsItHasEntriesAlmostWhole) {
  // With keys for half of the entries few sets have more than they hold.
  ClockCache cache(1 << 20);
  const size_t half = cache.entries() / 2;
  for (uint64_t key = 0; key < half; ++key) cache.CheckAndInsert(key);
  size_t hits = 0;
  for (uint64_t key = 0; key < half; ++key) {
    hits += cache.CheckAndInsert(key) ? 1 : 0;
  }
  EXPECT_GT(hits, half * 9 / 10);
}

TEST(ClockCache, NeverSaysAKeyWasThereThatWasNot) {
  // Few sets, and keys that differ in few bits: what is left out of an entry
  // would show.
  for (size_t bytes : {size_t{0}, size_t{640}, size_t{64'000}}) {
    ClockCache cache(bytes);
    std::unordered_set<uint64_t> came;
    Random random(3);
    size_t hits = 0;
    auto check = [&](uint64_t key) {
      const bool hit = cache.CheckAndInsert(key);
      const bool is_new = came.insert(key).second;
      EXPECT_FALSE(hit && is_new) << key;
      hits += hit ? 1 : 0;
    };
    for (int i = 0; i < 20'000; ++i) {
      const uint64_t key = random.Next() & random.Next();
      check(key);
      check(key ^ (uint64_t{1} << random.Below(64)));
      check(random.Below(500));
      check(random.Below(500) << 55);
    }
    EXPECT_GT(hits, 1000u);
  }
}

// The mixing is one to one; this undoes it, to aim at one place of the cache.
uint64_t KeyOf(uint64_t mixed) {
  // Inverses modulo 2^64 of the two factors, by Newton's iteration.
  auto inverse = [](uint64_t odd) {
    uint64_t x = odd;
    for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
    return x;
  };
  uint64_t key = mixed * inverse(0xBF58476D1CE4E5B9);
  key ^= (key >> 29) ^ (key >> 58);
  key *= inverse(0x9E3779B97F4A7C15);
  return key ^ (key >> 32);
}

TEST(ClockCache, KeysThatAgreeInAllStoredBitsAreToldApart) {
  ClockCache cache(0);
  // The low 61 bits are the same, the set is another for each.
  for (uint64_t high = 0; high < 8; ++high) {
    EXPECT_FALSE(cache.CheckAndInsert(KeyOf((high << 61) | 12345))) << high;
  }
  for (uint64_t high = 0; high < 8; ++high) {
    EXPECT_TRUE(cache.CheckAndInsert(KeyOf((high << 61) | 12345))) << high;
  }
}

TEST(ClockCache, PassesOverOnceWhatCameAgain) {
  ClockCache cache(0);
  // All of one set.
  for (uint64_t i = 0; i < ClockCache::kWays; ++i) {
    EXPECT_FALSE(cache.CheckAndInsert(KeyOf(i)));
  }
  EXPECT_TRUE(cache.CheckAndInsert(KeyOf(0)));
  // 0 is passed over and 1 goes, then 2.
  EXPECT_FALSE(cache.CheckAndInsert(KeyOf(100)));
  EXPECT_FALSE(cache.CheckAndInsert(KeyOf(101)));
  EXPECT_TRUE(cache.CheckAndInsert(KeyOf(3)));
  EXPECT_TRUE(cache.CheckAndInsert(KeyOf(0)));
  EXPECT_FALSE(cache.CheckAndInsert(KeyOf(1)));
}

TEST(ClockCache, HitsAsOftenAsPlainClock) {
  struct Case {
    double exponent, keys, drift;
    size_t bytes;
    double points;  // that it may differ
  };
  for (const Case& c :
       {Case{0.8, 1e6, 0, 400'000, 1}, Case{1.1, 1e6, 0, 100'000, 1},
        Case{0.9, 1e7, 0.05, 800'000, 1}, Case{0.6, 2e5, 0.2, 800'000, 1.5}}) {
    ClockCache cache(c.bytes);
    PlainClock plain(cache.entries());
    Stream stream(c.exponent, c.keys, c.drift);
    int hits = 0;
    int plain_hits = 0;
    constexpr int kWarm = 500'000;
    constexpr int kCounted = 1'000'000;
    for (int i = 0; i < kWarm + kCounted; ++i) {
      const uint64_t key = stream.Next();
      const bool hit = cache.CheckAndInsert(key);
      const bool plain_hit = plain.CheckAndInsert(key);
      hits += i >= kWarm && hit ? 1 : 0;
      plain_hits += i >= kWarm && plain_hit ? 1 : 0;
    }
    const double rate = 100.0 * hits / kCounted;
    const double plain_rate = 100.0 * plain_hits / kCounted;
    EXPECT_NEAR(rate, plain_rate, c.points) << c.exponent;
    // The stream is one where a cache matters.
    EXPECT_GT(plain_rate, 25);
    EXPECT_LT(plain_rate, 95);
  }
}

TEST(ClockCache, ToAskWhetherAKeyIsInItChangesNothing) {
  ClockCache cache(1024);
  EXPECT_FALSE(cache.Contains(7));
  EXPECT_FALSE(cache.Contains(7));
  EXPECT_FALSE(cache.CheckAndInsert(7));
  EXPECT_TRUE(cache.Contains(7));
  EXPECT_TRUE(cache.CheckAndInsert(7));
}

}  // namespace
}  // namespace nephila::drum
