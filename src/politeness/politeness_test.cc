#include "politeness/politeness.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "politeness/politeness_testing.h"

namespace nephila::politeness {
namespace {

TEST_F(PolitenessTest, GivesALeaseForWhatIsDue) {
  const TestHost host(7);
  EXPECT_EQ(Add(host, "http://a/").outcome, AddOutcome::kTaken);
  const Lease lease = TakeOne();
  EXPECT_EQ(lease.host, 7U);
  EXPECT_EQ(lease.address, ServerNumber(7));
  EXPECT_EQ(lease.payload, "http://a/");
  EXPECT_EQ(lease.kind, Kind::kPage);
  EXPECT_TRUE(Take().empty());
}

TEST_F(PolitenessTest, HasOneRequestInFlightPerHost) {
  const TestHost host(7, {1, 2});
  Add(host, "first");
  Add(host, "second");
  const Lease lease = TakeOne();
  clock_.Advance(minutes(3));
  EXPECT_TRUE(Take().empty());
  Finish(lease);
  clock_.Advance(seconds(40));
  EXPECT_EQ(TakeOne().payload, "second");
}

TEST_F(PolitenessTest, WaitsFromTheEndOfTheTransfer) {
  const TestHost host(7);
  Add(host, "first");
  Add(host, "second");
  const Lease lease = TakeOne();
  Outcome outcome;
  outcome.contact = clock_.Now();
  clock_.Advance(seconds(25));
  outcome.end = clock_.Now();
  politeness_->Done(lease.id, outcome);
  EXPECT_EQ(politeness_->NextDue(), outcome.end + seconds(40));
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(40));
}

TEST_F(PolitenessTest, AHostThatCrawlsFastMayBeAskedMoreOften) {
  TestHost host(7);
  host.budget = 20;
  Add(host);
  Add(host);
  Finish(TakeOne());
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(20));
}

TEST_F(PolitenessTest, KeepsContactsOfAnAddressApart) {
  for (uint64_t i = 1; i <= 3; ++i) Add(TestHost(i, {9}));
  const Lease first = TakeOne();
  // Not contacted yet: nobody knows when the next may go.
  clock_.Advance(seconds(5));
  EXPECT_TRUE(Take().empty());
  EXPECT_EQ(politeness_->NextDue(), MonoTime::max());
  politeness_->Contacted(first.id, clock_.Now());
  EXPECT_EQ(politeness_->NextDue(), clock_.Now() + seconds(1));
  clock_.Advance(milliseconds(999));
  EXPECT_TRUE(Take().empty());
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(TakeOne().host, 2U);
}

TEST_F(PolitenessTest, KeepsContactsOfAnIpv6NetworkApart) {
  TestHost one(1);
  TestHost two(2);
  TestHost three(3);
  one.addresses = {Ipv6Number(1, 1), Ipv6Number(1, 9)};
  two.addresses = {Ipv6Number(1, 2)};
  three.addresses = {Ipv6Number(2, 1)};
  for (const TestHost& host : {one, two, three}) Add(host);
  const auto leases = Take();
  // The first and the one of the other network.
  ASSERT_EQ(leases.size(), 2U);
  EXPECT_EQ(politeness_->stats().addresses, 2U);
  EXPECT_EQ(leases[0].address, politeness_->ClockOf(Ipv6Number(1, 77)));
  for (const Lease& lease : leases) Finish(lease);
  EXPECT_EQ(WaitForLease(milliseconds(10), seconds(10)),
            PolitenessSettings().server_delay);
}

TEST_F(PolitenessTest, AHostInALineLearnsThatItHasToWait) {
  TestHost host(2, {9});
  Add(TestHost(1, {9}));
  Add(host);
  const Lease first = TakeOne();
  host.not_before = clock_.Now() + minutes(2);
  politeness_->Update(host.facts());
  Finish(first);
  clock_.Advance(seconds(2));
  EXPECT_TRUE(Take().empty());
  clock_.Advance(minutes(2));
  EXPECT_EQ(TakeOne().host, 2U);
}

TEST_F(PolitenessTest, AHostInALineLearnsThatItIsElsewhere) {
  Add(TestHost(1, {9}));
  Add(TestHost(2, {9}));
  const Lease first = TakeOne();
  politeness_->Update(TestHost(2, {10}).facts());
  Finish(first);
  clock_.Advance(seconds(2));
  EXPECT_LT(WaitForLease(seconds(1), minutes(1)), minutes(1));
  EXPECT_EQ(last_.address, ServerNumber(10));
}

