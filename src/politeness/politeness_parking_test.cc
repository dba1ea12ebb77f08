// Hosts that are not due for long: their URLs, their clocks, their notes.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "politeness/politeness_testing.h"

namespace nephila::politeness {
namespace {

TEST_F(PolitenessTest, LongCrawlDelaysAreWaitedForOnDisk) {
  TestHost host(7);
  host.crawl_delay = hours(1);
  Add(host, "first");
  const MonoTime begin = clock_.Now();
  Finish(TakeOne());
  const Added later = Add(host, "second");
  EXPECT_EQ(later.outcome, AddOutcome::kLater);
  EXPECT_EQ(later.due, begin + hours(1));
  // The next one comes an hour after that.
  EXPECT_EQ(Add(host, "third").due, begin + hours(2));
  EXPECT_TRUE(TakeParked().empty());
  const HostNote note = TakeNote();
  EXPECT_EQ(note.host, 7U);
  EXPECT_EQ(note.not_before, begin + hours(1));
  EXPECT_EQ(politeness_->stats().parked_hosts, 1U);
  politeness_->Forget(7, note.epoch);
  EXPECT_EQ(politeness_->stats().parked_hosts, 0U);
  // Its record has the time now.
  host.not_before = note.not_before;
  clock_.Advance(minutes(57));
  EXPECT_EQ(Add(host, "second").outcome, AddOutcome::kTaken);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(10)), minutes(3));
}

TEST_F(PolitenessTest, AParkedHostKeepsItsClockUntilItIsForgotten) {
  TestHost host(7);
  Add(host, "first");
  Finish(TakeOne(), HostStep::kBackOff, hours(2));
  TakeParked();
  clock_.Advance(minutes(30));
  Take();
  // An entry that was checked before comes without the time.
  EXPECT_EQ(Add(host, "second").outcome, AddOutcome::kLater);
  EXPECT_EQ(politeness_->Why(7).what, WaitsFor::kParked);
  EXPECT_EQ(politeness_->Why(7).reason, DelayReason::kRetryAfter);
}

TEST_F(PolitenessTest, RetryAfterParksTheUrlsThatWait) {
  TestHost host(7);
  for (const char* url : {"a", "b", "c"}) Add(host, url);
  const MonoTime begin = clock_.Now();
  Finish(TakeOne(), HostStep::kBackOff, hours(2));
  const auto parked = TakeParked();
  ASSERT_EQ(parked.size(), 2U);
  EXPECT_EQ(parked[0].payload, "b");
  EXPECT_EQ(parked[0].due, begin + hours(2));
  EXPECT_EQ(parked[1].payload, "c");
  EXPECT_EQ(parked[1].due, begin + hours(2) + seconds(40));
  EXPECT_EQ(politeness_->stats().waiting, 0U);
  EXPECT_EQ(politeness_->stats().parked, 2U);
  EXPECT_TRUE(TakeParked().empty());
  // The host's time is one, whatever its URLs have.
  EXPECT_EQ(TakeNote().not_before, begin + hours(2));
}

TEST_F(PolitenessTest, AShortRetryAfterIsWaitedForInMemory) {
  PolitenessSettings settings;
  settings.back_off = seconds(5);
  Make(settings);
  TestHost host(7);
  Add(host, "a");
  Add(host, "b");
  Finish(TakeOne(), HostStep::kBackOff, seconds(90));
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(90));
}

TEST_F(PolitenessTest, HostsInTroubleAreSlowedMoreAndMoreUntilTheyAreWell) {
  PolitenessSettings settings;
  settings.park_after = hours(2);
  settings.back_off = minutes(1);
  Make(settings);
  TestHost host(7);
  for (int i = 0; i < 6; ++i) Add(host);
  Finish(TakeOne(), HostStep::kBackOff);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(20)), minutes(1));
  Finish(last_, HostStep::kTrouble);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(20)), minutes(2));
  Finish(last_, HostStep::kBackOff);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(20)), minutes(2));
  // Nothing was learnt: no more than its delay, and nothing is forgotten.
  Finish(last_, HostStep::kNone);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(20)), seconds(40));
  EXPECT_EQ(politeness_->Why(7).trouble.overloads, 2U);
  Finish(last_);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(20)), seconds(40));
  Finish(last_, HostStep::kBackOff);
  Add(host);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(20)), minutes(1));
}

