// The model of our own store at points worked out by hand.

#include "model/store_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "model/cache_model.h"

namespace nephila::model {
namespace {

constexpr double kMega = 1 << 20;

double RunBytes(double keys) { return keys * RiceBytesPerKey(keys); }

// 1024 links a block of 10.01171875 bytes each, 2 Mi links a pass, 1 Mi new.
StoreParameters Small(double growth) {
  StoreParameters small;
  small.link_bytes = 64;
  small.text_ratio = 8;
  small.log_block_bytes = 65536;
  small.key_record_bytes = 7;
  small.unique_share = 0.5;
  small.disk_bytes = 2 * 2 * kMega * 17.01171875;
  small.known_keys = 0;
  small.tier_growth = growth;
  return small;
}

TEST(StoreModel, RiceCodesTakeWhatTheGapsNeed) {
  EXPECT_DOUBLE_EQ(RiceBytesPerKey(std::pow(2, 32)), 33.5 / 8);
  EXPECT_DOUBLE_EQ(RiceBytesPerKey(std::pow(2, 26)), 39.5 / 8);
  EXPECT_DOUBLE_EQ(RiceBytesPerKey(1), 65.5 / 8);
  EXPECT_DOUBLE_EQ(RiceBytesPerKey(0), 65.5 / 8);
  EXPECT_NEAR(RiceBytesPerKey(1e8), 4.866, 0.001);
  EXPECT_NEAR(RiceBytesPerKey(1e9), 4.450, 0.001);
  EXPECT_GT(RiceBytesPerKey(1e30), 0);
}

TEST(StoreModel, TheNumberOfABucketSavesAByteOfEachKey) {
  EXPECT_EQ(KeyRecordBytes(512), 7);
  EXPECT_EQ(KeyRecordBytes(256), 7);
  EXPECT_EQ(KeyRecordBytes(255), 8);
}

TEST(StoreModel, LogBytesAreCompressedAndPadded) {
  // 64 / 8, and (2048 + 12) / 1024 for the page and the header.
  EXPECT_DOUBLE_EQ(LogBytesPerLink(Small(1)), 8 + 2.01171875);
  // As measured: 61.68 bytes, 7.01 : 1 in blocks and 6.92 : 1 in pages.
  StoreParameters measured;
  measured.link_bytes = 61.68;
  measured.text_ratio = 7.01;
  EXPECT_NEAR(61.68 / LogBytesPerLink(measured), 6.92, 0.01);
}

TEST(StoreModel, ABatchIsBoundByDiskOrByMemory) {
  StoreParameters small = Small(1);
  EXPECT_DOUBLE_EQ(LinksPerPass(small), 2 * kMega);
  small.ram_bytes = 4 * 16 * 10;
  small.buckets = 3;
  EXPECT_DOUBLE_EQ(LinksPerPass(small), 30);
}

struct Case {
  double growth;
  std::vector<double> runs;     // after six passes, in units of p n
  std::vector<double> written;  // by each of them
  double most_runs;
};

TEST(StoreModel, SixPassesFromNothingAreAsWorkedOutByHand) {
  const std::vector<Case> cases = {
      {kRewrite, {6}, {1, 2, 3, 4, 5, 6}, 1},
      {2, {5, 1}, {1, 2, 3, 1, 5, 1}, 2},
      {1, {4, 2}, {1, 2, 1, 4, 1, 2}, 2},
      {0, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}, 6},
  };
  for (const Case& c : cases) {
    const StoreParameters small = Small(c.growth);
    const StoreAlpha alpha = AlphaStore(small, {}, 6);
    std::vector<double> runs = c.runs;
    for (double& keys : runs) keys *= kMega;
    EXPECT_EQ(alpha.runs, runs) << c.growth;
    EXPECT_EQ(alpha.most_runs, c.most_runs) << c.growth;
    double written = 0;
    for (double keys : c.written) written += RunBytes(keys * kMega);
    const double text = 6 * 2 * kMega * 64;
    EXPECT_NEAR(alpha.z_written, written / text, 1e-12) << c.growth;
  }
}

TEST(StoreModel, EveryPassReadsAllRunsOnce) {
  // Before each pass: nothing, 1, 2, 2 and 1, 4, 4 and 1.
  const StoreAlpha alpha = AlphaStore(Small(1), {}, 6);
  double read = 0;
  for (double keys : {1.0, 2.0, 2.0, 1.0, 4.0, 4.0, 1.0}) {
    read += RunBytes(keys * kMega);
  }
  EXPECT_NEAR(alpha.z_read, read / (6 * 2 * kMega * 64), 1e-12);
  EXPECT_DOUBLE_EQ(alpha.mean_runs, 7.0 / 6);
  EXPECT_DOUBLE_EQ(alpha.log, 2 * 10.01171875 / 64);
  EXPECT_DOUBLE_EQ(alpha.buckets, 14.0 / 64);
  EXPECT_DOUBLE_EQ(alpha.unique_text, 0.5);
  EXPECT_DOUBLE_EQ(alpha.alpha(), alpha.log + alpha.buckets + alpha.z_read +
                                      alpha.z_written + alpha.unique_text);
}

TEST(StoreModel, AGrownStoreHasAllItsKeys) {
  StoreParameters small = Small(1);
  small.known_keys = 6.5 * kMega;
  // Half a unit first: 1.5, then 1.5 1, 3.5, 3.5 1, 3.5 2, 3.5 2 1.
  EXPECT_EQ(GrownRuns(small),
            (std::vector<double>{3.5 * kMega, 2 * kMega, kMega}));
  EXPECT_EQ(DoublingPasses(small), 7u);
  small.known_keys = 1e15;
  const std::vector<double> runs = GrownRuns(small);
  EXPECT_NEAR(std::accumulate(runs.begin(), runs.end(), 0.0), 1e15, 1);
  EXPECT_EQ(DoublingPasses(small), kMaxPasses);
}

TEST(StoreModel, MergingLessWritesLessAndReadsMore) {
  for (double keys : {1e8, 1e9, 1e10}) {
    StoreParameters store;
    store.known_keys = keys;
    StoreAlpha before;
    for (double growth : {kRewrite, 1.0, 0.0}) {
      store.tier_growth = growth;
      const StoreAlpha alpha = AlphaStore(store);
      if (growth != kRewrite) {
        EXPECT_LT(alpha.z_written, before.z_written);
        EXPECT_GT(alpha.z_read, before.z_read);
      }
      before = alpha;
    }
  }
}

TEST(StoreModel, OurStoreIsFarBelowTheoremTwo) {
  for (double keys : {1e7, 1e8, 1e9, 1e10, 1e11}) {
    StoreParameters store;
    store.known_keys = keys;
    EXPECT_LT(3 * AlphaStore(store).alpha(),
              AlphaPaper(store, DoublingPasses(store)))
        << keys;
  }
}

// None, lz4, zstd -1, as measured for links of 63 bytes.
constexpr std::array<CodecCosts, 3> kMeasured = {
    {{8.0 / 63, 1}, {95.0 / 63, 4.75}, {145.0 / 63, 7}}};

StoreParameters MeasuredStore() {
  StoreParameters store;
  store.link_bytes = 63;
  return store;
}

TEST(StoreModel, TheDiskChoosesTheCodec) {
  auto choose = [](double bytes_per_s) {
    return ChooseCodec(kMeasured, MeasuredStore(),
                       Machine{.disk_bytes_per_s = bytes_per_s});
  };
  EXPECT_EQ(choose(1e8), 2u);
  EXPECT_EQ(choose(1.7e9), 2u);
  EXPECT_EQ(choose(8e9), 1u);
  EXPECT_EQ(choose(20e9), 0u);
}

TEST(StoreModel, TheTimeOfALinkIsThatOfTheSlower) {
  const Machine machine;
  double alpha = 0;
  const LinkTime zstd =
      TimeWithCodec(kMeasured[2], MeasuredStore(), machine, &alpha);
  EXPECT_DOUBLE_EQ(zstd.cpu_ns, 72.5);
  EXPECT_DOUBLE_EQ(zstd.disk_ns, 63 * alpha / 0.425);
  EXPECT_EQ(zstd.ns(), std::max(zstd.cpu_ns, zstd.disk_ns));
}

TEST(StoreModel, OfEqualCodecsTheOneWithTheSmallerAlphaIsTaken) {
  // So slow a CPU that the disk does not matter.
  const std::array<CodecCosts, 3> equal = {{{1e6, 2}, {1e6, 5}, {1e6, 3}}};
  EXPECT_EQ(ChooseCodec(equal, MeasuredStore(), Machine{}), 1u);
}

TEST(StoreModel, ACachePaysByTheSlowerOfCpuAndDisk) {
  CacheCosts costs{.cache_ns = 30,
                   .miss_rate = 0.4,
                   .without = {.cpu_ns = 300, .disk_ns = 100},
                   .with = {.cpu_ns = 320, .disk_ns = 110},
                   .cores = 2};
  EXPECT_DOUBLE_EQ(LinkNsWithoutCache(costs), 150);
  EXPECT_DOUBLE_EQ(LinkNsWithCache(costs), 79);  // (30 + 128) / 2
  EXPECT_TRUE(CachePays(costs));
  // Few duplicates near each other: then it only costs.
  costs.miss_rate = 0.95;
  EXPECT_FALSE(CachePays(costs));
  // The disk is the bottleneck: it pays whatever it costs below that.
  costs.without.disk_ns = 1000;
  costs.with.disk_ns = 1010;
  EXPECT_TRUE(CachePays(costs));
  costs.cache_ns = 3000;
  EXPECT_FALSE(CachePays(costs));
}

TEST(StoreModel, WithoutCpuInTheStoreTheRuleIsTheThesisOwn) {
  // (21), pages/s, and S_disk of (18): 3577.8 and what the disk gives.
  const double l = 59;
  const double mu = 2e6;
  const double max_rate = 4000;
  CacheCosts costs{.cache_ns = 1e9 / mu,
                   .miss_rate = 0.33,
                   .without = {.cpu_ns = 0, .disk_ns = 5000},
                   .with = {.cpu_ns = 0, .disk_ns = 5000},
                   .other_cpu_ns = 1e9 / (l * max_rate),
                   .cores = 1};
  EXPECT_NEAR(1e9 / LinkNsWithCache(costs) / l, CacheRate(mu, l, max_rate),
              1e-6);
  // S_disk = 3390 < 3577.8: enabled; at 3657 > S_cache it is not.
  EXPECT_TRUE(CachePays(costs));
  costs.without.disk_ns = 4635;
  EXPECT_FALSE(CachePays(costs));
}

TEST(StoreModel, BehindACacheMoreOfTheLinksAreUnique) {
  const StoreParameters store;
  EXPECT_DOUBLE_EQ(BehindCache(store, 0.5).unique_share, 2.0 / 9);
  EXPECT_DOUBLE_EQ(BehindCache(store, 0.01).unique_share, 1);
  EXPECT_GT(AlphaStore(BehindCache(store, 0.5)).alpha(),
            AlphaStore(store).alpha());
}

}  // namespace
}  // namespace nephila::model
