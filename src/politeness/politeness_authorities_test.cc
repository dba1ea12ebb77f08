// The authorities of a host: each fails and backs off alone, and they take
// turns; the delays of the host are those of all.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "politeness/politeness_testing.h"

namespace nephila::politeness {
namespace {

constexpr uint32_t kClosed = AuthorityOf(8080, false);

class PolitenessAuthoritiesTest : public PolitenessTest {
 protected:
  PolitenessAuthoritiesTest() {
    PolitenessSettings settings;
    settings.host_delay = settings.host_delay_floor = seconds(1);
    Make(settings);
  }
  static TestHost At(uint32_t authority, uint64_t host = 7) {
    TestHost test(host);
    test.authority = authority;
    return test;
  }
  // Takes what is due for `time`, a request at a time; those of `closed` ports
  // are not answered. Returns the payloads, in order.
  std::vector<std::string> Crawl(Length time, std::string_view closed) {
    std::vector<std::string> taken;
    for (const MonoTime end = clock_.Now() + time; clock_.Now() < end;) {
      for (const Lease& lease : Take()) {
        taken.push_back(lease.payload);
        Finish(lease, lease.payload.starts_with(closed) ? HostStep::kTrouble
                                                        : HostStep::kWell);
      }
      clock_.Advance(milliseconds(100));
    }
    return taken;
  }
};

TEST_F(PolitenessAuthoritiesTest, FailingPortsDoNotDelayAGoodOne) {
  for (uint16_t port = 1; port <= 15; ++port) {
    const TestHost closed = At(AuthorityOf(9000 + port, false));
    const std::string name = "closed " + std::to_string(port);
    Add(closed, name + " robots", Kind::kFirstRobots);
    Add(closed, name + " page");
  }
  const TestHost good = At(kHttpAuthority);
  Add(good, "robots", Kind::kFirstRobots);
  for (int i = 0; i < 10; ++i) Add(good, "page");
  const auto taken = Crawl(seconds(40), "closed");
  EXPECT_EQ(taken.front(), "robots");
  EXPECT_EQ(std::count(taken.begin(), taken.end(), "page"), 10);
  // At least every second turn is that of the port that answers.
  EXPECT_EQ(std::count(taken.begin(), taken.begin() + 21, "page"), 10);
}

TEST_F(PolitenessAuthoritiesTest, APortWithManyUrlsTakesNoMoreThanItsTurns) {
  for (int i = 0; i < 50; ++i) Add(At(kClosed), "many");
  Add(At(kHttpAuthority), "few");
  Add(At(kHttpAuthority), "few");
  Add(At(kHttpsAuthority), "few");
  const auto taken = Crawl(seconds(7), "none");
  EXPECT_EQ(std::count(taken.begin(), taken.begin() + 6, "few"), 3);
}

TEST_F(PolitenessAuthoritiesTest, RobotsTxtOfAnotherPortDoesNotGoFirstForEver) {
  for (int i = 0; i < 20; ++i) Add(At(kClosed), "robots", Kind::kRobots);
  for (int i = 0; i < 5; ++i) Add(At(kHttpAuthority), "page");
  const auto taken = Crawl(seconds(11), "none");
  EXPECT_EQ(std::count(taken.begin(), taken.begin() + 10, "page"), 5);
}

TEST_F(PolitenessAuthoritiesTest, RetryAfterOfOnePortHoldsForAll) {
  Add(At(kClosed), "a");
  Add(At(kHttpAuthority), "b");
  Lease lease = TakeOne();
  const MonoTime begin = clock_.Now();
  Finish(lease, HostStep::kBackOff, minutes(2));
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), minutes(2));
  // For long ones, too.
  Add(At(kHttpsAuthority), "c");
  Finish(last_, HostStep::kBackOff, hours(1));
  EXPECT_EQ(TakeParked().size(), 1U);
  EXPECT_GE(Add(At(kClosed)).due, begin + minutes(2) + hours(1));
  EXPECT_EQ(TakeNote().overloads, 2U);
}

