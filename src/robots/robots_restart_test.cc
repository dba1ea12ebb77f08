// What the stage makes of commits, of damage, of clocks that are set.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/file.h"
#include "robots/robots_fixture_testing.h"
#include "robots/robots_stage.h"
#include "robots/robots_stage_testing.h"

namespace nephila::robots {
namespace {

using std::chrono::hours;

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
