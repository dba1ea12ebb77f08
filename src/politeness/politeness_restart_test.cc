// After a restart whoever may have been contacted counts as contacted when the
// process began, everyone if nothing is known of that; longer waits are what is
// left of them.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/file_testing.h"
#include "politeness/politeness.h"
#include "politeness/politeness_testing.h"
#include "politeness/saved_waits.h"

namespace nephila::politeness {
namespace {

class PolitenessRestartTest : public ::testing::Test {
 protected:
  PolitenessRestartTest() { Start(false); }
  void Start(bool restarted) {
    PolitenessOptions options;
    options.restarted = restarted;
    politeness_ = std::make_unique<Politeness>(clock_, std::move(options));
  }
  std::vector<Lease> Take() {
    std::vector<Lease> leases;
    politeness_->Take(100, leases);
    return leases;
  }
  Waits Finish(const Lease& lease, HostStep step, Length retry_after) {
    Outcome outcome;
    outcome.contact = outcome.end = clock_.Now();
    outcome.host = step;
    outcome.retry_after = retry_after;
    return politeness_->Done(lease.id, outcome);
  }
  std::vector<HostNote> TakeNotes() {
    std::vector<HostNote> notes;
    politeness_->TakeNotes(notes);
    return notes;
  }
  // A host that asked for an hour of rest.
  std::string SavedHour() {
    politeness_->Add(TestHost(7).facts(), Kind::kPage, "");
    Finish(Take().at(0), HostStep::kBackOff, std::chrono::hours(1));
    return politeness_->Save();
  }
  MonoTime DueOf(uint64_t host) {
    return politeness_->Add(TestHost(host).facts(), Kind::kPage, "").due;
  }

  ManualClock clock_;
  std::unique_ptr<Politeness> politeness_;
};

// A manifest, journal and contact log of an earlier version name addresses.
TEST_F(PolitenessRestartTest, WaitsOfAnIpv6AddressHoldForItsNetwork) {
  TestHost host(1);
  host.addresses = {Ipv6Number(1, 1)};
  politeness_->Hold(ServerWait{Ipv6Number(1, 200), hours(1)});
  politeness_->Add(host.facts(), Kind::kPage, "");
  EXPECT_TRUE(Take().empty());

  Start(false);
  const std::string saved = politeness_->Save();
  Start(true);
  const std::vector<Contact> since = {{9, Ipv6Number(1, 200), {}}};
  MustDo(politeness_->Restore(saved, since));
  politeness_->Add(host.facts(), Kind::kPage, "");
  TestHost other(2);
  other.addresses = {Ipv6Number(2, 1)};
  politeness_->Add(other.facts(), Kind::kPage, "");
  const auto leases = Take();
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].host, 2U);
}

TEST_F(PolitenessRestartTest, HostsAndAddressesCountAsContactedAtTheStart) {
  Start(true);
  const MonoTime start = clock_.Now();
  clock_.Advance(milliseconds(500));
  TestHost host(1);
  host.crawl_delay = seconds(70);
  politeness_->Add(host.facts(), Kind::kPage, "");
  politeness_->Add(TestHost(2).facts(), Kind::kPage, "");
  EXPECT_TRUE(Take().empty());
  EXPECT_EQ(politeness_->Why(1).until, start + seconds(70));
  EXPECT_EQ(politeness_->Why(2).until, start + seconds(40));
  EXPECT_EQ(politeness_->Why(2).reason, DelayReason::kRestart);
  clock_.Advance(milliseconds(39499));
  EXPECT_TRUE(Take().empty());
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(Take().size(), 1U);
}

TEST_F(PolitenessRestartTest, TheFirstRobotsTxtMayNotBeTheFirst) {
  Start(true);
  politeness_->Add(TestHost(1).facts(), Kind::kFirstRobots, "");
  EXPECT_TRUE(Take().empty());
  clock_.Advance(seconds(40));
  EXPECT_EQ(Take().size(), 1U);
  // Later there is no doubt.
  politeness_->Add(TestHost(2).facts(), Kind::kFirstRobots, "");
  EXPECT_EQ(Take().size(), 1U);
}

