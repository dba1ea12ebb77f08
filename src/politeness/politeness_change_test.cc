// Delays that change while hosts wait.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "politeness/politeness_testing.h"

namespace nephila::politeness {
namespace {

class PolitenessChangeTest : public PolitenessTest {
 protected:
  PolitenessChangeTest() {
    settings_.host_delay = settings_.host_delay_floor = seconds(10);
    settings_.server_delay = settings_.server_delay_floor = seconds(1);
    Make(settings_);
  }
  void Change() {
    politeness_->SetDelays(settings_, [](uint64_t host) -> std::string_view {
      return host == 7 ? "a.org" : "";
    });
  }

  PolitenessSettings settings_;
};

TEST_F(PolitenessChangeTest, ALongerHostDelayHoldsForWhoWaitsAlready) {
  Add(TestHost(7), "first");
  Add(TestHost(7), "second");
  Finish(TakeOne());
  clock_.Advance(seconds(9));
  settings_.host_delay = settings_.host_delay_floor = seconds(60);
  Change();
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(51));
}

TEST_F(PolitenessChangeTest, AShorterHostDelayHoldsFromTheNextLeaseOn) {
  for (int i = 0; i < 3; ++i) Add(TestHost(7));
  Finish(TakeOne());
  settings_.host_delay = settings_.host_delay_floor = seconds(2);
  Change();
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(10));
}

TEST_F(PolitenessChangeTest, AHostInTheLineOfItsAddressWaitsAgain) {
  Add(TestHost(7, {1}), "first");
  Add(TestHost(8, {1}), "other");
  const Lease first = TakeOne();  // its address is taken
  Add(TestHost(7, {1}), "second");
  Finish(first);
  clock_.Advance(seconds(10));
  // Both are due; one waits in the line.
  const Lease next = TakeOne();
  settings_.host_delay = settings_.host_delay_floor = minutes(2);
  Change();
  const bool other_first = next.payload == "other";
  EXPECT_TRUE(other_first || next.payload == "second");
  Finish(next);
  if (other_first) {
    EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(110));
  } else {
    EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(1));
  }
}

TEST_F(PolitenessChangeTest, ALongerServerDelayHoldsForTheLastContact) {
  Add(TestHost(7, {1}));
  Add(TestHost(8, {1}));
  Finish(TakeOne());
  settings_.server_delay = settings_.server_delay_floor = seconds(8);
  Change();
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(8));
}

TEST_F(PolitenessChangeTest, AShorterServerDelayEndsNoWait) {
  Add(TestHost(7, {1}));
  Add(TestHost(8, {1}));
  Finish(TakeOne());
  settings_.server_delay = settings_.server_delay_floor = milliseconds(10);
  Change();
  EXPECT_EQ(WaitForLease(milliseconds(100), minutes(5)), seconds(1));
}

TEST_F(PolitenessChangeTest, ASitesDelayIsLookedUpAgain) {
  TestHost host(7);
  host.name = "a.org";
  Add(host);
  Add(host);
  Finish(TakeOne());
  settings_.site_delays = {"a.org=90s"};
  Change();
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(90));
}

TEST_F(PolitenessChangeTest, AHostWhoseNameIsNotKnownHereLearnsItWithItsUrl) {
  TestHost host(9);
  host.name = "b.org";
  Add(host);
  Finish(TakeOne());
  settings_.site_delays = {"b.org=90s"};
  Change();
  Add(host);
  EXPECT_EQ(WaitForLease(seconds(1), minutes(5)), seconds(90));
}

TEST_F(PolitenessChangeTest, HostsAreCountedByWhatTheyWaitFor) {
  Add(TestHost(1, {1}));
  Add(TestHost(2, {1}));
  Add(TestHost(3, {3}));
  Add(TestHost(3, {3}));
  Add(TestHost(4, {4}));
  std::vector<Lease> leases;
  politeness_->Take(3, leases);
  ASSERT_EQ(leases.size(), 3U);
  HostCounts counts = politeness_->CountHosts();
  EXPECT_EQ(counts.in_flight, 3U);
  EXPECT_EQ(counts.due, 1U);
  EXPECT_EQ(counts.waiting, 0U);
  for (const Lease& lease : leases) Finish(lease);
  counts = politeness_->CountHosts();
  EXPECT_EQ(counts.in_flight, 0U);
  EXPECT_EQ(counts.due, 1U);
  EXPECT_EQ(counts.waiting, 1U);
  EXPECT_EQ(counts.idle, 2U);
  EXPECT_EQ(counts.next_due, clock_.Now() + seconds(10));
  EXPECT_EQ(counts.dead, 0U);
}

}  // namespace
}  // namespace nephila::politeness
