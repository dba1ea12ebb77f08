#include "crawl/transfer_classes.h"

#include <gtest/gtest.h>

#include <chrono>

namespace nephila::crawl {
namespace {

using politeness::HostClass;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MonoTime kStart{seconds(1000)};

TEST(TransferClassesTest, HostsThatAreNotProvenHaveHalfOfTheTransfers) {
  TransferClasses classes;
  auto limits = classes.Limits(40, 40);
  EXPECT_EQ(limits.all, 40U);
  EXPECT_EQ(limits.slow, 10U);
  EXPECT_EQ(limits.not_proven, 20U);
  EXPECT_EQ(limits.not_proven_if_free, 35U);
  for (uint64_t i = 0; i < 22; ++i) {
    classes.Start(i, i < 4 ? HostClass::kSlow : HostClass::kUnproven, 0,
                  kStart);
  }
  limits = classes.Limits(40, 18);
  EXPECT_EQ(limits.slow, 6U);
  EXPECT_EQ(limits.not_proven, 0U);
  EXPECT_EQ(limits.not_proven_if_free, 13U);
}

TEST(TransferClassesTest, EachClassHasATransferHoweverFewThereAre) {
  const TransferClasses classes;
  const auto limits = classes.Limits(1, 1);
  EXPECT_EQ(limits.slow, 1U);
  EXPECT_EQ(limits.not_proven, 1U);
}

TEST(TransferClassesTest, SlowTransfersMoveToTheirQuarterAndOthersAreEnded) {
  TransferClasses classes;
  for (uint64_t i = 0; i < 8; ++i) {
    classes.Start(i, HostClass::kUnproven, i % 2, kStart + milliseconds(i));
  }
  EXPECT_EQ(classes.NextSlow(), kStart + seconds(1));
  EXPECT_TRUE(classes.EndSlow(8, true, kStart + milliseconds(999)).empty());
  const MonoTime later = kStart + seconds(1) + milliseconds(3);
  // Nobody waits: none is ended.
  EXPECT_TRUE(classes.EndSlow(8, false, later).empty());
  EXPECT_EQ(classes.count(HostClass::kSlow), 2U);
  const auto ended = classes.EndSlow(8, true, later);
  ASSERT_EQ(ended.size(), 2U);
  EXPECT_EQ(ended[0].lease, 2U);
  EXPECT_EQ(ended[0].downloader, 0U);
  EXPECT_EQ(ended[1].lease, 3U);
  // Each is said once.
  EXPECT_TRUE(classes.EndSlow(8, true, later).empty());
  EXPECT_TRUE(classes.End(2, false, later));
  EXPECT_EQ(classes.count(HostClass::kUnproven), 5U);
  EXPECT_EQ(classes.NextSlow(), kStart + seconds(1) + milliseconds(4));
}

TEST(TransferClassesTest, ATransferOfASlowHostIsNotEnded) {
  TransferClasses classes;
  classes.Start(1, HostClass::kSlow, 0, kStart);
  classes.Start(2, HostClass::kSlow, 0, kStart);
  EXPECT_EQ(classes.NextSlow(), MonoTime::max());
  EXPECT_TRUE(classes.EndSlow(8, true, kStart + seconds(100)).empty());
}

TEST(TransferClassesTest, WhatIsSlowDependsOnWhatProvenHostsTake) {
  TransferClasses classes;
  MonoTime now = kStart;
  uint64_t lease = 1;
  const auto transfer = [&](HostClass host, milliseconds takes) {
    classes.Start(lease, host, 0, now);
    now += takes;
    return classes.End(lease++, true, now);
  };
  for (int i = 0; i < 500; ++i) {
    transfer(HostClass::kUnproven, seconds(9));
    transfer(HostClass::kSlow, seconds(90));
  }
  EXPECT_EQ(classes.slow_after(), seconds(1));
  EXPECT_TRUE(transfer(HostClass::kUnproven, seconds(1)));
  for (int i = 0; i < 500; ++i) transfer(HostClass::kProven, milliseconds(900));
  EXPECT_GT(classes.slow_after(), seconds(3));
  EXPECT_FALSE(transfer(HostClass::kUnproven, seconds(3)));
  for (int i = 0; i < 5000; ++i) transfer(HostClass::kProven, seconds(60));
  EXPECT_EQ(classes.slow_after(), seconds(10));
}

}  // namespace
}  // namespace nephila::crawl