TEST_F(PolitenessRestartTest, AnAddressIsLeftAloneForItsDelay) {
  PolitenessOptions options;
  options.restarted = true;
  options.settings.host_delay = seconds(0);
  options.settings.server_delay = seconds(5);
  politeness_ = std::make_unique<Politeness>(clock_, std::move(options));
  politeness_->Add(TestHost(1).facts(), Kind::kPage, "");
  EXPECT_TRUE(Take().empty());
  clock_.Advance(seconds(5));
  EXPECT_EQ(Take().size(), 1U);
}

TEST_F(PolitenessRestartTest, LongWaitsGoOnWhereTheyWere) {
  const MonoTime begin = clock_.Now();
  const std::string saved = SavedHour();
  clock_.Advance(minutes(10));
  Start(true);
  EXPECT_OK(politeness_->Restore(saved));
  // The same boot: the ten minutes count.
  EXPECT_EQ(DueOf(7), begin + std::chrono::hours(1));
  EXPECT_EQ(politeness_->Why(7).reason, DelayReason::kRetryAfter);
}

TEST_F(PolitenessRestartTest, ANewBootMakesTheWholeRestCount) {
  const std::string saved = SavedHour();
  clock_.Advance(minutes(10));
  clock_.Reboot();
  Start(true);
  EXPECT_OK(politeness_->Restore(saved));
  EXPECT_EQ(DueOf(7), clock_.Now() + std::chrono::hours(1));
}

TEST_F(PolitenessRestartTest, AWaitThatIsNearlyOverIsThatOfARestart) {
  const std::string saved = SavedHour();
  clock_.Advance(std::chrono::hours(1) - seconds(1));
  Start(true);
  EXPECT_OK(politeness_->Restore(saved));
  politeness_->Add(TestHost(7).facts(), Kind::kPage, "");
  EXPECT_EQ(politeness_->Why(7).until, clock_.Now() + seconds(40));
}

TEST_F(PolitenessRestartTest, OnlyThoseWaitWhoMayHaveBeenContacted) {
  const std::vector<Contact> since = {{3, ServerNumber(3), seconds(40)}};
  politeness_->Add(TestHost(1).facts(), Kind::kPage, "");
  Finish(Take().at(0), HostStep::kWell, Length::zero());
  const std::string saved = politeness_->Save();
  Start(true);
  EXPECT_OK(politeness_->Restore(saved, since));
  for (const uint64_t host : {1, 2, 3}) {
    politeness_->Add(TestHost(host).facts(), Kind::kPage, "");
  }
  const auto leases = Take();
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].host, 2U);
  for (const uint64_t host : {1, 3}) {
    EXPECT_EQ(politeness_->Why(host).until, clock_.Now() + seconds(40)) << host;
    EXPECT_EQ(politeness_->Why(host).reason, DelayReason::kRestart) << host;
  }
}

TEST_F(PolitenessRestartTest, ItsFirstRobotsTxtIsTheFirstIfItWasLeftAlone) {
  const std::string saved = politeness_->Save();
  Start(true);
  EXPECT_OK(politeness_->Restore(
      saved, std::vector<Contact>{{1, ServerNumber(1), seconds(40)}}));
  politeness_->Add(TestHost(1).facts(), Kind::kFirstRobots, "");
  politeness_->Add(TestHost(2).facts(), Kind::kFirstRobots, "");
  const auto leases = Take();
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].host, 2U);
}

TEST_F(PolitenessRestartTest, AnAddressThatWasContactedIsLeftAlone) {
  const std::string saved = politeness_->Save();
  Start(true);
  EXPECT_OK(politeness_->Restore(
      saved, std::vector<Contact>{{1, ServerNumber(9), seconds(40)}}));
  politeness_->Add(TestHost(2, {9}).facts(), Kind::kPage, "");
  EXPECT_TRUE(Take().empty());
  EXPECT_EQ(politeness_->Why(2).until, clock_.Now() + seconds(1));
}