TEST_F(PolitenessTest, AContactThatWasReportedCountsWhateverDoneSays) {
  const TestHost host(7);
  Add(host, "first");
  Add(host, "second");
  const Lease lease = TakeOne();
  politeness_->Contacted(lease.id, clock_.Now());
  Outcome cancelled;
  cancelled.end = clock_.Now();
  politeness_->Done(lease.id, cancelled);
  politeness_->Contacted(lease.id, clock_.Now());  // too late: nothing
  clock_.Advance(seconds(39));
  EXPECT_TRUE(Take().empty());
  clock_.Advance(seconds(1));
  EXPECT_EQ(TakeOne().payload, "second");
}

TEST_F(PolitenessTest, TheMeanBudgetOfItsDomainsQuickensAnAddress) {
  // Two domains, one of them with two hosts there: (10 + 190) / 2.
  for (uint64_t i = 1; i <= 3; ++i) {
    TestHost host(i, {9});
    host.domain = i == 1 ? 100 : 200;
    host.budget = i == 1 ? 10 : 190;
    Add(host);
  }
  Finish(TakeOne());
  EXPECT_EQ(WaitForLease(milliseconds(10), seconds(5)), milliseconds(100));
}

TEST_F(PolitenessTest, BoundsWhatIsInFlightAtAnAddress) {
  PolitenessSettings settings;
  settings.server_in_flight = 3;
  settings.server_delay = seconds(0);
  Make(settings);
  for (uint64_t i = 1; i <= 10; ++i) Add(TestHost(i, {9}));
  std::vector<Lease> in_flight;
  for (int i = 0; i < 10; ++i) {
    for (const Lease& lease : Take()) {
      politeness_->Contacted(lease.id, clock_.Now());
      in_flight.push_back(lease);
    }
  }
  EXPECT_EQ(in_flight.size(), 3U);
  Finish(in_flight[1]);
  EXPECT_EQ(Take().size(), 1U);
}

TEST_F(PolitenessTest, TakesTheAddressThatIsFreeFirst) {
  Add(TestHost(1, {8}));
  TakeOne();  // 8 is busy
  Add(TestHost(2, {8, 9}));
  EXPECT_EQ(TakeOne().address, ServerNumber(9));
}

TEST_F(PolitenessTest, ALeaseThatContactedNobodyCostsNoWait) {
  const TestHost host(7);
  Add(host, "first");
  Add(host, "second");
  const Lease lease = TakeOne();
  Outcome outcome;
  outcome.end = clock_.Now();
  politeness_->Done(lease.id, outcome);
  EXPECT_EQ(TakeOne().payload, "second");
}

TEST_F(PolitenessTest, TheFirstRobotsTxtDoesNotWaitForTheHost) {
  TestHost host(7);
  Add(host, "page");
  EXPECT_EQ(Add(host, "robots", Kind::kFirstRobots).outcome,
            AddOutcome::kTaken);
  const Lease robots = TakeOne();
  EXPECT_EQ(robots.payload, "robots");
  Finish(robots);
  // It was a contact: the page waits.
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(40));
  EXPECT_EQ(last_.payload, "page");
  Finish(last_);
  // A second one is not the first, whatever it is called.
  Add(host, "robots", Kind::kFirstRobots);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(40));
}

TEST_F(PolitenessTest, TheFirstRobotsTxtWaitsForTheAddress) {
  Add(TestHost(1, {9}));
  Finish(TakeOne());
  Add(TestHost(2, {9}), "robots", Kind::kFirstRobots);
  EXPECT_EQ(WaitForLease(milliseconds(10), minutes(5)), seconds(1));
}

TEST_F(PolitenessTest, RobotsAndHopsComeBeforePagesButWait) {
  const TestHost host(7);
  Add(host, "page");
  Finish(TakeOne());
  Add(host, "page 2");
  Add(host, "hop", Kind::kHop);
  Add(host, "robots", Kind::kRobots);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(40));
  EXPECT_EQ(last_.payload, "hop");
  Finish(last_);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(40));
  EXPECT_EQ(last_.payload, "robots");
  Finish(last_);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(40));
  EXPECT_EQ(last_.payload, "page 2");
}

