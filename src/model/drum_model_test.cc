#include "model/drum_model.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nephila::model {
namespace {

using enum Method;

constexpr double kLinks = 59 * 8e9;
constexpr double kDisk = 4.39e12;

TEST(DrumModel, OverheadGrowsWithLinksAndFallsWithMemoryToItsBound) {
  DrumParameters a;
  for (Method method : {kMercatorB, kPolybot, kDrum}) {
    SCOPED_TRACE(MethodName(method));
    double last = 0;
    for (double links = 1e6; links < 1e16; links *= 10) {
      double alpha = Alpha(method, a, links, 1e9, kDisk);
      EXPECT_GT(alpha, last);
      EXPECT_GT(alpha, AlphaBound(method, a));
      last = alpha;
    }
    last = Alpha(method, a, kLinks, 1e8, kDisk);
    for (double ram = 2e8; ram < 1e12; ram *= 2) {
      double alpha = Alpha(method, a, kLinks, ram, kDisk);
      EXPECT_LE(alpha, last);
      last = alpha;
    }
    // With all the memory and disk in the world, nothing but the bound.
    EXPECT_NEAR(Alpha(method, a, kLinks, 1e30, 1e40), AlphaBound(method, a),
                1e-9);
  }
}

TEST(DrumModel, OmegaTendsToItsQuadraticTerm) {
  DrumParameters a;
  for (Method method : {kMercatorB, kPolybot, kDrum}) {
    SCOPED_TRACE(MethodName(method));
    auto ratio = [&](double links) {
      double alpha = Alpha(method, a, links, 1e9, OptimalDisk(a, 1e9));
      return alpha * a.url_bytes * links / OmegaLimit(method, a, links, 1e9);
    };
    EXPECT_GT(ratio(1e12), ratio(1e14));
    EXPECT_GT(ratio(1e14), 1);
    EXPECT_NEAR(ratio(1e20), 1, 1e-6);
  }
}

TEST(DrumModel, TheTwoCasesOfTheoremTwoMeetAtTheOptimalDisk) {
  DrumParameters a;
  for (double ram : {1e8, 1e9, 8e9}) {
    double disk = OptimalDisk(a, ram);
    EXPECT_NEAR(Lambda(a, disk) / (ram * ram), 1, 1e-12);
    double below = AlphaDrum(a, kLinks, ram, disk * (1 - 1e-9));
    double above = AlphaDrum(a, kLinks, ram, disk * (1 + 1e-9));
    EXPECT_NEAR(below / above, 1, 1e-8);
    // More disk than memory can fill is of no use.
    EXPECT_EQ(above, AlphaDrum(a, kLinks, ram, disk * 100));
    EXPECT_GT(AlphaDrum(a, kLinks, ram, disk / 2), below);
  }
}

TEST(DrumModel, TheLayoutFillsMemoryAndDisk) {
  DrumParameters a;
  for (double ram : {1e8, 1e9, 8e9}) {
    for (double share : {0.01, 0.5, 0.99, 1.5, 10.0}) {
      double disk = OptimalDisk(a, ram) * share;
      DrumLayout layout = Layout(a, ram, disk);
      EXPECT_EQ(layout.memory_bound, share > 1);
      double memory = layout.bucket_bytes * 12 / 8 +  // (8)
                      2 * a.buffer_bytes * layout.buckets;
      EXPECT_NEAR(memory / ram, 1, 1e-9);
      double used = share > 1 ? OptimalDisk(a, ram) : disk;
      EXPECT_NEAR(layout.disk_bytes / used, 1, 1e-9);
      // (14) with this k and r is (7).
      double passes_term =
          (2 * a.known_urls * 8 + a.unique_share * 8 * kLinks) * 8 /
          (a.url_bytes * layout.buckets * layout.bucket_bytes);
      EXPECT_NEAR(passes_term + AlphaBound(kDrum, a),
                  AlphaDrum(a, kLinks, ram, disk), 1e-6);
    }
  }
}

TEST(DrumModel, BucketsAreFewEnoughWhereverTheoremTwoHolds) {
  DrumParameters a;
  EXPECT_DOUBLE_EQ(MinRam(a), 96e6);
  for (double ram = MinRam(a); ram < 1e11; ram *= 1.1) {
    for (double share = 0.001; share < 10; share *= 2) {
      DrumLayout layout = Layout(a, ram, OptimalDisk(a, ram) * share);
      EXPECT_LE(layout.buckets, MaxBuckets(a, ram) * (1 + 1e-12));
      EXPECT_GE(layout.bucket_bytes, a.min_bucket_bytes * (1 - 1e-12));
    }
  }
}

TEST(DrumModel, Equation13FailsAtThePointOfTableTwo) {
  DrumParameters a;
  EXPECT_NEAR(RamByEquation13(a, kDisk), 4.81e9, 0.01e9);
  DrumLayout layout = Layout(a, 1e9, kDisk);
  EXPECT_NEAR(layout.buckets, 691, 1);
  EXPECT_NEAR(MaxBuckets(a, 1e9), 1859, 1);
}

TEST(DrumModel, DiskGrowsWithUniqueHashesFromATerabyte) {
  DrumParameters a;
  EXPECT_EQ(DiskForLinks(a, 1e6), 1e12);
  EXPECT_DOUBLE_EQ(DiskForLinks(a, 9e13), 8e13);
}

TEST(DrumModel, TheRateIsTheDiskSpeedOverTheBytesOfAPage) {
  DrumParameters a;
  EXPECT_DOUBLE_EQ(DiskRate(a, 2, 2 * 110 * 59 * 7), 7);
}

}  // namespace
}  // namespace nephila::model
