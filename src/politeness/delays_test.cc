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
  pace.last_download = Length::max();
  EXPECT_EQ(rules.HostDelay(pace).length, kLongest);
  pace.last_download = seconds(2);
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
  EXPECT_EQ(rules.BackOff({0, 0}), seconds(0));
  EXPECT_EQ(rules.BackOff({1, 0}), seconds(30));
  EXPECT_EQ(rules.BackOff({0, 2}), seconds(60));
  EXPECT_EQ(rules.BackOff({3, 4}), minutes(32));
  EXPECT_EQ(rules.BackOff({0, 8}), minutes(60));
  EXPECT_EQ(rules.BackOff({UINT32_MAX, UINT32_MAX}), minutes(60));
}

TEST(DelaysTest, OnlySilenceKills) {
  const PolitenessSettings settings;
  Trouble trouble;
  for (int i = 0; i < 100; ++i) {
    trouble.Note(item::HostStep::kBackOff, settings);
  }
  EXPECT_EQ(trouble, (Trouble{0, 100}));
  trouble.Note(item::HostStep::kTrouble, settings);
  trouble.Note(item::HostStep::kNone, settings);
  EXPECT_EQ(trouble, (Trouble{1, 100}));
  // An error is an answer.
  trouble.Note(item::HostStep::kBackOff, settings);
  EXPECT_EQ(trouble, (Trouble{0, 101}));
  trouble.Note(item::HostStep::kDead, settings);
  EXPECT_TRUE(Rules(settings).IsDead(trouble.failures));
  trouble.Note(item::HostStep::kWell, settings);
  EXPECT_EQ(trouble, Trouble());
  trouble = {UINT32_MAX, UINT32_MAX};
  trouble.Note(item::HostStep::kTrouble, settings);
  EXPECT_EQ(trouble.failures, UINT32_MAX);
}

TEST(DelaysTest, TimesAndLengthsSaturate) {
  EXPECT_EQ(Times(seconds(2), 3), seconds(6));
  EXPECT_EQ(Times(seconds(2), 0), seconds(0));
  EXPECT_EQ(Times(Length::max(), 1), kLongest);
  EXPECT_EQ(Times(seconds(1), UINT64_MAX), kLongest);
  EXPECT_EQ(Times(seconds(-1), 5), seconds(0));
  const MonoTime now(seconds(5));
  EXPECT_EQ(After(now, seconds(2)), now + seconds(2));
  EXPECT_EQ(After(now, seconds(-2)), now);
  EXPECT_EQ(After(now, Length::max()), now + kLongest);
  EXPECT_EQ(After(MonoTime::max(), seconds(1)), kFarthest);
  EXPECT_EQ(After(kFarthest, kLongest), kFarthest);
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
  PolitenessSettings settings;
  settings.max_retry_after = minutes(5);
  EXPECT_EQ(Rules(settings).RetryAfter(seconds(100)), seconds(100));
  EXPECT_EQ(Rules(settings).RetryAfter(std::chrono::hours(1)), minutes(5));
}

TEST(DelaysTest, EveryReasonHasAName) {
  for (uint8_t i = 0; i < kDelayReasons; ++i) {
    EXPECT_FALSE(DelayReasonName(static_cast<DelayReason>(i)).empty());
  }
  EXPECT_EQ(DelayReasonName(DelayReason::kRestart), "restart");
}

}  // namespace
}  // namespace nephila::politeness