TEST_F(PolitenessRestartTest, WhatWasInFlightIsForTheNextProcessToKnow) {
  TestHost host(1);
  host.crawl_delay = seconds(70);
  politeness_->Add(host.facts(), Kind::kPage, "");
  ASSERT_EQ(Take().size(), 1U);
  const Contact contact{1, ServerNumber(1), seconds(70)};
  EXPECT_EQ(politeness_->InFlight(), std::vector<Contact>{contact});
  const std::string saved = politeness_->Save();
  const auto since = politeness_->InFlight();
  clock_.Advance(minutes(10));
  Start(true);
  EXPECT_OK(politeness_->Restore(saved, since));
  // Its transfer may have ended just now, and so may that of the next process:
  // nothing was heard of the host there when it ends too.
  clock_.Advance(seconds(60));
  const std::string again = politeness_->Save();
  Start(true);
  EXPECT_OK(politeness_->Restore(again, std::vector<Contact>()));
  politeness_->Add(TestHost(1).facts(), Kind::kPage, "");
  EXPECT_TRUE(Take().empty());
  EXPECT_GE(politeness_->Why(1).until, clock_.Now() + seconds(10));
}

// A redirect led there, of which nobody had looked up what delay it asks for.
TEST_F(PolitenessRestartTest, ACrawlDelayCountsFromAHopOfTheProcessBefore) {
  TestHost hop(1);
  HostFacts facts = hop.facts();
  facts.crawl_delay = std::nullopt;
  politeness_->Add(facts, Kind::kHop, "");
  Finish(Take().at(0), HostStep::kWell, Length::zero());
  clock_.Advance(seconds(50));
  const std::string saved = politeness_->Save();
  Start(true);
  EXPECT_OK(politeness_->Restore(saved, std::vector<Contact>()));
  clock_.Advance(seconds(50));
  const std::string again = politeness_->Save();
  Start(true);
  EXPECT_OK(politeness_->Restore(again, std::vector<Contact>()));
  TestHost page(1);
  page.crawl_delay = minutes(4);
  politeness_->Add(page.facts(), Kind::kPage, "");
  EXPECT_TRUE(Take().empty());
}

TEST_F(PolitenessRestartTest, ThatAHostWasInTroubleIsForItsRecordToSay) {
  const std::string saved = politeness_->Save();
  Start(true);
  EXPECT_OK(politeness_->Restore(
      saved, std::vector<Contact>{{1, ServerNumber(1), minutes(2)}}));
  TestHost host(1);
  host.failures = 2;
  politeness_->Add(host.facts(), Kind::kPage, "");
  EXPECT_EQ(politeness_->Why(1).trouble.failures, 2U);
  EXPECT_EQ(politeness_->Why(1).until, clock_.Now() + minutes(2));
}

TEST_F(PolitenessRestartTest, WaitsWithoutNamesMakeEveryoneWait) {
  std::string saved = politeness_->Save();
  // Version 2 ended before them: 8 bytes of the delays, and three counts.
  saved.resize(saved.size() - 11);
  saved[0] = 2;
  Start(true);
  EXPECT_OK(politeness_->Restore(saved, std::vector<Contact>()));
  politeness_->Add(TestHost(1).facts(), Kind::kPage, "");
  EXPECT_EQ(politeness_->Why(1).until, clock_.Now() + seconds(40));
}

TEST_F(PolitenessRestartTest, WhoWasMadeToWaitWaitsInTheNextProcessToo) {
  const std::string saved = politeness_->Save();
  Start(true);
  EXPECT_OK(politeness_->Restore(
      saved, std::vector<Contact>{{1, ServerNumber(1), seconds(40)}}));
  clock_.Advance(seconds(39));
  const std::string again = politeness_->Save();
  Start(true);
  EXPECT_OK(politeness_->Restore(again, std::vector<Contact>()));
  politeness_->Add(TestHost(1).facts(), Kind::kPage, "");
  EXPECT_TRUE(Take().empty());
}

TEST_F(PolitenessRestartTest, OfAnotherBootNothingIsKnown) {
  const std::string saved = politeness_->Save();
  clock_.Reboot();
  Start(true);
  EXPECT_OK(politeness_->Restore(saved, std::vector<Contact>()));
  politeness_->Add(TestHost(1).facts(), Kind::kPage, "");
  EXPECT_EQ(politeness_->Why(1).until, clock_.Now() + seconds(40));
}

