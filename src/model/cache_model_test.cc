#include "model/cache_model.h"

#include <gtest/gtest.h>

namespace nephila::model {
namespace {

using enum Method;
using enum Uniqueness;

constexpr double kLinks = 59 * 8e10;

TEST(CacheModel, BisectionGivesEquation21ForALinearCpu) {
  for (double mu : {1e3, 113e3, 2e6, 277e6}) {
    double linear = CacheRate(mu, 59, 4000, [](double s) { return s / 4000; });
    EXPECT_NEAR(linear, CacheRate(mu, 59, 4000), 1e-6);
  }
  // An idle CPU: as many pages as their links fit.
  EXPECT_NEAR(CacheRate(59e3, 59, 4000, [](double) { return 0; }), 1000, 1e-6);
}

TEST(CacheModel, TheRateGrowsWithTheCacheAndStaysBelowTheCpus) {
  double last = 0;
  for (double mu = 1e3; mu < 1e12; mu *= 10) {
    double rate = CacheRate(mu, 59, 4000);
    EXPECT_GT(rate, last);
    EXPECT_LT(rate, 4000);
    last = rate;
  }
  EXPECT_NEAR(last, 4000, 0.01);
}

TEST(CacheModel, MissesStepDownWithTheCacheAndUpWithTheRate) {
  DrumParameters drum;
  CacheParameters cache;
  double set = 20 * 40 * 59;  // bytes per page/s
  EXPECT_EQ(MissRate(drum, cache, 0, 1), 1);
  EXPECT_EQ(MissRate(drum, cache, 0.99 * set, 1), 0.84);
  EXPECT_EQ(MissRate(drum, cache, set, 1), 0.38);
  EXPECT_EQ(MissRate(drum, cache, 2 * set, 1), 0.26);
  EXPECT_EQ(MissRate(drum, cache, 10 * set, 1), 0.22);
  EXPECT_EQ(MissRate(drum, cache, 10 * set, 1.01), 0.26);
  EXPECT_EQ(MissRate(drum, cache, 10 * set, 100), 0.84);
}

TEST(CacheModel, ACacheThatMissesAllAndTakesNothingChangesNothing) {
  DrumParameters drum;
  for (Uniqueness uniqueness : {kAsInThesis, kOnlyDuplicatesLeave}) {
    for (Method method : {kMercatorB, kPolybot, kDrum}) {
      EXPECT_DOUBLE_EQ(
          CachedAlpha(method, drum, uniqueness, kLinks, 4e9, 0, 1),
          Alpha(method, drum, kLinks, 4e9, DiskForLinks(drum, kLinks)));
    }
  }
}

TEST(CacheModel, UniqueLinksPassWhateverTheCache) {
  DrumParameters drum;
  drum.known_urls = 0;
  // In the quadratic term alone, alpha pi is then as without the cache in the
  // size of URLseen, and pi times as many passes.
  double before = AlphaMercatorB(drum, 1e18, 4e9);
  double behind =
      CachedAlpha(kMercatorB, drum, kOnlyDuplicatesLeave, 1e18, 4e9, 0, 0.25);
  EXPECT_NEAR(behind * 0.25 / before, 0.25, 1e-6);
  double thesis =
      CachedAlpha(kMercatorB, drum, kAsInThesis, 1e18, 4e9, 0, 0.25);
  EXPECT_NEAR(thesis * 0.25 / before, 0.0625, 1e-6);
  // No cache lets fewer pass than are unique.
  EXPECT_EQ(
      CachedAlpha(kDrum, drum, kOnlyDuplicatesLeave, kLinks, 4e9, 0, 0.01),
      CachedAlpha(kDrum, drum, kOnlyDuplicatesLeave, kLinks, 4e9, 0, 1.0 / 9));
}

TEST(CacheModel, TheHybridRateSolvesItsEquation) {
  DrumParameters drum;
  CacheParameters cache;
  double bound = cache.disk_speed / (drum.url_bytes * drum.links_per_page);
  for (Method method : {kMercatorB, kPolybot, kDrum}) {
    for (double c = 0; c < 4e9; c += 250e6) {
      double rate =
          HybridRate(method, drum, cache, kAsInThesis, kLinks, 4e9, c);
      auto h = [&](double s) {
        double pi = MissRate(drum, cache, c, s);
        return s * pi *
               CachedAlpha(method, drum, kAsInThesis, kLinks, 4e9, c, pi);
      };
      EXPECT_LE(h(rate * (1 - 1e-9)), bound);
      EXPECT_GE(h(rate * (1 + 1e-9)), bound);
    }
  }
}

TEST(CacheModel, WithoutCacheTheHybridIsTheDiskAndWithoutMemoryNothing) {
  DrumParameters drum;
  CacheParameters cache;
  double alpha = AlphaDrum(drum, kLinks, 4e9, DiskForLinks(drum, kLinks));
  EXPECT_DOUBLE_EQ(HybridRate(kDrum, drum, cache, kAsInThesis, kLinks, 4e9, 0),
                   DiskRate(drum, alpha, cache.disk_speed));
  EXPECT_EQ(HybridRate(kDrum, drum, cache, kAsInThesis, kLinks, 4e9, 4e9), 0);
}

TEST(CacheModel, ACacheIsTurnedOffWhereTheCpuIsTheBottleneck) {
  DrumParameters drum;
  CacheParameters cache;
  // S_disk is above S_max: nothing is left to gain.
  BestCache best = OptimalCache(kDrum, drum, cache, kAsInThesis, kLinks, 8e9);
  EXPECT_EQ(best.cache_bytes, 0);
  EXPECT_EQ(best.pages_per_s, cache.max_rate);
  // Mercator-B is slow enough to need one.
  best = OptimalCache(kMercatorB, drum, cache, kAsInThesis, kLinks, 8e9);
  EXPECT_GT(best.cache_bytes, 0);
  EXPECT_GT(best.pages_per_s,
            HybridRate(kMercatorB, drum, cache, kAsInThesis, kLinks, 8e9, 0));
}

}  // namespace
}  // namespace nephila::model
