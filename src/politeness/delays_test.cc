#include "politeness/delays.h"

#include <gtest/gtest.h>

#include "politeness/politeness_testing.h"

namespace nephila::politeness {
namespace {

DelayRules Rules(const PolitenessSettings& settings = {}) {
  return DelayRules(settings, 10);
}

HostPace WithBudget(double budget) {
  HostPace pace;
  pace.budget = budget;
  return pace;
}

TEST(DelaysTest, TheDefaultsAreThoseOfTheThesis) {
  const DelayRules rules = Rules();
  EXPECT_EQ(rules.HostDelay(WithBudget(10)).length, seconds(40));
  EXPECT_EQ(rules.HostDelay(WithBudget(10000)).length, seconds(10));
  EXPECT_EQ(rules.ServerDelay(10), seconds(1));
  EXPECT_EQ(rules.ServerDelay(10000), milliseconds(50));
}

TEST(DelaysTest, ShrinkWithTheBudgetDownToTheFloor) {
  const DelayRules rules = Rules();
  EXPECT_EQ(rules.HostDelay(WithBudget(0)).length, seconds(40));
  EXPECT_EQ(rules.HostDelay(WithBudget(5)).length, seconds(40));
  EXPECT_EQ(rules.HostDelay(WithBudget(20)).length, seconds(20));
  EXPECT_EQ(rules.HostDelay(WithBudget(39)).length.count() / 1000000, 10256);
  EXPECT_EQ(rules.HostDelay(WithBudget(41)).length, seconds(10));
  EXPECT_EQ(rules.ServerDelay(100), milliseconds(100));
  EXPECT_EQ(rules.ServerDelay(250), milliseconds(50));
}

TEST(DelaysTest, AFloorAboveTheDelayDoesNotRaiseIt) {
  PolitenessSettings settings;
  settings.host_delay = seconds(1);
  settings.server_delay = seconds(0);
  EXPECT_EQ(Rules(settings).HostDelay(WithBudget(1000)).length, seconds(1));
  EXPECT_EQ(Rules(settings).ServerDelay(1000), seconds(0));
}

TEST(DelaysTest, TheLongestReasonCounts) {
  PolitenessSettings settings;
  settings.download_multiple = 10;
  const DelayRules rules = Rules(settings);
  HostPace pace;
  EXPECT_EQ(rules.HostDelay(pace).reason, DelayReason::kHostDelay);
  pace.site_delay = seconds(3);
  EXPECT_EQ(rules.HostDelay(pace).length, seconds(3));
  EXPECT_EQ(rules.HostDelay(pace).reason, DelayReason::kSiteSetting);
  pace.last_download = seconds(2);
  EXPECT_EQ(rules.HostDelay(pace).length, seconds(20));
  EXPECT_EQ(rules.HostDelay(pace).reason, DelayReason::kDownloadTime);
  pace.crawl_delay = seconds(7200);
  EXPECT_EQ(rules.HostDelay(pace).length, seconds(7200));
  EXPECT_EQ(rules.HostDelay(pace).reason, DelayReason::kCrawlDelay);
}

TEST(DelaysTest, TheMultipleOfTheDownloadTimeIsOffByDefault) {
  HostPace pace;
  pace.last_download = seconds(100);
  EXPECT_EQ(Rules().HostDelay(pace).length, seconds(40));
}

TEST(DelaysTest, BackOffDoublesUpToItsBound) {
  const DelayRules rules = Rules();
  EXPECT_EQ(rules.BackOff(0), seconds(0));
  EXPECT_EQ(rules.BackOff(1), minutes(1));
  EXPECT_EQ(rules.BackOff(2), minutes(2));
  EXPECT_EQ(rules.BackOff(6), minutes(32));
  EXPECT_EQ(rules.BackOff(7), minutes(60));
  EXPECT_EQ(rules.BackOff(UINT32_MAX), minutes(60));
}

TEST(DelaysTest, DeadHostsAreTriedAgainAfterGrowingPauses) {
  const DelayRules rules = Rules();
  EXPECT_FALSE(rules.IsDead(2));
  EXPECT_EQ(rules.DeadPause(2), seconds(0));
  EXPECT_TRUE(rules.IsDead(3));
  EXPECT_EQ(rules.DeadPause(3), minutes(10));
  EXPECT_EQ(rules.DeadPause(4), minutes(20));
  EXPECT_EQ(rules.DeadPause(1000), std::chrono::hours(24));
}

TEST(DelaysTest, RetryAfterIsBounded) {
  const DelayRules rules = Rules();
  EXPECT_EQ(rules.RetryAfter(seconds(100)), seconds(100));
  EXPECT_EQ(rules.RetryAfter(seconds(-5)), seconds(0));
  EXPECT_EQ(rules.RetryAfter(std::chrono::hours(10000)),
            std::chrono::hours(24));
}

TEST(DelaysTest, EveryReasonHasAName) {
  for (uint8_t i = 0; i < kDelayReasons; ++i) {
    EXPECT_FALSE(DelayReasonName(static_cast<DelayReason>(i)).empty());
  }
  EXPECT_EQ(DelayReasonName(DelayReason::kRestart), "restart");
}

}  // namespace
}  // namespace nephila::politeness