TEST_F(PolitenessTest, DeadHostsArePausedAndTriedAgain) {
  TestHost host(7);
  for (int i = 0; i < 6; ++i) Add(host, std::to_string(i));
  Finish(TakeOne(), HostStep::kTrouble);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(40));
  Finish(last_, HostStep::kTrouble);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), minutes(1));
  MonoTime dead = clock_.Now();
  Finish(last_, HostStep::kTrouble);
  const auto parked = TakeParked();
  ASSERT_EQ(parked.size(), 3U);
  EXPECT_EQ(parked[0].due, dead + minutes(10));
  HostNote note = TakeNote();
  EXPECT_EQ(note.failures, 3U);
  EXPECT_EQ(politeness_->Why(7).reason, DelayReason::kDeadHost);
  politeness_->Forget(7, note.epoch);
  // It comes back with its record; one more failure, and it waits longer.
  host.failures = note.failures;
  host.not_before = note.not_before;
  host.authority_not_before = note.authority_not_before;
  clock_.Advance(minutes(10));
  Add(host, "probe");
  Add(host, "another");
  dead = clock_.Now();
  Finish(TakeOne(), HostStep::kTrouble);
  ASSERT_EQ(TakeParked().size(), 1U);
  note = TakeNote();
  EXPECT_EQ(note.authority_not_before, dead + minutes(20));
  EXPECT_EQ(note.failures, 4U);
  // An answer brings it back to life.
  clock_.Advance(minutes(20));
  Add(host, "probe");
  Finish(TakeOne());
  Add(host, "more");
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(40));
}

TEST_F(PolitenessTest, AHostThatDoesNotExistIsDeadAtOnce) {
  Add(TestHost(7));
  const MonoTime begin = clock_.Now();
  Finish(TakeOne(), HostStep::kDead);
  EXPECT_EQ(TakeNote().authority_not_before, begin + minutes(10));
}

TEST_F(PolitenessTest, FailuresOfAHostWithoutUrlsGoToItsRecord) {
  TestHost host(7);
  Add(host);
  Finish(TakeOne(), HostStep::kTrouble);
  EXPECT_TRUE(TakeNotes().empty());
  clock_.Advance(seconds(40));
  EXPECT_TRUE(Take().empty());
  const HostNote note = TakeNote();
  EXPECT_EQ(note.failures, 1U);
  EXPECT_EQ(politeness_->stats().hosts, 0U);
  // Until it is noted, what was checked before finds them here.
  EXPECT_EQ(politeness_->Why(7).trouble.failures, 1U);
  politeness_->Forget(7, note.epoch);
  EXPECT_EQ(politeness_->stats().parked_hosts, 0U);
}

TEST_F(PolitenessTest, ARecordLearnsThatItsHostIsWell) {
  TestHost host(7);
  host.failures = 3;
  host.overloads = 1;
  host.not_before = clock_.Now();
  Add(host, "a");
  Add(host, "b");
  Finish(TakeOne());
  HostNote note = TakeNote();
  EXPECT_EQ(note.failures, 0U);
  EXPECT_EQ(note.overloads, 0U);
  EXPECT_EQ(note.not_before, clock_.Now() + seconds(40));
  // It is told once, and stays.
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(40));
  politeness_->Forget(7, note.epoch);
  Finish(last_);
  EXPECT_TRUE(TakeNotes().empty());
  EXPECT_EQ(politeness_->stats().hosts, 1U);
}

TEST_F(PolitenessTest, ForgettingAnEarlierNoteDoesNotForgetTheHost) {
  TestHost host(7);
  Add(host);
  Finish(TakeOne(), HostStep::kBackOff, minutes(10));
  const HostNote first = TakeNote();
  clock_.Advance(minutes(10));
  Add(host);
  Finish(TakeOne(), HostStep::kBackOff, hours(2));
  const HostNote second = TakeNote();
  EXPECT_NE(first.epoch, second.epoch);
  politeness_->Forget(7, first.epoch);
  // An entry from before the second note, which has none of its time.
  clock_.Advance(minutes(30));
  EXPECT_EQ(Add(host).outcome, AddOutcome::kLater);
  politeness_->Forget(7, second.epoch);
  EXPECT_EQ(politeness_->stats().parked_hosts, 0U);
}

TEST_F(PolitenessTest, ForgettingAHostThatIsBackDoesNothing) {
  TestHost host(7);
  Add(host);
  Finish(TakeOne(), HostStep::kBackOff, hours(1));
  const HostNote note = TakeNote();
  clock_.Advance(minutes(56));
  // Without its time, as an entry that was checked before comes.
  EXPECT_EQ(Add(host, "early").outcome, AddOutcome::kTaken);
  EXPECT_EQ(politeness_->stats().parked_hosts, 0U);
  politeness_->Forget(7, note.epoch);
  EXPECT_EQ(WaitForLease(seconds(1), hours(1)), minutes(4));
  politeness_->Forget(7, note.epoch);
  Finish(last_, HostStep::kBackOff, hours(1));
  politeness_->Forget(7, note.epoch);
  EXPECT_EQ(Add(host).outcome, AddOutcome::kLater);
}