// What a redirect leads to may have asked for a delay that nobody here knows.
TEST_F(PolitenessTest, ACrawlDelayCountsFromAHopToo) {
  TestHost host(7);
  HostFacts facts = host.facts();
  facts.crawl_delay.reset();
  politeness_->Add(facts, Kind::kHop, "hop");
  Finish(TakeOne());
  clock_.Advance(minutes(1));
  std::vector<Lease> none;
  politeness_->Take(1, none);
  EXPECT_TRUE(none.empty());
  host.crawl_delay = minutes(2);
  Add(host, "page");
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), minutes(1));
  // But not for ever.
  Finish(last_);
  clock_.Advance(minutes(6));
  politeness_->Take(1, none);
  EXPECT_EQ(politeness_->stats().hosts, 0U);
}

TEST_F(PolitenessTest, ACrawlDelayThatIsLearntLaterCountsFromTheLastTransfer) {
  TestHost host(7);
  Add(host, "robots", Kind::kFirstRobots);
  Finish(TakeOne());
  host.crawl_delay = minutes(2);
  politeness_->Update(host.facts());
  Add(host, "page");
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), minutes(2));
  const Explanation why = politeness_->Why(7);
  EXPECT_EQ(why.reason, DelayReason::kCrawlDelay);
}

TEST_F(PolitenessTest, TheLongestCrawlDelayOfAHostCounts) {
  // Of http and https, say, whose URLs come in any order.
  TestHost http(7);
  http.crawl_delay = seconds(100);
  const TestHost https(7);
  Add(http, "a");
  Add(https, "b");
  Add(https, "c");
  Finish(TakeOne());
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(100));
  Finish(last_);
  // Until nobody has said it for long.
  clock_.Advance(hours(1));
  Add(https, "d");
  Finish(TakeOne());
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(40));
}

TEST_F(PolitenessTest, WhatIsNotKnownStaysAsItWas) {
  TestHost host(7);
  host.crawl_delay = seconds(100);
  host.budget = 20;
  Add(host, "a");
  HostFacts hop;
  hop.host = hop.domain = 7;
  hop.addresses = host.addresses;
  politeness_->Add(hop, Kind::kHop, "hop");
  Finish(TakeOne());
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(100));
  clock_.Advance(hours(2));
  host.crawl_delay = seconds(0);
  politeness_->Update(host.facts());
  EXPECT_EQ(politeness_->Why(7).delay, seconds(20));
  politeness_->Update(hop);
  EXPECT_EQ(politeness_->Why(7).delay, seconds(20));
}

TEST_F(PolitenessTest, MercatorsRuleSlowsHostsThatAnswerSlowly) {
  PolitenessSettings settings;
  settings.host_delay = seconds(1);
  settings.download_multiple = 10;
  Make(settings);
  TestHost host(7);
  Add(host);
  Add(host);
  Outcome outcome;
  const Lease lease = TakeOne();
  outcome.contact = clock_.Now();
  clock_.Advance(seconds(6));
  outcome.end = clock_.Now();
  outcome.download = seconds(6);
  politeness_->Done(lease.id, outcome);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(60));
}

TEST_F(PolitenessTest, SettingsMayGiveSitesTheirOwnDelay) {
  PolitenessSettings settings;
  settings.site_delays = {"quick.example=2s"};
  Make(settings);
  TestHost quick(1);
  quick.name = "www.quick.example";
  Add(quick);
  Add(quick);
  Finish(TakeOne());
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(2));
}

TEST_F(PolitenessTest, SitesMayHaveTheirOwnDelay) {
  PolitenessOptions options;
  options.site_delay = [](const HostFacts& facts) -> std::optional<Length> {
    if (facts.name == "quick.example") return seconds(2);
    return std::nullopt;
  };
  Make(std::move(options));
  TestHost quick(1);
  quick.name = "quick.example";
  TestHost other(2);
  other.name = "other.example";
  for (const TestHost* host : {&quick, &other}) {
    Add(*host);
    Add(*host);
  }
  for (const Lease& lease : Take()) Finish(lease);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(2));
  EXPECT_EQ(last_.host, 1U);
  // What the site's robots.txt asks for is asked for all the same.
  quick.crawl_delay = seconds(10);
  Finish(last_);
  Add(quick);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(10));
}

