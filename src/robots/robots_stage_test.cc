#include "robots/robots_stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "robots/robots_fixture_testing.h"
#include "robots/robots_stage_testing.h"

namespace nephila::robots {
namespace {

using item::Admission;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// No step waits for anything but the one before it.
TEST_F(RobotsStageTest, OneUrlOfOneHostTakesAHandfulOfSteps) {
  AddUrl(4, 1);
  int steps = 0;
  int passes = 0;
  bool asked = false;
  Numbers out;
  const ReadySink sink = [&out](const ReadyUrl& url) -> Result<Admission> {
    out.push_back(NumberOf(url.record));
    return Admission::kTaken;
  };
  while (out.empty() && steps < 100) {
    ++steps;
    const auto moved = stage_->Step(sink, 10);
    ASSERT_TRUE(moved.has_value());
    if (!asked && TakeAll(*stage_) == std::vector{OriginText(4)}) {
      asked = true;
      Good(4);
      continue;
    }
    if (*moved > 0) continue;
    const auto more = stage_->RunDry();
    ASSERT_TRUE(more.has_value());
    ASSERT_TRUE(*more);
    ++passes;
  }
  EXPECT_EQ(out, Numbers{1});
  EXPECT_LE(steps, 6);
  EXPECT_EQ(passes, 2);
  EXPECT_EQ(stage_->stats().cache.passes, 2U);
  EXPECT_TRUE(stage_->IsEmpty());
}

TEST_F(RobotsStageTest, UrlsWaitForTheirRobotsTxtAndPassOrAreDropped) {
  AddUrl(4, 1);
  AddUrl(4, 2, true);
  AddUrl(4, 3);
  EXPECT_EQ(Run(), Numbers());
  EXPECT_EQ(stage_->stats().waiting, 3U);
  ExpectRequest(4);
  ExpectNoRequest();
  Good(4);
  EXPECT_EQ(Run(), (Numbers{1, 3}));
  EXPECT_EQ(taken_[0].budget, 10U);
  EXPECT_EQ(taken_[0].checked, clock_.WallNow());
  EXPECT_EQ(Dropped(DropReason::kDenied), 1U);
  EXPECT_TRUE(stage_->IsEmpty());
  const RobotsStats stats = stage_->stats();
  EXPECT_EQ(stats.cycled_once, 3U);
  EXPECT_EQ(stats.most_cycles, 1U);
  // From now on it is known.
  AddUrl(4, 4);
  EXPECT_EQ(Run(), Numbers{4});
  ExpectNoRequest();
  EXPECT_EQ(stage_->stats().cycled_once, 3U);
}

TEST_F(RobotsStageTest, ARequestThatIsDelayedHoldsUpNobodyElse) {
  const WallTime later = clock_.WallNow() + minutes(10);
  AddUrl(4, 1);
  AddUrl(5, 2);
  Run();
  EXPECT_EQ(TakeAll(*stage_).size(), 2U);
  ASSERT_TRUE(stage_->DelayRequest(OriginText(4), {}, later).has_value());
  Good(5);
  EXPECT_EQ(Run(), Numbers{2});
  EXPECT_EQ(stage_->stats().parked, 1U);
  EXPECT_EQ(stage_->stats().requested, 0U);
  // What comes meanwhile waits for the same.
  AddUrl(4, 3);
  EXPECT_EQ(Run(), Numbers());
  EXPECT_EQ(stage_->stats().parked, 2U);
  ExpectNoRequest();
  const std::string commit = Commit();
  Reopen(commit);
  clock_.Advance(minutes(11));
  EXPECT_EQ(Run(), Numbers());
  ExpectRequest(4);
  Good(4);
  EXPECT_EQ(Run(), (Numbers{1, 3}));
  EXPECT_TRUE(stage_->IsEmpty());
}

TEST_F(RobotsStageTest, UrlsAreDroppedThoughTheRetryIsDueBeforeTheyAreSeen) {
  options_.settings.unreachable_attempts = 3;
  Make(options_);
  AddUrl(4, 1);
  Run();
  for (int attempt = 0; attempt < 3; ++attempt) {
    EXPECT_EQ(stage_->stats().waiting, 1U);
    ExpectRequest(4);
    Fail(4);
    // A pass that comes later than the time of the next attempt.
    clock_.Advance(hours(24));
    Run();
  }
  EXPECT_EQ(Dropped(DropReason::kUnreachable), 1U);
  EXPECT_TRUE(stage_->IsEmpty());
}

// It was not asked: that is not an attempt without reach.
TEST_F(RobotsStageTest, AUrlWhoseRequestIsDelayedIsNotDropped) {
  options_.settings.unreachable_attempts = 2;
  Make(options_);
  AddUrl(4, 1);
  Run();
  ExpectRequest(4);
  Fail(4);
  Run();
  clock_.Advance(hours(1));
  Run();
  ExpectRequest(4);
  Fail(4);
  Run();
  EXPECT_EQ(Dropped(DropReason::kUnreachable), 1U);
  clock_.Advance(hours(24));
  AddUrl(4, 2);
  Run();
  ExpectRequest(4);
  ASSERT_TRUE(
      stage_->DelayRequest(OriginText(4), {}, clock_.WallNow() + minutes(10)));
  EXPECT_EQ(Run(), Numbers());
  EXPECT_EQ(stage_->stats().parked, 1U);
  clock_.Advance(minutes(11));
  Run();
  ExpectRequest(4);
  Good(4);
  EXPECT_EQ(Run(), Numbers{2});
}

// Thousands of URLs do not wait for one fetch that takes its time.
TEST_F(RobotsStageTest, ASlowFetchHoldsUpFewOthers) {
  constexpr uint64_t kOrigins = 3000;
  for (uint64_t i = 0; i < kOrigins; ++i) AddUrl(i, i);
  Run();
  ASSERT_EQ(TakeAll(*stage_).size(), kOrigins);
  // All but the first.
  Numbers out;
  for (uint64_t i = 1; i < kOrigins; ++i) {
    Good(i);
    if (i % 500 != 0) continue;
    const Numbers some = Run();
    out.insert(out.end(), some.begin(), some.end());
  }
  const Numbers rest = Run();
  out.insert(out.end(), rest.begin(), rest.end());
  std::sort(out.begin(), out.end());
  ASSERT_EQ(out.size(), kOrigins - 1);
  EXPECT_EQ(out.front(), 1U);
  const RobotsStats stats = stage_->stats();
  EXPECT_EQ(stats.waiting, 1U);
  EXPECT_EQ(stats.most_cycles, 1U) << "to be looked at early is no cycle";
  Good(0);
  EXPECT_EQ(Run(), Numbers{0});
}

TEST_F(RobotsStageTest, OnlyARequestThatIsOpenCanBeDelayed) {
  const WallTime later = clock_.WallNow() + minutes(10);
  ASSERT_TRUE(stage_->DelayRequest(OriginText(4), {}, later).has_value());
  AddUrl(4, 1);
  Run();
  ExpectRequest(4);
  Good(4);
  ASSERT_TRUE(stage_->DelayRequest(OriginText(4), {}, later).has_value());
  EXPECT_EQ(Run(), Numbers{1});
  EXPECT_EQ(stage_->DelayRequest("no origin", {}, later).error().code,
            ErrorCode::kInvalidArgument);
}

TEST_F(RobotsStageTest, SchemeHostAndPortAreOriginsOfTheirOwn) {
  for (const char* url :
       {"http://a.test/x", "https://a.test/x", "http://a.test:8080/x",
        "http://b.test?x", "http://[::1]:81/x", "http://127.0.0.1/"}) {
    AddRecord(EncodeText(url));
  }
  Run();
  EXPECT_EQ(TakeAll(*stage_),
            (std::vector<std::string>{
                "http://a.test/", "https://a.test/", "http://a.test:8080/",
                "http://b.test/", "http://[::1]:81/", "http://127.0.0.1/"}));
  End(StatusEnd("http://a.test/", 404, clock_.WallNow()));
  End(StatusEnd("http://[::1]:81/", 404, clock_.WallNow()));
  End(StatusEnd("http://127.0.0.1/", 404, clock_.WallNow()));
  Run();
  EXPECT_EQ(taken_.size(), 3U);
}

TEST_F(RobotsStageTest, ARequestSaysWhatIsKnownOfItsHost) {
  const WallTime later = clock_.WallNow() + minutes(3);
  AddUrl(4, 1);
  Run();
  RobotsRequest seen;
  const RequestSink sink =
      [&seen](const RobotsRequest& request) -> Result<Admission> {
    seen = request;
    seen.origin = {};
    EXPECT_EQ(request.origin.substr(request.host_start, request.host_size),
              "h4.site2.test");
    EXPECT_EQ(request.pld_size, 10U);
    EXPECT_EQ(request.budget, 10U);
    return Admission::kTaken;
  };
  EXPECT_EQ(*stage_->TakeRequests(sink, 5), 1U);
  EXPECT_TRUE(seen.first);
  Good(4);
  Run();
  ASSERT_TRUE(stage_->NoteHost(OriginText(4), later, 1, {}, 2).has_value());
  clock_.Advance(hours(25));
  AddUrl(4, 2);
  Run();
  EXPECT_EQ(*stage_->TakeRequests(sink, 5), 1U);
  EXPECT_FALSE(seen.first);
  EXPECT_EQ(seen.not_before, later);
  EXPECT_EQ(seen.failures, 2U);
  EXPECT_EQ(seen.overloads, 1U);
}

TEST_F(RobotsStageTest, WhatTheSinkRefusesStaysInOrder) {
  Good(4);
  for (uint64_t i = 0; i < 5; ++i) AddUrl(4, i);
  ASSERT_TRUE(stage_->Flush().has_value());
  Numbers out;
  bool full = true;
  const ReadySink sink = [&](const ReadyUrl& url) -> Result<Admission> {
    full = !full;
    if (full) return Admission::kFull;
    out.push_back(NumberOf(url.record));
    return Admission::kTaken;
  };
  for (int i = 0; i < 20 && !stage_->IsEmpty(); ++i) {
    ASSERT_TRUE(stage_->Step(sink, 10).has_value());
    if (i == 2) Reopen(Commit());
  }
  EXPECT_EQ(out, (Numbers{0, 1, 2, 3, 4}));
}

TEST_F(RobotsStageTest, ARequestThatIsRefusedComesAgain) {
  AddUrl(4, 1);
  AddUrl(5, 2);
  Run();
  const auto none = stage_->TakeRequests(
      [](const RobotsRequest&) -> Result<Admission> {
        return Admission::kFull;
      },
      10);
  EXPECT_EQ(*none, 0U);
  EXPECT_EQ(stage_->stats().queued, 2U);
  EXPECT_EQ(TakeAll(*stage_).size(), 2U);
  EXPECT_EQ(stage_->stats().requested, 2U);
}

TEST_F(RobotsStageTest, NoMoreRequestsAreReadThanMayBeOpen) {
  RobotsStageOptions options = SmallStage();
  options.max_requests = 3;
  Make(options);
  for (uint64_t i = 0; i < 10; ++i) AddUrl(i, i);
  Run();
  auto first = TakeAll(*stage_);
  ASSERT_EQ(first.size(), 3U);
  ExpectNoRequest();
  // The oldest is still open, and holds up nobody.
  Good(OriginNumber(first[1]));
  EXPECT_EQ(TakeAll(*stage_).size(), 1U);
  EXPECT_EQ(stage_->stats().requested, 3U);
  Good(OriginNumber(first[0]));
  EXPECT_EQ(TakeAll(*stage_).size(), 1U);
}

TEST_F(RobotsStageTest, UnreachableSitesAreParkedAndAskedAgain) {
  AddUrl(4, 1);
  Run();
  ExpectRequest(4);
  Fail(4);
  EXPECT_EQ(Run(), Numbers());
  EXPECT_EQ(stage_->stats().parked, 1U);
  EXPECT_EQ(stage_->stats().waiting, 0U);
  // Those that come later wait too, without a request.
  AddUrl(4, 2);
  EXPECT_EQ(Run(), Numbers());
  EXPECT_EQ(stage_->stats().parked, 2U);
  ExpectNoRequest();
  clock_.Advance(minutes(9));
  Run();
  ExpectNoRequest();
  clock_.Advance(minutes(2));
  Run();
  ExpectRequest(4);
  Fail(4);
  Run();
  // Twice as long.
  clock_.Advance(minutes(19));
  Run();
  ExpectNoRequest();
  clock_.Advance(minutes(3));
  Run();
  ExpectRequest(4);
  Good(4);
  EXPECT_EQ(Run(), (Numbers{1, 2}));
  EXPECT_EQ(stage_->stats().most_cycles, 1U);
  EXPECT_EQ(stage_->stats().unreachable, 2U);
}

TEST_F(RobotsStageTest, AfterSoManyAttemptsUrlsAreDropped) {
  RobotsStageOptions options = SmallStage();
  options.settings.unreachable_attempts = 2;
  Make(options);
  AddUrl(4, 1);
  Run();
  ExpectRequest(4);
  Fail(4);
  Run();
  EXPECT_EQ(stage_->stats().parked, 1U);
  clock_.Advance(minutes(11));
  Run();
  ExpectRequest(4);
  Fail(4);
  Run();
  EXPECT_EQ(Dropped(DropReason::kUnreachable), 1U);
  EXPECT_TRUE(stage_->IsEmpty());
}

TEST_F(RobotsStageTest, AnOldCopyHoldsWhileItsFileIsUnreachable) {
  Good(4);
  clock_.Advance(hours(25));
  AddUrl(4, 1);
  AddUrl(4, 2, true);
  EXPECT_EQ(Run(), Numbers());
  EXPECT_EQ(stage_->stats().outdated, 2U);
  ExpectRequest(4);
  Fail(4);
  EXPECT_EQ(Run(), Numbers{1});
  EXPECT_EQ(Dropped(DropReason::kDenied), 1U);
  // By the last time it was asked for: nobody has to ask again because of it.
  EXPECT_EQ(taken_[0].checked, clock_.WallNow());
  // It is asked for again after the wait, and URLs pass meanwhile.
  clock_.Advance(minutes(11));
  AddUrl(4, 3);
  EXPECT_EQ(Run(), Numbers{3});
  ExpectRequest(4);
  AddUrl(4, 4);
  EXPECT_EQ(Run(), Numbers{4});
  ExpectNoRequest();
}

TEST_F(RobotsStageTest, NotModifiedMakesTheCopyFresh) {
  Good(4);
  clock_.Advance(hours(25));
  AddUrl(4, 1, true);
  AddUrl(4, 2);
  Run();
  ExpectRequest(4);
  End(StatusEnd(OriginText(4), 304, clock_.WallNow()));
  EXPECT_EQ(Run(), Numbers{2});
  clock_.Advance(hours(20));
  AddUrl(4, 3);
  EXPECT_EQ(Run(), Numbers{3});
  ExpectNoRequest();
}

TEST_F(RobotsStageTest, ARecordThatIsUsedIsRefreshedBeforeItExpires) {
  Good(4);
  clock_.Advance(hours(22));
  AddUrl(4, 1);
  AddUrl(4, 2);
  EXPECT_EQ(Run(), (Numbers{1, 2}));
  ExpectRequest(4);
  EXPECT_EQ(stage_->stats().refreshes, 1U);
  Good(4, PrivateRules("Disallow: /open/\n"));
  clock_.Advance(hours(3));
  AddUrl(4, 3);
  EXPECT_EQ(Run(), Numbers());
  EXPECT_EQ(Dropped(DropReason::kDenied), 1U);
  ExpectNoRequest();
}

TEST_F(RobotsStageTest, AHostsNotesStandOnItsUrlsAndKeepItsRules) {
  const WallTime later = clock_.WallNow() + minutes(7);
  ASSERT_TRUE(stage_->NoteHost(OriginText(4), later, 2, {}, 3).has_value());
  Good(4);
  AddUrl(4, 1);
  AddUrl(4, 2, true);
  EXPECT_EQ(Run(), Numbers{1});
  EXPECT_EQ(taken_[0].not_before, later);
  EXPECT_EQ(taken_[0].failures, 3U);
  EXPECT_EQ(taken_[0].overloads, 2U);
  ASSERT_TRUE(stage_->NoteHost(OriginText(4), later, 0, {}, 0).has_value());
  AddUrl(4, 3);
  AddUrl(4, 4, true);
  EXPECT_EQ(Run(), Numbers{3});
  EXPECT_EQ(taken_[0].failures, 0U);
  EXPECT_EQ(Dropped(DropReason::kDenied), 2U);
}

// All ports of a host share its clock.
TEST_F(RobotsStageTest, ANoteReachesTheOtherOriginsOfTheHost) {
  const WallTime later = clock_.WallNow() + minutes(7);
  for (const char* origin : {"http://a.test/", "https://a.test/",
                             "http://a.test:8080/", "http://a.test:8171/"}) {
    End(StatusEnd(origin, 404, clock_.WallNow()));
  }
  ASSERT_TRUE(
      stage_->NoteHost("http://a.test:8080/", later, 0, {}, 3).has_value());
  for (const char* url : {"http://a.test/", "https://a.test/",
                          "http://a.test:8080/", "http://a.test:8171/"}) {
    AddRecord(EncodeText(url));
  }
  Run();
  ASSERT_EQ(taken_.size(), 4U);
  for (size_t i = 0; i < taken_.size(); ++i) {
    EXPECT_EQ(taken_[i].not_before, later);
    EXPECT_EQ(taken_[i].failures, i == 2 ? 3U : 0U) << "of the authority alone";
  }
}

TEST_F(RobotsStageTest, CrawlDelayAndRetryAfterStandOnUrls) {
  const std::string origin = OriginText(4);
  const std::string rules = PrivateRules();
  RobotsEnd end = GoodEnd(origin, rules, clock_.WallNow());
  end.crawl_delay = seconds(12);
  end.not_before = clock_.WallNow() + minutes(1);
  End(end);
  AddUrl(4, 1);
  EXPECT_EQ(Run(), Numbers{1});
  EXPECT_EQ(taken_[0].crawl_delay, milliseconds(12000));
  EXPECT_EQ(taken_[0].not_before, clock_.WallNow() + minutes(1));
}

// An unreachable file whose server asks for more time than we would wait.
TEST_F(RobotsStageTest, RetryAfterLengthensTheWaitForRobotsTxt) {
  AddUrl(4, 1);
  Run();
  ExpectRequest(4);
  const std::string origin = OriginText(4);
  RobotsEnd end = StatusEnd(origin, 503, clock_.WallNow());
  end.not_before = clock_.WallNow() + hours(2);
  End(end);
  Run();
  clock_.Advance(minutes(100));
  Run();
  ExpectNoRequest();
  clock_.Advance(minutes(30));
  Run();
  ExpectRequest(4);
}

// Those of a site that answers need not wait for one that does not.
TEST_F(RobotsStageTest, InASmallCrawlNoSiteWaitsForAnother) {
  for (uint64_t i = 0; i < 12; ++i) AddUrl(4 + i % 3, i);
  Run();
  EXPECT_EQ(TakeAll(*stage_).size(), 3U);
  Good(5);
  EXPECT_EQ(Run(), (Numbers{1, 4, 7, 10}));
  Good(6);
  EXPECT_EQ(Run(), (Numbers{2, 5, 8, 11}));
  EXPECT_EQ(stage_->stats().waiting, 4U);
  Good(4);
  EXPECT_EQ(Run(), (Numbers{0, 3, 6, 9}));
  EXPECT_EQ(stage_->stats().most_cycles, 1U);
  EXPECT_EQ(stage_->stats().cycled_once, 12U);
}

TEST_F(RobotsStageTest, WhatIsNoOriginOrNoRulesIsRefused) {
  EXPECT_FALSE(stage_->Add("junk", 1).has_value());
  EXPECT_FALSE(stage_->Add(EncodeText("ftp://a.test/"), 1).has_value());
  const std::string rules = PrivateRules();
  EXPECT_FALSE(
      stage_->RobotsEnded(GoodEnd("http://a.test/x", rules, {})).has_value());
  EXPECT_FALSE(
      stage_->RobotsEnded(GoodEnd("http://a.test/", "rules", {})).has_value());
  EXPECT_FALSE(stage_->NoteHost("a.test", {}, 0, {}, 0).has_value());
  EXPECT_TRUE(stage_->IsEmpty());
  EXPECT_EQ(stage_->account().Totals().in, 0U);
}

}  // namespace
}  // namespace nephila::robots