TEST_F(PolitenessTest, AParkedHostThatHasToWaitLongerStaysParked) {
  TestHost host(7);
  Add(host);
  Finish(TakeOne(), HostStep::kBackOff, hours(1));
  const HostNote note = TakeNote();
  clock_.Advance(minutes(58));
  host.not_before = clock_.Now() + hours(1);
  EXPECT_EQ(Add(host).due, host.not_before);
  EXPECT_EQ(politeness_->stats().hosts, 0U);
  EXPECT_EQ(politeness_->Why(7).until, host.not_before);
  EXPECT_TRUE(TakeNotes().empty());
  politeness_->Forget(7, note.epoch);
  EXPECT_EQ(politeness_->stats().parked_hosts, 0U);
}

TEST_F(PolitenessTest, ParkedHostsTakeNoPlaceOfOthers) {
  PolitenessSettings settings;
  settings.max_hosts = 2;
  settings.max_parked = 4;
  Make(settings);
  for (uint64_t i = 1; i <= 4; ++i) {
    EXPECT_EQ(Add(TestHost(i)).outcome, AddOutcome::kTaken);
    Finish(TakeOne(), HostStep::kBackOff, hours(1));
    EXPECT_TRUE(politeness_->WantsMore());
  }
  const auto notes = TakeNotes();
  ASSERT_EQ(notes.size(), 4U);
  EXPECT_EQ(Add(TestHost(5)).outcome, AddOutcome::kTaken);
  EXPECT_EQ(Add(TestHost(6)).outcome, AddOutcome::kTaken);
  // No more are known now, but all that comes can be read: it comes again soon.
  const Added later = Add(TestHost(8));
  EXPECT_EQ(later.outcome, AddOutcome::kLater);
  EXPECT_LE(later.due, clock_.Now() + seconds(10));
  EXPECT_EQ(Add(TestHost(1)).outcome, AddOutcome::kLater);
  politeness_->Forget(1, notes[0].epoch);
  // Both places are those of hosts that are due.
  EXPECT_EQ(Add(TestHost(8)).outcome, AddOutcome::kFull);
  // Nor is the place of a host taken by those that only ask for their time.
  EXPECT_EQ(Add(TestHost(2)).outcome, AddOutcome::kLater);
}

TEST_F(PolitenessTest, UrlsThatWouldWaitTooLongAreNotTaken) {
  const TestHost host(7);
  const MonoTime begin = clock_.Now();
  int taken = 0;
  while (Add(host).outcome == AddOutcome::kTaken) ++taken;
  EXPECT_EQ(taken, 8);  // 0, 40, ... 280 s
  // Those that are sent away come back one behind the other.
  EXPECT_EQ(Add(host).due, begin + seconds(9 * 40));
}

TEST_F(PolitenessTest, HostsInALongLineAreParked) {
  // An address that thousands share, a second each.
  for (uint64_t i = 1; i <= 400; ++i) Add(TestHost(i, {9}));
  EXPECT_EQ(Take().size(), 1U);
  const auto parked = TakeParked();
  ASSERT_EQ(parked.size(), 99U);
  // They come back one after the other, as they would have had their turns.
  for (size_t i = 0; i < parked.size(); ++i) {
    EXPECT_EQ(parked[i].due, clock_.Now() + seconds(301 + i));
  }
  EXPECT_EQ(politeness_->stats().waiting, 300U);
  // Their own clocks are not touched: there is nothing to note.
  EXPECT_TRUE(TakeNotes().empty());
  EXPECT_EQ(politeness_->stats().parked_hosts, 0U);
  // Whoever comes now is sent away at once, behind them.
  const Added later = Add(TestHost(500, {9}));
  EXPECT_EQ(later.outcome, AddOutcome::kLater);
  EXPECT_GE(later.due, parked.back().due + seconds(1));
}

TEST_F(PolitenessTest, ManyHostsAtOneAddressComeBackOnceOrTwice) {
  // 3 000 hosts at one address, a second each. If all that find its line full
  // came back at once, each would do so four times on average.
  const uint64_t hosts = 3000;
  std::multimap<MonoTime, uint64_t> later;
  for (uint64_t i = 1; i <= hosts; ++i) later.emplace(clock_.Now(), i);
  uint64_t adds = 0;
  uint64_t done = 0;
  while (done < hosts) {
    while (!later.empty() && later.begin()->first <= clock_.Now()) {
      const uint64_t host = later.begin()->second;
      later.erase(later.begin());
      const Added added = Add(TestHost(host, {9}), std::to_string(host));
      if (added.outcome != AddOutcome::kTaken) later.emplace(added.due, host);
      ++adds;
    }
    for (const Lease& lease : Take()) {
      Finish(lease);
      ++done;
    }
    for (const Parked& one : TakeParked()) later.emplace(one.due, one.host);
    clock_.Advance(seconds(1));
    ASSERT_LT(adds, 10 * hosts);
  }
  EXPECT_LE(adds, 2 * hosts);
}

}  // namespace
}  // namespace nephila::politeness