TEST_F(PolitenessRestartTest, WithOtherDelaysEveryoneCounts) {
  const std::string saved = politeness_->Save();
  PolitenessOptions options;
  options.restarted = true;
  options.settings.host_delay = seconds(60);
  politeness_ = std::make_unique<Politeness>(clock_, std::move(options));
  EXPECT_OK(politeness_->Restore(saved, std::vector<Contact>()));
  politeness_->Add(TestHost(1).facts(), Kind::kPage, "");
  EXPECT_EQ(politeness_->Why(1).until, clock_.Now() + seconds(60));
}

TEST_F(PolitenessRestartTest, ThatEveryoneCountedIsKnownToTheNextProcess) {
  Start(true);  // of the one before nothing is known
  const MonoTime begin = clock_.Now();
  clock_.Advance(seconds(10));
  const std::string saved = politeness_->Save();
  Start(true);
  EXPECT_OK(politeness_->Restore(saved, std::vector<Contact>()));
  politeness_->Add(TestHost(1).facts(), Kind::kPage, "");
  EXPECT_EQ(politeness_->Why(1).until, begin + seconds(40));
}

TEST_F(PolitenessRestartTest, FailuresAreRemembered) {
  politeness_->Add(TestHost(7).facts(), Kind::kPage, "");
  Finish(Take().at(0), HostStep::kTrouble, Length::zero());
  const std::string saved = politeness_->Save();
  Start(true);
  EXPECT_OK(politeness_->Restore(saved));
  EXPECT_EQ(politeness_->Why(7).trouble.failures, 1U);
}

TEST_F(PolitenessRestartTest, ALongWaitIsNotedAgain) {
  // The process may have ended before its record had it.
  const std::string saved = SavedHour();
  EXPECT_EQ(TakeNotes().size(), 1U);
  Start(true);
  EXPECT_OK(politeness_->Restore(saved));
  const auto notes = TakeNotes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].host, 7U);
  EXPECT_EQ(notes[0].not_before, clock_.Now() + hours(1));
  EXPECT_EQ(notes[0].overloads, 1U);
  politeness_->Forget(7, notes[0].epoch);
  EXPECT_EQ(politeness_->stats().parked_hosts, 0U);
}

TEST_F(PolitenessRestartTest, ATransferEndsWithWhatIsLeftToWait) {
  PolitenessOptions options;
  options.settings.server_delay = seconds(3);
  politeness_ = std::make_unique<Politeness>(clock_, std::move(options));
  politeness_->Add(TestHost(7, {9}).facts(), Kind::kPage, "");
  const Lease lease = Take().at(0);
  Outcome outcome;
  outcome.contact = clock_.Now();
  clock_.Advance(seconds(1));
  outcome.end = clock_.Now();
  outcome.host = HostStep::kTrouble;
  outcome.retry_after = minutes(2);
  clock_.Advance(milliseconds(100));
  const Waits waits = politeness_->Done(lease.id, outcome);
  EXPECT_EQ(waits.host, (HostWait{7, minutes(2) - milliseconds(100),
                                  DelayReason::kRetryAfter, 0, kHttpAuthority,
                                  seconds(30) - milliseconds(100),
                                  DelayReason::kBackOff, 1}));
  EXPECT_EQ(waits.address, (ServerWait{ServerNumber(9), milliseconds(1900)}));
}

TEST_F(PolitenessRestartTest, WaitsOfTheJournalHold) {
  Start(true);
  politeness_->Hold({7, minutes(2), DelayReason::kRetryAfter, 1});
  politeness_->Hold({8, seconds(0), DelayReason::kHostDelay, 0, kHttpAuthority,
                     hours(3), DelayReason::kDeadHost, 4});
  politeness_->Hold({9, seconds(0), DelayReason::kHostDelay, 0});
  EXPECT_EQ(politeness_->stats().hosts, 1U);
  const auto notes = TakeNotes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].host, 8U);
  EXPECT_EQ(notes[0].failures, 4U);
  const MonoTime now = clock_.Now();
  EXPECT_EQ(DueOf(8), now + hours(3));
  politeness_->Add(TestHost(7).facts(), Kind::kPage, "");
  EXPECT_EQ(politeness_->Why(7).until, now + minutes(2));
  EXPECT_EQ(politeness_->Why(7).reason, DelayReason::kRetryAfter);
  EXPECT_EQ(politeness_->Why(7).trouble.overloads, 1U);
}