TEST_F(PolitenessAuthoritiesTest, ADeadPortIsSentAwayAlone) {
  for (int i = 0; i < 3; ++i) Add(At(kClosed), "closed");
  for (int i = 0; i < 20; ++i) Add(At(kHttpAuthority), "page");
  // Until one answers they are equals, and the default port is first.
  ASSERT_EQ(Crawl(milliseconds(1900), "closed").size(), 2U);
  clock_.Advance(milliseconds(100));
  const Lease lease = TakeOne();
  ASSERT_EQ(lease.payload, "closed");
  const MonoTime dead = clock_.Now();
  const Waits waits = Finish(lease, HostStep::kDead);
  EXPECT_EQ(waits.host.left, seconds(1));
  EXPECT_EQ(waits.host.authority, kClosed);
  EXPECT_EQ(waits.host.authority_left, minutes(10));
  EXPECT_EQ(waits.host.failures, 3U);
  const auto parked = TakeParked();
  ASSERT_EQ(parked.size(), 2U);
  EXPECT_EQ(parked[0].due, dead + minutes(10));
  const HostNote note = TakeNote();
  EXPECT_EQ(note.authority, kClosed);
  EXPECT_EQ(note.failures, 3U);
  EXPECT_EQ(note.authority_not_before, dead + minutes(10));
  EXPECT_EQ(note.not_before, dead + seconds(1));
  EXPECT_EQ(politeness_->stats().hosts, 1U);
  // Its URLs are sent away, each behind the other; those of the good port have
  // their turns.
  EXPECT_EQ(Add(At(kClosed)).outcome, AddOutcome::kLater);
  EXPECT_EQ(politeness_->NotYet(At(kClosed).facts(), Kind::kPage),
            dead + minutes(10));
  EXPECT_EQ(politeness_->NotYet(At(kHttpAuthority).facts(), Kind::kPage),
            std::nullopt);
  EXPECT_EQ(Crawl(seconds(20), "closed").size(), 18U);
  EXPECT_TRUE(TakeNotes().empty());
  EXPECT_EQ(politeness_->Failures(7, kClosed), 3U);
  EXPECT_EQ(politeness_->Failures(7, kHttpAuthority), 0U);
  // The host leaves; its record knows all of it when the note has come there.
  clock_.Advance(seconds(1));
  Take();
  EXPECT_EQ(politeness_->Failures(7, kClosed), 3U);
  politeness_->Forget(7, note.epoch);
  EXPECT_EQ(politeness_->stats().parked_hosts, 0U);
  EXPECT_EQ(politeness_->stats().hosts, 0U);
}

// Its note may not have come to the records of all ports.
TEST_F(PolitenessAuthoritiesTest, ADeadPortDoesNotEndTheDelayOfItsHost) {
  Add(At(kClosed));
  Finish(TakeOne(), HostStep::kDead);
  const HostNote note = TakeNote();
  EXPECT_EQ(note.failures, 3U);
  politeness_->Forget(7, note.epoch);
  clock_.Advance(milliseconds(500));
  Take();
  Add(At(AuthorityOf(8081, false)), "robots", Kind::kFirstRobots);
  EXPECT_EQ(WaitForLease(milliseconds(100), minutes(1)), milliseconds(500));
  Finish(last_);
  clock_.Advance(seconds(1));
  Take();
  EXPECT_EQ(politeness_->stats().hosts, 0U);
}

TEST_F(PolitenessAuthoritiesTest, UrlsSentAwayByADeadPortDoNotPushBackOthers) {
  Add(At(kClosed), "closed");
  Finish(TakeOne(), HostStep::kDead);
  for (int i = 0; i < 1000; ++i) Add(At(kClosed), "closed");
  int taken = 0;
  while (Add(At(kHttpAuthority)).outcome == AddOutcome::kTaken) ++taken;
  EXPECT_GE(taken, 299);
  EXPECT_LE(Add(At(kHttpAuthority)).due, clock_.Now() + seconds(305));
}

TEST_F(PolitenessAuthoritiesTest, ANoteComesForEachPortInTrouble) {
  std::vector<uint32_t> ports = {kClosed, AuthorityOf(8081, false)};
  for (const uint32_t port : ports) Add(At(port));
  for (int i = 0; i < 2; ++i) {
    WaitForLease(seconds(1), minutes(1));
    Finish(last_, HostStep::kTrouble);
  }
  EXPECT_TRUE(politeness_->HasNews(7));
  EXPECT_TRUE(TakeNotes().empty());
  clock_.Advance(minutes(1));
  Take();
  const auto notes = TakeNotes();
  ASSERT_EQ(notes.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(notes[i].authority, ports[i]);
    EXPECT_EQ(notes[i].failures, 1U);
  }
  EXPECT_FALSE(politeness_->HasNews(7));
  // The last counts.
  politeness_->Forget(7, notes[0].epoch);
  EXPECT_EQ(politeness_->stats().parked_hosts, 1U);
  politeness_->Forget(7, notes[1].epoch);
  EXPECT_EQ(politeness_->stats().parked_hosts, 0U);
}

TEST_F(PolitenessAuthoritiesTest, ARecordLearnsThatAPortIsWellAgain) {
  TestHost host = At(kClosed);
  host.failures = 2;
  Add(host);
  Add(At(kHttpAuthority), "page");
  Add(At(kHttpAuthority), "page");
  Crawl(milliseconds(1900), "none");
  EXPECT_TRUE(TakeNotes().empty());  // of the other one
  Crawl(milliseconds(1000), "none");
  const HostNote note = TakeNote();
  EXPECT_EQ(note.authority, kClosed);
  EXPECT_EQ(note.failures, 0U);
}