TEST_F(PolitenessTest, HostsAndUrlsInMemoryAreBounded) {
  PolitenessSettings settings;
  settings.max_hosts = 3;
  settings.max_urls = 5;
  Make(settings);
  for (uint64_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(Add(TestHost(i)).outcome, AddOutcome::kTaken);
  }
  EXPECT_EQ(Add(TestHost(4)).outcome, AddOutcome::kFull);
  EXPECT_FALSE(politeness_->WantsMore());
  EXPECT_EQ(Add(TestHost(1)).outcome, AddOutcome::kTaken);
  EXPECT_EQ(Add(TestHost(2)).outcome, AddOutcome::kTaken);
  EXPECT_EQ(Add(TestHost(3)).outcome, AddOutcome::kLater);
  EXPECT_EQ(politeness_->stats().added, 5U);
}

TEST_F(PolitenessTest, HostsGoWhenTheirWaitIsOverAndAddressesToo) {
  Add(TestHost(1, {8, 9}));
  Finish(TakeOne());
  clock_.Advance(seconds(39));
  EXPECT_TRUE(Take().empty());
  EXPECT_EQ(politeness_->stats().hosts, 1U);
  clock_.Advance(seconds(1));
  EXPECT_TRUE(Take().empty());
  EXPECT_EQ(politeness_->stats().hosts, 0U);
  EXPECT_EQ(politeness_->stats().addresses, 0U);
  EXPECT_EQ(politeness_->NextDue(), MonoTime::max());
}

TEST_F(PolitenessTest, AnAddressKeepsItsClockWhenItsHostIsGone) {
  PolitenessSettings settings;
  settings.host_delay = seconds(0);
  settings.server_delay = seconds(30);
  Make(settings);
  Add(TestHost(1, {9}));
  Finish(TakeOne());
  Take();
  EXPECT_EQ(politeness_->stats().hosts, 0U);
  Add(TestHost(2, {9}));
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(30));
}

TEST_F(PolitenessTest, WantsAsManyHostsAsKeepTheSpeed) {
  PolitenessSettings settings;
  settings.host_delay = seconds(10);
  settings.refill = 2;
  Make(settings);
  EXPECT_TRUE(politeness_->WantsMore());
  politeness_->SetSpeed(5);  // 2 * 5 a second * 10 s
  uint64_t hosts = 0;
  std::vector<Lease> leases;
  while (politeness_->WantsMore() && hosts < 1000) {
    Add(TestHost(++hosts));
    politeness_->Take(1, leases);  // gets what it asks for: no starvation
  }
  EXPECT_EQ(hosts, 100U);
  EXPECT_EQ(politeness_->stats().wanted_hosts, 100U);
}

TEST_F(PolitenessTest, WantsMoreWhenATakeFoundTooLittle) {
  // By the numbers there are hosts enough: 2 * 0.01 a second * 40 s.
  politeness_->SetSpeed(0.01);
  Add(TestHost(1));
  Add(TestHost(2));
  EXPECT_EQ(politeness_->stats().wanted_hosts, 1U);
  EXPECT_EQ(politeness_->stats().busy_hosts, 2U);
  EXPECT_EQ(Take(1).size(), 1U);
  EXPECT_FALSE(politeness_->WantsMore());
  EXPECT_EQ(Take(2).size(), 1U);
  EXPECT_TRUE(politeness_->WantsMore());
}

TEST_F(PolitenessTest, SaysWhatAHostWaitsFor) {
  EXPECT_EQ(politeness_->Why(1).what, WaitsFor::kNothing);
  Add(TestHost(1, {9}), "a");
  Add(TestHost(1, {9}), "b");
  Add(TestHost(2, {9}));
  Add(TestHost(3, {9}));
  EXPECT_EQ(politeness_->Why(1).what, WaitsFor::kNextTake);
  const Lease lease = TakeOne();
  EXPECT_EQ(politeness_->Why(1).what, WaitsFor::kTransfer);
  EXPECT_EQ(politeness_->Why(1).urls, 1U);
  EXPECT_EQ(politeness_->Why(2).what, WaitsFor::kServerLine);
  EXPECT_EQ(politeness_->Why(3).ahead, 1U);
  Finish(lease);
  EXPECT_EQ(politeness_->Why(2).what, WaitsFor::kServerDelay);
  EXPECT_EQ(politeness_->Why(2).until, clock_.Now() + seconds(1));
  EXPECT_EQ(politeness_->Why(3).until, clock_.Now() + seconds(2));
  const Explanation why = politeness_->Why(1);
  EXPECT_EQ(why.what, WaitsFor::kHost);
  EXPECT_EQ(why.until, clock_.Now() + seconds(40));
  EXPECT_EQ(why.reason, DelayReason::kHostDelay);
  EXPECT_EQ(why.delay, seconds(40));
  EXPECT_EQ(WaitsForName(why.what), "host-delay");
  EXPECT_EQ(DelayReasonName(why.reason), "host-delay");
}