TEST_F(PolitenessRestartTest, TheLongestWaitHoldsAndTheLastCount) {
  const std::string saved = SavedHour();
  Start(true);
  EXPECT_OK(politeness_->Restore(saved));
  // After the manifest it answered, an entry of the journal says.
  politeness_->Hold({7, seconds(40), DelayReason::kHostDelay, 0});
  EXPECT_EQ(politeness_->Why(7).until, clock_.Now() + hours(1));
  EXPECT_EQ(politeness_->Why(7).trouble, Trouble());
  const auto notes = TakeNotes();
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[1].overloads, 0U);
  politeness_->Forget(7, notes[0].epoch);
  EXPECT_EQ(politeness_->stats().parked_hosts, 1U);
}

TEST_F(PolitenessRestartTest, ARecordThatSaysMoreThanTheJournalIsPutRight) {
  Start(true);
  politeness_->Hold(
      {7, seconds(60), DelayReason::kHostDelay, 0, kHttpAuthority});
  TestHost host(7);
  host.failures = 3;  // of before: that it is well did not come to its record
  politeness_->Add(host.facts(), Kind::kPage, "");
  EXPECT_EQ(politeness_->Why(7).trouble, Trouble());
  clock_.Advance(seconds(60));
  Finish(Take().at(0), HostStep::kWell, Length::zero());
  const auto notes = TakeNotes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].failures, 0U);
}

TEST_F(PolitenessRestartTest, AddressesAreHeld) {
  PolitenessOptions options;
  options.settings.host_delay = seconds(0);
  politeness_ = std::make_unique<Politeness>(clock_, options);
  politeness_->Hold({ServerNumber(1), seconds(20)});
  politeness_->Hold({ServerNumber(1), seconds(10)});
  const std::string saved = politeness_->Save();
  politeness_ = std::make_unique<Politeness>(clock_, options);
  EXPECT_OK(politeness_->Restore(saved));
  politeness_->Add(TestHost(1).facts(), Kind::kPage, "");
  clock_.Advance(seconds(19));
  EXPECT_TRUE(Take().empty());
  clock_.Advance(seconds(1));
  EXPECT_EQ(Take().size(), 1U);
  // One that nobody comes to goes with its wait.
  politeness_->Hold({ServerNumber(2), seconds(5)});
  EXPECT_EQ(politeness_->stats().addresses, 2U);
  clock_.Advance(seconds(5));
  Take();
  EXPECT_EQ(politeness_->stats().addresses, 1U);
}

TEST_F(PolitenessRestartTest, WaitsComeBackAsTheyWereSaved) {
  SavedWaits waits;
  waits.boot_id = "boot";
  waits.delays_mark = 0x0123456789abcdef;
  waits.everyone_at = MonoTime(seconds(5));
  waits.recent_hosts = {{1, {}}, {7, hours(2)}, {UINT64_MAX, {}}};
  waits.recent_servers = {ServerNumber(1), ServerNumber(2)};
  waits.when = clock_.Now();
  waits.hosts = {{1, seconds(90), DelayReason::kCrawlDelay, 2},
                 {UINT64_MAX, seconds(0), DelayReason::kHostDelay, 0, 0,
                  seconds(7), DelayReason::kBackOff, 1},
                 {UINT64_MAX, seconds(0), DelayReason::kHostDelay, 0,
                  kLastAuthority, hours(3), DelayReason::kDeadHost, 5}};
  waits.servers = {{ServerNumber(9), seconds(3)}};
  const std::string bytes = FormatWaits(waits);
  EXPECT_EQ(ParseWaits(bytes), waits);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(ParseWaits(bytes.substr(0, size)), std::nullopt);
  }
  EXPECT_EQ(ParseWaits(bytes + "x"), std::nullopt);
}

TEST_F(PolitenessRestartTest, WaitsThatMakeNoSenseAreRefused) {
  EXPECT_FAILS(politeness_->Restore("no waits"), kCorruption, "damaged");
  SavedWaits waits;
  waits.hosts = {{1, seconds(1), static_cast<DelayReason>(kDelayReasons)}};
  EXPECT_EQ(ParseWaits(FormatWaits(waits)), std::nullopt);
}

}  // namespace
}  // namespace nephila::politeness