TEST_F(PolitenessAuthoritiesTest, TheRecordOfAPortHoldsForItAlone) {
  TestHost closed = At(kClosed);
  closed.failures = 4;
  closed.authority_not_before = clock_.Now() + hours(1);
  EXPECT_EQ(Add(closed).due, clock_.Now() + hours(1));
  closed.authority_not_before = clock_.Now() + minutes(1);
  EXPECT_EQ(Add(closed, "closed").outcome, AddOutcome::kTaken);
  EXPECT_EQ(Add(At(kHttpAuthority), "page").outcome, AddOutcome::kTaken);
  EXPECT_EQ(TakeOne().payload, "page");
  const Explanation why = politeness_->Why(7, kClosed);
  EXPECT_EQ(why.authority, kClosed);
  EXPECT_EQ(why.not_before, closed.authority_not_before);
  EXPECT_EQ(why.trouble.failures, 4U);
}

TEST_F(PolitenessAuthoritiesTest, ItIsSaidWhichPortWaits) {
  Add(At(kClosed));
  Finish(TakeOne(), HostStep::kTrouble);
  Add(At(kClosed), "closed");
  clock_.Advance(seconds(2));
  const Explanation closed = politeness_->Why(7);
  EXPECT_EQ(closed.what, WaitsFor::kAuthority);
  EXPECT_EQ(closed.authority, kClosed);
  EXPECT_EQ(closed.reason, DelayReason::kBackOff);
  EXPECT_EQ(closed.until, clock_.Now() + seconds(28));
  Add(At(kHttpAuthority), "page");
  EXPECT_EQ(politeness_->Why(7).authority, kHttpAuthority);
  EXPECT_EQ(politeness_->Why(7).what, WaitsFor::kNextTake);
  EXPECT_EQ(politeness_->Why(7, kClosed).what, WaitsFor::kAuthority);
}

TEST_F(PolitenessAuthoritiesTest, ARestartKeepsWhatEachPortFailed) {
  Add(At(kClosed));
  Finish(TakeOne(), HostStep::kDead);
  const MonoTime dead = clock_.Now();
  clock_.Advance(seconds(1));
  Add(At(AuthorityOf(8081, false)), "other");
  Finish(TakeOne(), HostStep::kTrouble);
  const std::string saved = politeness_->Save();
  clock_.Advance(seconds(5));
  PolitenessOptions options;
  options.settings.host_delay = options.settings.host_delay_floor = seconds(1);
  options.restarted = true;
  Make(options);
  ASSERT_TRUE(politeness_->Restore(saved).has_value());
  EXPECT_EQ(politeness_->Failures(7, kClosed), 3U);
  EXPECT_EQ(politeness_->Failures(7, AuthorityOf(8081, false)), 1U);
  EXPECT_EQ(politeness_->Failures(7, kHttpAuthority), 0U);
  EXPECT_EQ(Add(At(kClosed)).due, dead + minutes(10));
  Add(At(kHttpAuthority), "page");
  EXPECT_EQ(WaitForLease(seconds(1), minutes(1)), seconds(1));
  EXPECT_EQ(last_.payload, "page");
}

// Of an earlier version it is not known which port did not answer.
TEST_F(PolitenessAuthoritiesTest, OldWaitsHoldForTheHost) {
  // Version 2: no boot, saved at 0; host 7 has failed 4 times and waits for
  // 120 s; no address.
  const std::string saved =
      std::string("\x02\x00\x00\x01\x07\0\0\0\0\0\0\0", 12) +
      std::string("\x80\xe0\xba\x84\xbf\x03", 6) +
      std::string("\x06\x04\0\0\0\0\0\0\0\x00", 10);
  const auto waits = ParseWaits(saved);
  ASSERT_TRUE(waits.has_value());
  ASSERT_EQ(waits->hosts.size(), 2U);
  ASSERT_TRUE(politeness_->Restore(saved).has_value());
  EXPECT_EQ(politeness_->Failures(7, kHttpAuthority), 4U);
  EXPECT_EQ(politeness_->Failures(7, kHttpsAuthority), 4U);
  Add(At(kClosed), "page");
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), minutes(2));
}

TEST_F(PolitenessAuthoritiesTest, OnlySoManyPortsOfAHostAreKnown) {
  size_t taken = 0;
  for (uint16_t port = 1; port <= 100; ++port) {
    const Added added = Add(At(AuthorityOf(9000 + port, false)), "closed");
    if (added.outcome == AddOutcome::kTaken) ++taken;
    if (added.outcome == AddOutcome::kLater) {
      EXPECT_GT(added.due, clock_.Now() + minutes(5));
    }
  }
  EXPECT_EQ(taken, kMostAuthorities);
  // The default ports always are.
  EXPECT_EQ(Add(At(kHttpAuthority)).outcome, AddOutcome::kTaken);
  EXPECT_EQ(Add(At(kHttpsAuthority)).outcome, AddOutcome::kTaken);
  // One that has no URL any more, and is well, makes room.
  for (int i = 0; i < 4; ++i) {
    WaitForLease(seconds(1), minutes(1));
    Finish(last_);
  }
  EXPECT_EQ(Add(At(AuthorityOf(9999, false))).outcome, AddOutcome::kTaken);
}

}  // namespace
}  // namespace nephila::politeness
