// Hosts that are proven, and those that are not or are slow: who gets leases
// and places when there are few.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "politeness/politeness_testing.h"

namespace nephila::politeness {
namespace {

class ClassesTest : public PolitenessTest {
 protected:
  ClassesTest() {
    settings_.host_delay = seconds(1);
    settings_.host_delay_floor = seconds(1);
    Make(settings_);
  }

  void Prove(const TestHost& host) {
    Add(host);
    Finish(TakeOne());
    clock_.Advance(seconds(1));
    Take();
  }
  void FinishSlowly(const Lease& lease) {
    Outcome outcome;
    outcome.contact = outcome.end = clock_.Now();
    outcome.host = HostStep::kWell;
    outcome.slow = true;
    politeness_->Done(lease.id, outcome);
  }
  std::vector<Lease> Take(const LeaseLimits& limits) {
    std::vector<Lease> leases;
    politeness_->Take(limits, leases);
    return leases;
  }
  using PolitenessTest::Take;

  PolitenessSettings settings_;
};

TEST_F(ClassesTest, AHostIsProvenByAResponseInGoodTime) {
  const TestHost host(5000);
  Add(host);
  Lease lease = TakeOne();
  EXPECT_EQ(lease.host_class, HostClass::kUnproven);
  Finish(lease);
  clock_.Advance(seconds(1));
  // Also when it has left memory.
  Take();
  EXPECT_EQ(politeness_->stats().hosts, 0U);
  Add(host);
  lease = TakeOne();
  EXPECT_EQ(lease.host_class, HostClass::kProven);
  FinishSlowly(lease);
  clock_.Advance(milliseconds(500));
  Add(host);
  clock_.Advance(seconds(1));
  lease = TakeOne();
  EXPECT_EQ(lease.host_class, HostClass::kSlow);
  Finish(lease);
  Add(host);
  clock_.Advance(seconds(1));
  lease = TakeOne();
  EXPECT_EQ(lease.host_class, HostClass::kProven);
  Finish(lease, HostStep::kTrouble);
  Add(host);
  clock_.Advance(minutes(1));
  EXPECT_EQ(TakeOne().host_class, HostClass::kSlow);
}

TEST_F(ClassesTest, AHostThatFailedByItsRecordIsSlow) {
  TestHost host(7);
  host.failures = 1;
  Add(host);
  EXPECT_EQ(TakeOne().host_class, HostClass::kSlow);
}

TEST_F(ClassesTest, EachClassGetsNoMoreLeasesThanItsLimit) {
  for (uint64_t i = 1; i <= 10; ++i) Prove(TestHost(i << 10));
  for (uint64_t i = 101; i <= 110; ++i) Add(TestHost(i << 10));
  for (uint64_t i = 201; i <= 210; ++i) {
    TestHost slow(i << 10);
    slow.failures = 1;
    Add(slow);
  }
  for (uint64_t i = 1; i <= 10; ++i) Add(TestHost(i << 10));
  const LeaseLimits limits{
      .all = 12, .slow = 2, .not_proven = 6, .not_proven_if_free = 9};
  std::vector<size_t> counts(kHostClasses);
  for (const Lease& lease : Take(limits)) {
    ++counts[static_cast<size_t>(lease.host_class)];
  }
  EXPECT_EQ(counts[0], 6U);
  EXPECT_EQ(counts[1] + counts[2], 6U);
  EXPECT_LE(counts[2], 2U);
  EXPECT_TRUE(politeness_->OthersWait());
  // When no proven host is due the others have more.
  size_t others = 0;
  size_t slow = 0;
  for (const Lease& lease :
       Take({.all = 20, .slow = 2, .not_proven = 0, .not_proven_if_free = 7})) {
    if (lease.host_class != HostClass::kProven) ++others;
    if (lease.host_class == HostClass::kSlow) ++slow;
  }
  EXPECT_EQ(others, 7U);
  EXPECT_LE(slow, 2U);
}

TEST_F(ClassesTest, NobodyIsDueWithinLimitsThatAreUsedUp) {
  Add(TestHost(1));
  Take(LeaseLimits{.all = 5, .not_proven = 0, .not_proven_if_free = 0});
  EXPECT_TRUE(politeness_->OthersWait());
  EXPECT_LE(politeness_->NextDue(), clock_.Now());
  EXPECT_EQ(politeness_->NextDue({.not_proven = 0, .not_proven_if_free = 0}),
            MonoTime::max());
  // Slow hosts have places of their own to wait for.
  EXPECT_EQ(TakeOne().host, 1U);
  TestHost slow(2);
  slow.failures = 1;
  Add(slow);
  Take(LeaseLimits{.slow = 0});
  EXPECT_FALSE(politeness_->OthersWait());
  EXPECT_EQ(politeness_->NextDue({.slow = 0}), MonoTime::max());
}

TEST_F(ClassesTest, HostsThatAreNotProvenHaveHalfOfThePlaces) {
  settings_.max_hosts = 20;
  Make(settings_);
  const TestHost proven(5000 << 10);
  Prove(proven);
  for (uint64_t i = 1; i <= 20; ++i) {
    EXPECT_EQ(Add(TestHost(i << 10)).outcome, AddOutcome::kTaken);
  }
  // They are due, and get no lease.
  Take(size_t{0});
  EXPECT_EQ(politeness_->stats().hosts, 11U);
  const auto parked = TakeParked();
  ASSERT_EQ(parked.size(), 9U);
  for (const Parked& url : parked) EXPECT_GT(url.due, clock_.Now());
  EXPECT_EQ(Add(proven).outcome, AddOutcome::kTaken);
  const auto leases =
      Take(LeaseLimits{.not_proven = 0, .not_proven_if_free = 0});
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].host, proven.host);
}

}  // namespace
}  // namespace nephila::politeness
