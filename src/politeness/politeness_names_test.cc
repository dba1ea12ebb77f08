// Hosts that could not be tried, since their names were not resolved.
#include <gtest/gtest.h>

#include <optional>

#include "politeness/politeness_testing.h"

namespace nephila::politeness {
namespace {

class PolitenessNamesTest : public PolitenessTest {
 protected:
  PolitenessNamesTest() {
    PolitenessSettings settings;
    settings.host_delay = seconds(1);
    settings.host_delay_floor = seconds(1);
    settings.back_off = seconds(30);
    settings.dead_after = 3;
    settings.dead_pause = minutes(10);
    Make(settings);
  }
  HostWait Fail(const TestHost& host, HostStep step = HostStep::kTrouble) {
    HostFacts facts = host.facts();
    facts.addresses = {};
    return politeness_->Failed(facts, step);
  }
  std::optional<MonoTime> NotYet(const TestHost& host) {
    HostFacts facts = host.facts();
    facts.addresses = {};
    return politeness_->NotYet(facts, Kind::kPage);
  }
};

TEST_F(PolitenessNamesTest, AHostBacksOffAndIsDead) {
  const TestHost host(7);
  EXPECT_EQ(NotYet(host), std::nullopt);
  for (const Length wait : {seconds(30), seconds(60)}) {
    const HostWait left = Fail(host);
    EXPECT_EQ(left.authority_left, wait);
    EXPECT_EQ(NotYet(host), clock_.Now() + wait);
    EXPECT_EQ(politeness_->stats().hosts, 1U);
    clock_.Advance(wait);
    EXPECT_EQ(NotYet(host), std::nullopt);
  }
  const HostWait dead = Fail(host);
  EXPECT_EQ(dead.authority_left, minutes(10));
  EXPECT_EQ(dead.authority_reason, DelayReason::kDeadHost);
  EXPECT_EQ(dead.left, seconds(0));  // nobody was contacted
  EXPECT_EQ(dead.failures, 3U);
  EXPECT_EQ(politeness_->stats().parked_hosts, 1U);
  const HostNote note = TakeNotes().back();
  EXPECT_EQ(note.failures, 3U);
  EXPECT_EQ(note.authority_not_before, clock_.Now() + minutes(10));
  // One behind the other.
  EXPECT_EQ(NotYet(host), clock_.Now() + minutes(10));
  EXPECT_EQ(NotYet(host), clock_.Now() + minutes(10) + seconds(1));
  // Its record knows; it is not tried before.
  politeness_->Forget(note.host, note.epoch);
  TestHost again(7);
  again.failures = 3;
  again.authority_not_before = note.authority_not_before;
  EXPECT_EQ(NotYet(again), note.authority_not_before);
  clock_.Advance(minutes(10));
  EXPECT_EQ(NotYet(again), std::nullopt);
  EXPECT_EQ(Fail(again).authority_left, minutes(20));
}

TEST_F(PolitenessNamesTest, WhatWaitsInMemoryIsSentAwayWhenItsHostIsDead) {
  const TestHost host(7);
  Add(host, "first");
  Finish(TakeOne());
  Add(host, "second");
  EXPECT_EQ(Fail(host, HostStep::kDead).authority_left, minutes(10));
  const auto parked = TakeParked();
  ASSERT_EQ(parked.size(), 1U);
  EXPECT_EQ(parked[0].payload, "second");
  EXPECT_EQ(parked[0].due, clock_.Now() + minutes(10));
  EXPECT_TRUE(Take().empty());
}

TEST_F(PolitenessNamesTest, AnAnswerEndsIt) {
  const TestHost host(7);
  Fail(host);
  clock_.Advance(seconds(30));
  Add(host);
  EXPECT_EQ(Finish(TakeOne()).host.failures, 0U);
  EXPECT_EQ(NotYet(host), std::nullopt);
}

TEST_F(PolitenessNamesTest, ATransferInFlightGoesOn) {
  const TestHost host(7);
  Add(host, "first");
  Add(host, "second");
  const Lease lease = TakeOne();
  EXPECT_EQ(Fail(host).authority_left, seconds(30));
  Finish(lease);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(30));
}

TEST_F(PolitenessNamesTest, WithTooManyParkedOnesNewHostsWait) {
  PolitenessSettings settings;
  settings.max_parked = 1;
  settings.max_hosts = 1;
  Make(settings);
  Fail(TestHost(6), HostStep::kDead);
  Fail(TestHost(7), HostStep::kDead);
  EXPECT_EQ(NotYet(TestHost(8)), clock_.Now() + seconds(10));
}

}  // namespace
}  // namespace nephila::politeness
