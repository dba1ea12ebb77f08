#include "politeness/domain_turns.h"

#include <gtest/gtest.h>

#include "politeness/politeness_testing.h"

namespace nephila::politeness {
namespace {

constexpr MonoTime kNow{hours(1)};
constexpr MonoTime kLatest = kNow + minutes(5);

TEST(DomainTurns, DifferentHostsAreTheDelayApart) {
  DomainTurns turns(seconds(2));
  for (int i = 0; i < 5; ++i) {
    const auto turn = turns.Take(7, 100 + i, kNow, kLatest);
    EXPECT_TRUE(turn.taken);
    EXPECT_EQ(turn.at, kNow + i * seconds(2));
  }
  EXPECT_EQ(turns.Take(8, 1, kNow, kLatest).at, kNow);
}

TEST(DomainTurns, AllMayHaveHadOneBefore) {
  DomainTurns turns(seconds(2), kNow - seconds(1));
  EXPECT_EQ(turns.Take(7, 1, kNow, kLatest).at, kNow + seconds(1));
  EXPECT_EQ(turns.Take(7, 2, kNow, kLatest).at, kNow + seconds(3));
  EXPECT_EQ(turns.Take(8, 1, kNow + seconds(1), kLatest).at, kNow + seconds(1));
}

TEST(DomainTurns, AHostAloneIsNotSlowed) {
  DomainTurns turns(seconds(2));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(turns.Take(7, 1, kNow, kLatest).at, kNow);
  }
  // Another one waits for it, and it for the other.
  EXPECT_EQ(turns.Take(7, 2, kNow, kLatest).at, kNow + seconds(2));
  EXPECT_EQ(turns.Take(7, 1, kNow, kLatest).at, kNow + seconds(4));
}

TEST(DomainTurns, WhoComesTooLateAsksAgainAndLosesNobodysTurn) {
  DomainTurns turns(seconds(10));
  turns.Take(7, 1, kNow, kLatest);
  const auto first = turns.Take(7, 2, kNow, kNow + seconds(5));
  EXPECT_FALSE(first.taken);
  EXPECT_EQ(first.at, kNow + seconds(10));
  const auto second = turns.Take(7, 3, kNow, kNow + seconds(5));
  EXPECT_FALSE(second.taken);
  EXPECT_EQ(second.at, kNow + seconds(20));
  const auto again = turns.Take(7, 2, first.at, first.at + seconds(5));
  EXPECT_TRUE(again.taken);
  EXPECT_EQ(again.at, first.at);
}

TEST(DomainTurns, ForgetsDomainsWhoseTurnsArePast) {
  DomainTurns turns(milliseconds(10));
  for (uint64_t i = 0; i < 100'000; ++i) {
    turns.Take(i, i, kNow + i * milliseconds(1), MonoTime::max());
  }
  EXPECT_LE(turns.size(), 1024U);
}

TEST(DomainTurns, WithoutADelayNobodyWaitsAndNothingIsKept) {
  DomainTurns turns(Length::zero());
  EXPECT_EQ(turns.Take(7, 1, kNow, kLatest).at, kNow);
  EXPECT_EQ(turns.Take(7, 2, kNow, kLatest).at, kNow);
  EXPECT_EQ(turns.size(), 0U);
}

using PolitenessDomainTest = PolitenessTest;

TEST_F(PolitenessDomainTest, HostsOfADomainTakeTurns) {
  PolitenessSettings settings;
  settings.domain_delay = seconds(3);
  Make(settings);
  std::vector<TestHost> hosts;
  for (uint64_t i = 1; i <= 4; ++i) {
    hosts.emplace_back(i);
    hosts.back().domain = i < 4 ? 9 : 10;
    EXPECT_EQ(Add(hosts.back()).outcome, AddOutcome::kTaken);
  }
  // One of each domain.
  EXPECT_EQ(Take().size(), 2U);
  EXPECT_EQ(politeness_->Why(2).what, WaitsFor::kDomain);
  EXPECT_EQ(politeness_->Why(2).until, clock_.Now() + seconds(3));
  clock_.Advance(milliseconds(2999));
  EXPECT_TRUE(Take().empty());
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(TakeOne().host, 2U);
  clock_.Advance(seconds(3));
  EXPECT_EQ(TakeOne().host, 3U);
}

TEST_F(PolitenessDomainTest, FirstRobotsTakeTurnsToo) {
  PolitenessSettings settings;
  settings.domain_delay = seconds(3);
  Make(settings);
  for (uint64_t i = 1; i <= 2; ++i) {
    TestHost host(i);
    host.domain = 9;
    Add(host, "robots", Kind::kFirstRobots);
  }
  EXPECT_EQ(TakeOne().host, 1U);
  clock_.Advance(seconds(3));
  EXPECT_EQ(TakeOne().host, 2U);
}

TEST_F(PolitenessDomainTest, WhoWouldWaitForLongIsParkedAndComesBackInTurn) {
  PolitenessSettings settings;
  settings.domain_delay = minutes(3);
  settings.park_after = minutes(5);
  Make(settings);
  for (uint64_t i = 1; i <= 4; ++i) {
    TestHost host(i);
    host.domain = 9;
    Add(host);
  }
  EXPECT_EQ(Take().size(), 1U);
  // The second has its turn in three minutes; the others are sent away.
  const auto parked = TakeParked();
  ASSERT_EQ(parked.size(), 2U);
  EXPECT_EQ(parked[0].due, clock_.Now() + minutes(6));
  EXPECT_EQ(parked[1].due, clock_.Now() + minutes(9));
}

TEST_F(PolitenessDomainTest, OneHostGoesAsFastAsItMay) {
  PolitenessSettings settings;
  settings.domain_delay = hours(1);
  settings.host_delay = settings.host_delay_floor = seconds(1);
  Make(settings);
  const TestHost host(1);
  for (int i = 0; i < 5; ++i) {
    Add(host);
    Finish(TakeOne());
    clock_.Advance(seconds(1));
  }
}

}  // namespace
}  // namespace nephila::politeness