TEST_F(PolitenessTest, ACrawlWithoutDelaysDoesNotWait) {
  PolitenessSettings settings;
  settings.host_delay = settings.server_delay = seconds(0);
  Make(settings);
  const TestHost host(1);
  for (int i = 0; i < 100; ++i) Add(host, std::to_string(i));
  for (int i = 0; i < 100; ++i) {
    const Lease lease = TakeOne();
    EXPECT_EQ(lease.payload, std::to_string(i));
    Finish(lease);
  }
}

TEST_F(PolitenessTest, AHostMayMoveWhileItWaits) {
  Add(TestHost(1, {8}), "a");
  Finish(TakeOne());
  Add(TestHost(1, {9}), "b");
  clock_.Advance(seconds(40));
  EXPECT_EQ(TakeOne().address, ServerNumber(9));
  EXPECT_EQ(politeness_->stats().addresses, 1U);
}

TEST_F(PolitenessTest, HostsThatWaitForLongAreNotWaitedForInMemory) {
  // What they wait says nothing about how many hosts are to be in memory.
  politeness_->SetSpeed(1);
  const uint64_t wanted = politeness_->stats().wanted_hosts;
  for (uint64_t i = 1; i <= 50; ++i) Add(TestHost(i));
  for (const Lease& lease : Take()) {
    Finish(lease, HostStep::kBackOff, std::chrono::hours(24));
  }
  EXPECT_EQ(politeness_->stats().wanted_hosts, wanted);
}

TEST_F(PolitenessTest, ALineMovesAsSlowlyAsItsAddress) {
  // It takes 50 s until a connection stands there, and only then may the next
  // be tried: six are all that have their turn within five minutes.
  Add(TestHost(1000, {9}));
  const Lease slow = TakeOne();
  clock_.Advance(seconds(50));
  Finish(slow);
  for (uint64_t i = 1; i <= 20; ++i) Add(TestHost(i, {9}));
  Take(0);
  EXPECT_EQ(politeness_->stats().waiting, 6U);
}

TEST_F(PolitenessTest, ALineMovesAsSlowlyAsWhatIsWaitedFor) {
  // Nothing is known of the address but that it takes 100 s by now.
  Add(TestHost(1000, {9}));
  TakeOne();
  clock_.Advance(seconds(100));
  for (uint64_t i = 1; i <= 20; ++i) Add(TestHost(i, {9}));
  Take(0);
  EXPECT_EQ(politeness_->stats().waiting, 4U);
}

TEST_F(PolitenessTest, NoWaitIsTooLong) {
  TestHost host(7);
  host.crawl_delay = Length::max();
  EXPECT_EQ(Add(host).outcome, AddOutcome::kTaken);
  // The second would have its turn after all time.
  for (int i = 0; i < 10; ++i) {
    const Added later = Add(host);
    EXPECT_EQ(later.outcome, AddOutcome::kLater);
    EXPECT_LE(later.due, kFarthest);
    EXPECT_GT(later.due, clock_.Now());
  }
  Finish(TakeOne(), HostStep::kBackOff, Length::max());
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Add(host).outcome, AddOutcome::kLater);
  }
  TestHost never(8);
  never.not_before = MonoTime::max();
  EXPECT_EQ(Add(never).due, kFarthest);
  TestHost odd(9);
  odd.crawl_delay = Length::min();
  odd.not_before = MonoTime::min();
  EXPECT_EQ(Add(odd).outcome, AddOutcome::kTaken);
  EXPECT_EQ(TakeOne().host, 9U);
  const std::string saved = politeness_->Save();
  Make();
  EXPECT_TRUE(politeness_->Restore(saved).has_value());
  EXPECT_EQ(Add(host).outcome, AddOutcome::kLater);
}

}  // namespace
}  // namespace nephila::politeness
