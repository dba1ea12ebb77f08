// Memory that is full of hosts that are not due: whatever is due last makes
// room for what is due now, and no clock is lost.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "politeness/politeness_testing.h"

namespace nephila::politeness {
namespace {

// Just under `park_after`, which is five minutes.
constexpr seconds kAlmostParked{290};

class RoomTest : public PolitenessTest {
 protected:
  RoomTest() {
    settings_.max_hosts = 20;
    settings_.max_urls = 60;
    settings_.max_parked = 100;
    settings_.host_delay = seconds(1);
    settings_.host_delay_floor = seconds(1);
    Make(settings_);
  }

  static TestHost LongDelay(uint64_t key) {
    TestHost host(key);
    host.crawl_delay = kAlmostParked;
    return host;
  }

  // The host is contacted, and then waits with a second URL.
  Added ContactAndWait(const TestHost& host) {
    const Added added = Add(host, "first");
    if (added.outcome != AddOutcome::kTaken) return added;
    Finish(TakeOne());
    return Add(host, "second");
  }

  void ExpectBounds() const {
    const PolitenessStats stats = politeness_->stats();
    EXPECT_LE(stats.hosts, static_cast<uint64_t>(settings_.max_hosts));
    EXPECT_LE(stats.waiting, static_cast<uint64_t>(settings_.max_urls));
    EXPECT_LE(
        stats.hosts + stats.parked_hosts,
        static_cast<uint64_t>(settings_.max_hosts + settings_.max_parked));
    EXPECT_EQ(stats.added, stats.leased + stats.parked + stats.waiting);
  }

