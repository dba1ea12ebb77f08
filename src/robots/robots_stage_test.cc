#include "robots/robots_stage.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/memory_file_system.h"
#include "base/workers.h"
#include "robots/robots_stage_testing.h"

namespace nephila::robots {
namespace {

using item::Admission;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class RobotsStageTest : public ::testing::Test {
 protected:
  void SetUp() override { Make(SmallStage()); }

  void Make(RobotsStageOptions options) {
    options_ = options;
    dir_ += "x";
    auto stage = RobotsStage::Create({fs_, clock_, workers_}, dir_, options_);
    ASSERT_TRUE(stage.has_value()) << stage.error().message;
    stage_ = *std::move(stage);
  }
  void AddUrl(uint64_t origin, uint64_t number, bool is_private = false) {
    AddRecord(EncodeUrl(origin, number, is_private));
  }
  void AddRecord(const std::string& record) {
    const auto added = stage_->Add(record, 10);
    ASSERT_TRUE(added.has_value()) << added.error().message;
    ASSERT_EQ(*added, Admission::kTaken);
  }
  // What comes out now, by number.
  std::vector<uint64_t> Run() {
    taken_.clear();
    EXPECT_TRUE(RunUntilDry(*stage_, taken_));
    EXPECT_EQ(stage_->account().Imbalance(), 0);
    const RobotsStats stats = stage_->stats();
    EXPECT_EQ(
        static_cast<int64_t>(stats.checking + stats.waiting + stats.parked),
        stage_->account().Totals().held);
    std::vector<uint64_t> numbers;
    for (const Taken& url : taken_) numbers.push_back(url.number);
    return numbers;
  }
  void End(const RobotsEnd& end) {
    const Status ended = stage_->RobotsEnded(end);
    ASSERT_TRUE(ended.has_value()) << ended.error().message;
  }
  void Good(uint64_t origin, const std::string& rules = PrivateRules()) {
    End(GoodEnd(OriginText(origin), rules, clock_.WallNow()));
  }
  void Fail(uint64_t origin) {
    End(NetworkEnd(OriginText(origin), clock_.WallNow()));
  }
  // The one request that is there.
  void ExpectRequest(uint64_t origin) {
    EXPECT_EQ(TakeAll(*stage_), std::vector{OriginText(origin)});
  }
  void ExpectNoRequest() {
    EXPECT_EQ(TakeAll(*stage_), std::vector<std::string>());
  }
  uint64_t Dropped(DropReason reason) {
    return stage_->account().Totals().dropped[static_cast<size_t>(reason)];
  }
  std::string Commit() {
    const auto commit = stage_->BeginCommit();
    EXPECT_TRUE(commit.has_value());
    EXPECT_TRUE(stage_->FinishCommit().has_value());
    return *commit;
  }
  void Reopen(const std::string& commit) {
    stage_.reset();
    auto stage =
        RobotsStage::Open({fs_, clock_, workers_}, dir_, options_, commit);
    ASSERT_TRUE(stage.has_value()) << stage.error().message;
    stage_ = *std::move(stage);
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  Workers workers_{0};
  std::string dir_ = "robots";
  RobotsStageOptions options_;
  std::unique_ptr<RobotsStage> stage_;
  std::vector<Taken> taken_;
};

using Numbers = std::vector<uint64_t>;

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
  ASSERT_TRUE(stage_->NoteHost(OriginText(4), later, 2, 1).has_value());
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
  // The oldest is still open, so are its followers' places.
  Good(OriginNumber(first[1]));
  ExpectNoRequest();
  Good(OriginNumber(first[0]));
  EXPECT_EQ(TakeAll(*stage_).size(), 2U);
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
  ASSERT_TRUE(stage_->NoteHost(OriginText(4), later, 3, 2).has_value());
  Good(4);
  AddUrl(4, 1);
  AddUrl(4, 2, true);
  EXPECT_EQ(Run(), Numbers{1});
  EXPECT_EQ(taken_[0].not_before, later);
  EXPECT_EQ(taken_[0].failures, 3U);
  EXPECT_EQ(taken_[0].overloads, 2U);
  ASSERT_TRUE(stage_->NoteHost(OriginText(4), later, 0, 0).has_value());
  AddUrl(4, 3);
  AddUrl(4, 4, true);
  EXPECT_EQ(Run(), Numbers{3});
  EXPECT_EQ(taken_[0].failures, 0U);
  EXPECT_EQ(Dropped(DropReason::kDenied), 2U);
}

// http and https of a host share its clock.
TEST_F(RobotsStageTest, ANoteReachesTheOtherOriginsOfTheHost) {
  const WallTime later = clock_.WallNow() + minutes(7);
  for (const char* origin :
       {"http://a.test/", "https://a.test/", "http://a.test:8080/"}) {
    End(StatusEnd(origin, 404, clock_.WallNow()));
  }
  ASSERT_TRUE(stage_->NoteHost("http://a.test:8080/", later, 3, 0).has_value());
  for (const char* url :
       {"http://a.test/", "https://a.test/", "http://a.test:8080/"}) {
    AddRecord(EncodeText(url));
  }
  Run();
  ASSERT_EQ(taken_.size(), 3U);
  for (const Taken& url : taken_) EXPECT_EQ(url.not_before, later);
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

TEST_F(RobotsStageTest, LongRulesAreMatchedFromTheLog) {
  AddUrl(1, 1);
  AddUrl(1, 2, true);
  Run();
  ExpectRequest(1);
  const std::string rules = LongPrivateRules();
  ASSERT_GT(rules.size(), size_t{4} << 10);
  Good(1, rules);
  EXPECT_EQ(Run(), Numbers{1});
  EXPECT_EQ(Dropped(DropReason::kDenied), 1U);
  EXPECT_GT(stage_->stats().rules_log_bytes, rules.size());
  const std::string commit = Commit();
  AddUrl(1, 3);
  AddUrl(1, 4, true);
  EXPECT_EQ(Run(), Numbers{3});
  Reopen(commit);
  AddUrl(1, 5);
  AddUrl(1, 6, true);
  EXPECT_EQ(Run(), Numbers{5});
}

// Wherever a byte of the log is flipped, robots.txt is fetched again.
TEST_F(RobotsStageTest, DamagedRulesAreAskedForAgain) {
  const std::string rules = LongPrivateRules();
  Good(1, rules);
  const std::string path = dir_ + "/rules/rules-00000001";
  for (const uint64_t at : {0U, 5U, 11U, 12U, 700U, 5000U}) {
    const std::string commit = Commit();
    const uint64_t damaged = stage_->stats().damaged_rules;
    const uint64_t size = stage_->stats().rules_log_bytes;
    auto file = fs_.Open(path, OpenMode::kReadWrite);
    ASSERT_TRUE(file.has_value());
    // The last rules are those of the record.
    const uint64_t offset = size - rules.size() - 12 + at;
    std::byte byte{};
    ASSERT_TRUE((*file)->ReadExact(offset, {&byte, 1}).has_value());
    byte ^= std::byte{16};
    ASSERT_TRUE((*file)->Write(offset, {&byte, 1}).has_value());
    Reopen(commit);  // or they would be matched in memory
    AddUrl(1, 1);
    AddUrl(1, 2);
    AddUrl(1, 3, true);
    EXPECT_EQ(Run(), Numbers());
    EXPECT_EQ(stage_->stats().damaged_rules, damaged + 3);
    ExpectRequest(1);
    Good(1, rules);
    EXPECT_EQ(Run(), (Numbers{1, 2}));
    ExpectNoRequest();
  }
  EXPECT_EQ(stage_->stats().most_cycles, 1U);
}

// A damaged copy is none: without reach nothing is allowed.
TEST_F(RobotsStageTest, DamagedRulesAreNotKeptWhileUnreachable) {
  Good(1, LongPrivateRules());
  const std::string commit = Commit();
  ASSERT_TRUE(fs_.Remove(dir_ + "/rules/rules-00000001").has_value());
  Reopen(commit);
  AddUrl(1, 1);
  Run();
  ExpectRequest(1);
  Fail(1);
  EXPECT_EQ(Run(), Numbers());
  EXPECT_EQ(stage_->stats().parked, 1U);
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

TEST_F(RobotsStageTest, ACommitIsExactlyWhatItWas) {
  AddUrl(4, 1);
  AddUrl(5, 2);
  AddUrl(6, 3);
  Run();
  EXPECT_EQ(TakeAll(*stage_).size(), 3U);
  Good(5);
  Fail(6);
  const std::string commit = Commit();
  for (int i = 0; i < 3; ++i) {
    // What had not ended is asked for again, and only that.
    Reopen(commit);
    Run();
    ExpectRequest(4);
    Run();
    EXPECT_EQ(stage_->stats().parked, 1U);
    EXPECT_EQ(stage_->stats().waiting, 1U);
    Good(4);
    Run();
    EXPECT_EQ(stage_->account().Totals().out, 2U);
  }
}

// After a restart ends come from the journal before the requests do.
TEST_F(RobotsStageTest, AnEndThatIsToldAgainIsNotRequested) {
  AddUrl(4, 1);
  Run();
  const std::string commit = Commit();
  ExpectRequest(4);
  Good(4);
  Run();
  Reopen(commit);
  Good(4);
  // It may be told before the state that is gone on from knew of the URL.
  Good(5);
  const std::string again = Commit();
  ExpectNoRequest();
  EXPECT_EQ(Run(), Numbers{1});
  AddUrl(5, 2);
  EXPECT_EQ(Run(), Numbers{2});
  ExpectNoRequest();
  // The same through another stop.
  Reopen(again);
  ExpectNoRequest();
  EXPECT_EQ(Run(), Numbers{1});
  // A day later it is asked for as ever.
  clock_.Advance(hours(25));
  AddUrl(5, 3);
  Run();
  ExpectRequest(5);
}

TEST_F(RobotsStageTest, AClockThatIsSetBackDoesNotStopTheCrawl) {
  clock_.StepWall(hours(24 * 365));
  Good(4);
  AddUrl(5, 1);
  Run();
  ExpectRequest(5);
  Fail(5);
  Run();
  EXPECT_EQ(stage_->stats().parked, 1U);
  clock_.StepWall(-hours(24 * 365));
  AddUrl(4, 2);
  EXPECT_EQ(Run(), Numbers());
  EXPECT_EQ(TakeAll(*stage_), (std::vector{OriginText(4), OriginText(5)}));
  Good(4);
  Good(5);
  EXPECT_EQ(Run().size(), 2U);
}

TEST_F(RobotsStageTest, APassOverRecordsAloneEndsByItself) {
  Good(4);
  ASSERT_TRUE(stage_->Flush().has_value());
  AddUrl(4, 1);
  EXPECT_EQ(Run(), Numbers{1});
}

TEST_F(RobotsStageTest, WhatIsNoOriginOrNoRulesIsRefused) {
  EXPECT_FALSE(stage_->Add("junk", 1).has_value());
  EXPECT_FALSE(stage_->Add(EncodeText("ftp://a.test/"), 1).has_value());
  const std::string rules = PrivateRules();
  EXPECT_FALSE(
      stage_->RobotsEnded(GoodEnd("http://a.test/x", rules, {})).has_value());
  EXPECT_FALSE(
      stage_->RobotsEnded(GoodEnd("http://a.test/", "rules", {})).has_value());
  EXPECT_FALSE(stage_->NoteHost("a.test", {}, 0, 0).has_value());
  EXPECT_TRUE(stage_->IsEmpty());
  EXPECT_EQ(stage_->account().Totals().in, 0U);
}

TEST_F(RobotsStageTest, DamagedCommitsAreRefused) {
  AddUrl(4, 1);
  Run();
  const std::string commit = Commit();
  stage_.reset();
  for (size_t size = 0; size < commit.size(); ++size) {
    const auto cut = RobotsStage::Open({fs_, clock_, workers_}, dir_, options_,
                                       commit.substr(0, size));
    EXPECT_FALSE(cut.has_value()) << size;
  }
  std::string later = commit;
  later[0] = 9;
  const auto opened =
      RobotsStage::Open({fs_, clock_, workers_}, dir_, options_, later);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace nephila::robots