  PolitenessSettings settings_;
};

TEST_F(RoomTest, ADueHostTakesThePlaceOfTheHostThatIsDueLast) {
  for (uint64_t i = 1; i <= 20; ++i) {
    EXPECT_EQ(ContactAndWait(LongDelay(i)).outcome, AddOutcome::kTaken);
    clock_.Advance(milliseconds(100));
  }
  EXPECT_EQ(politeness_->stats().hosts, 20U);
  EXPECT_TRUE(politeness_->WantsMore());
  TakeNotes();
  EXPECT_EQ(Add(TestHost(99)).outcome, AddOutcome::kTaken);
  ExpectBounds();
  // The last that was contacted is due last; its clock goes to its record.
  const auto parked = TakeParked();
  ASSERT_EQ(parked.size(), 1U);
  EXPECT_EQ(parked[0].host, 20U);
  const HostNote note = TakeNote();
  EXPECT_EQ(note.host, 20U);
  EXPECT_EQ(note.not_before, parked[0].due);
  EXPECT_EQ(note.not_before, clock_.Now() - milliseconds(100) + kAlmostParked);
  EXPECT_EQ(politeness_->Why(20).what, WaitsFor::kParked);
  EXPECT_EQ(TakeOne().host, 99U);
}

TEST_F(RoomTest, IdleHostsMakeRoomToo) {
  for (uint64_t i = 1; i <= 20; ++i) {
    Add(LongDelay(i));
    Finish(TakeOne());
  }
  EXPECT_EQ(politeness_->stats().hosts, 20U);
  EXPECT_EQ(Add(TestHost(99)).outcome, AddOutcome::kTaken);
  EXPECT_TRUE(TakeParked().empty());
  EXPECT_EQ(TakeNote().not_before, clock_.Now() + kAlmostParked);
  ExpectBounds();
}

TEST_F(RoomTest, AHostThatIsDueLaterThanAllWaitsOnDisk) {
  for (uint64_t i = 1; i <= 20; ++i) ContactAndWait(LongDelay(i));
  clock_.Advance(minutes(1));
  TestHost later(99);
  later.not_before = clock_.Now() + minutes(4);
  const Added added = Add(later);
  EXPECT_EQ(added.outcome, AddOutcome::kLater);
  EXPECT_EQ(added.due, later.not_before);
  EXPECT_TRUE(TakeParked().empty());
}

TEST_F(RoomTest, ThereIsNoRoomWhenAllHostsAreDue) {
  for (uint64_t i = 1; i <= 20; ++i) Add(TestHost(i));
  EXPECT_EQ(Add(TestHost(99)).outcome, AddOutcome::kFull);
  EXPECT_FALSE(politeness_->WantsMore());
}

TEST_F(RoomTest, UrlsThatHaveTheirTurnLastMakeRoom) {
  // Two hosts with as many URLs as fit.
  for (int i = 0; i < 30; ++i) {
    Add(TestHost(1), "a" + std::to_string(i));
    Add(TestHost(2), "b" + std::to_string(i));
  }
  EXPECT_EQ(politeness_->stats().waiting, 60U);
  EXPECT_TRUE(politeness_->WantsMore());
  EXPECT_EQ(Add(TestHost(3), "c").outcome, AddOutcome::kTaken);
  const auto parked = TakeParked();
  ASSERT_EQ(parked.size(), 1U);
  EXPECT_TRUE(parked[0].payload == "a29" || parked[0].payload == "b29");
  EXPECT_EQ(parked[0].due, clock_.Now() + seconds(29));
  // Their hosts stay.
  EXPECT_EQ(politeness_->stats().hosts, 3U);
  EXPECT_TRUE(TakeNotes().empty());
  EXPECT_EQ(Take().size(), 3U);
  ExpectBounds();
}

TEST_F(RoomTest, ALongLineOfHostsThatAreNotProvenLeavesPlaces) {
  // A second each, at one address.
  for (uint64_t i = 1; i <= 20; ++i) Add(TestHost(i, {9}));
  EXPECT_EQ(Take().size(), 1U);
  // Half of the places are theirs; the others come again.
  EXPECT_EQ(politeness_->CountHosts().due, 10U);
  const auto parked = TakeParked();
  ASSERT_EQ(parked.size(), 9U);
  for (const Parked& url : parked) EXPECT_GT(url.due, clock_.Now());
  EXPECT_TRUE(politeness_->WantsMore());
  EXPECT_EQ(Add(TestHost(99)).outcome, AddOutcome::kTaken);
  EXPECT_TRUE(TakeNotes().empty());
  ExpectBounds();
}

TEST_F(RoomTest, TheHostOfAHopIsNotForgottenEarly) {
  // Nothing is known of its Crawl-delay until a URL of it comes.
  const TestHost target(1);
  HostFacts facts = target.facts();
  facts.crawl_delay.reset();
  politeness_->Add(facts, Kind::kHop, "hop");
  Finish(TakeOne());
  const MonoTime end = clock_.Now();
  for (uint64_t i = 2; i <= 20; ++i) ContactAndWait(TestHost(i));
  for (uint64_t i = 21; i <= 30; ++i) Add(TestHost(i));
  const HostNote note = TakeNote();
  EXPECT_EQ(note.host, 1U);
  EXPECT_EQ(note.not_before, end + settings_.park_after);
  clock_.Advance(seconds(10));
  Add(LongDelay(1));
  EXPECT_GE(politeness_->Why(1).until, end + kAlmostParked);
}

// Ten times as many hosts as any table has places, each of them with a
// Crawl-delay just under `park_after`, and good ones between them. The records
// of hosts say what was noted, and are read by all that comes later.
TEST_F(RoomTest, TenTimesAsManyHostsAsPlacesDoNotStarveOthers) {
  const uint64_t hostile = 10 * (20 + 100);
  const uint64_t good = 40;
  std::map<uint64_t, TestHost> hosts;
  std::multimap<MonoTime, std::pair<uint64_t, int>> later;
  for (uint64_t i = 1; i <= hostile; ++i) {
    hosts.emplace(i, LongDelay(i));
    for (const int url : {0, 1}) later.emplace(clock_.Now(), std::pair(i, url));
  }
  for (uint64_t i = 1; i <= good; ++i) {
    hosts.emplace(10'000 + i, TestHost(10'000 + i));
    for (const int url : {0, 1, 2}) {
      later.emplace(clock_.Now(), std::pair(10'000 + i, url));
    }
  }
  std::map<uint64_t, MonoTime> free_at;
  size_t good_leases = 0;
  const MonoTime begin = clock_.Now();
  while (good_leases < good * 3) {
    ASSERT_LT(clock_.Now(), begin + minutes(2)) << good_leases;
    std::vector<std::pair<uint64_t, int>> read;
    while (!later.empty() && later.begin()->first <= clock_.Now()) {
      read.push_back(later.begin()->second);
      later.erase(later.begin());
    }
    for (const auto& [key, url] : read) {
      const Added added = Add(hosts.at(key), std::to_string(url));
      if (added.outcome == AddOutcome::kTaken) continue;
      later.emplace(added.outcome == AddOutcome::kLater
                        ? added.due
                        : clock_.Now() + milliseconds(100),
                    std::pair(key, url));
    }
    for (const Lease& lease : Take(10)) {
      ASSERT_GE(clock_.Now(), free_at[lease.host]) << lease.host;
      free_at[lease.host] =
          clock_.Now() +
          std::max<Length>(seconds(1), hosts.at(lease.host).crawl_delay);
      if (lease.host > 10'000) ++good_leases;
      Finish(lease);
    }
    ExpectBounds();
    for (const Parked& one : TakeParked()) {
      later.emplace(one.due, std::pair(one.host, std::stoi(one.payload)));
    }
    for (const HostNote& note : TakeNotes()) {
      hosts.at(note.host).not_before = note.not_before;
      politeness_->Forget(note.host, note.epoch);
    }
    clock_.Advance(milliseconds(100));
  }
}

}  // namespace
}  // namespace nephila::politeness
