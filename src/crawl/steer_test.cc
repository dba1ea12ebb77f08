// A crawl that is steered while it runs: pause, checkpoints, settings.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/file.h"
#include "crawl/recovery_testing.h"

namespace nephila::crawl {
namespace {

class SteerTest : public RecoveryTest {
 protected:
  // A site of some pages, in a row.
  void PutSite(int pages, const std::string& host = "http://a.com") {
    web_.Put(host + "/robots.txt", FakeError(404));
    for (int i = 0; i < pages; ++i) {
      web_.Put(host + "/" + (i == 0 ? "" : std::to_string(i)),
               FakePage(Links({"/" + std::to_string(i + 1)})));
    }
    web_.Put(host + "/" + std::to_string(pages), FakePage("the last"));
  }
  void Begin(const std::string& seed = "http://a.com/") {
    MustDo(Open(fs_));
    MustDo(crawl_->AddSeed(seed));
  }
  bool UntilPages(uint64_t pages) {
    return TurnsUntil([&] { return crawl_->status().pages >= pages; });
  }
  void Turns(int count) {
    for (int i = 0; i < count; ++i) {
      Must(crawl_->Turn(clock_.Now()));
      clock_.Advance(milliseconds(1));
    }
  }
};

TEST_F(SteerTest, APausedCrawlAsksNobodyUntilItIsResumed) {
  PutSite(20);
  Begin();
  ASSERT_TRUE(UntilPages(3));
  EXPECT_EQ(crawl_->state(), CrawlState::kRunning);
  crawl_->Pause();
  Turns(200);  // what is in flight ends
  EXPECT_EQ(crawl_->state(), CrawlState::kPaused);
  const size_t asked = web_.requests();
  Turns(5000);
  EXPECT_EQ(web_.requests(), asked);
  EXPECT_EQ(crawl_->status().in_flight, 0U);
  crawl_->Resume();
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_TRUE(
      TurnsUntil([this] { return crawl_->state() == CrawlState::kStopped; }));
  EXPECT_EQ(crawl_->status().pages, 21U);
  EXPECT_EQ(web_.FirstEarly(milliseconds(100), milliseconds(10)), "");
}

TEST_F(SteerTest, APauseHoldsThroughAFullDiskAndTheOtherWayRound) {
  PutSite(20);
  settings_.disk.floor_bytes = uint64_t{1} << 20;
  settings_.disk.margin_bytes = 0;
  Begin();
  ASSERT_TRUE(UntilPages(2));
  crawl_->Pause();
  Turns(200);
  // The floor rises above what is free, and falls again.
  config::Settings changed = crawl_->settings();
  changed.disk.floor_bytes = uint64_t{1} << 49;
  crawl_->Change(changed);
  Turns(2000);
  const size_t asked = web_.requests();
  crawl_->Resume();
  Turns(2000);
  EXPECT_EQ(crawl_->state(), CrawlState::kWaitingForDisk);
  EXPECT_EQ(web_.requests(), asked);
  crawl_->Pause();
  changed.disk.floor_bytes = uint64_t{1} << 20;
  crawl_->Change(changed);
  Turns(2000);
  EXPECT_EQ(crawl_->state(), CrawlState::kPaused);
  EXPECT_EQ(web_.requests(), asked);
  crawl_->Resume();
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
}

TEST_F(SteerTest, APausedCrawlCanBeStopped) {
  PutSite(20);
  Begin();
  ASSERT_TRUE(UntilPages(2));
  crawl_->Pause();
  Turns(100);
  crawl_->Stop();
  EXPECT_TRUE(TurnsUntil([this] { return crawl_->status().end.has_value(); }));
  // The next run is not paused.
  MustDo(Open(fs_));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
}

TEST_F(SteerTest, ACheckpointIsToldWhenItIsDurable) {
  settings_.crawl.checkpoint_interval = seconds(3600);
  PutSite(20);
  Begin();
  ASSERT_TRUE(UntilPages(4));
  const uint64_t before = crawl_->checkpoint_number();
  std::vector<uint64_t> told;
  const auto note = [&told](const Result<uint64_t>& number) {
    ASSERT_TRUE(number) << number.error().message;
    told.push_back(*number);
  };
  crawl_->TakeCheckpoint(note);
  EXPECT_TRUE(told.empty());
  ASSERT_TRUE(TurnsUntil([&] { return !told.empty(); }));
  EXPECT_EQ(told, std::vector<uint64_t>{before + 1});
  EXPECT_EQ(crawl_->checkpoint_number(), before + 1);
  // One that is under way does not have what came behind it.
  crawl_->TakeCheckpoint(note);
  ASSERT_TRUE(TurnsUntil([&] { return told.size() == 2; }));
  EXPECT_EQ(told[1], before + 2);
  const uint64_t pages = crawl_->status().pages;
  LosePowerAndOpen();
  EXPECT_GE(crawl_->status().pages, pages);
}

TEST_F(SteerTest, TwoWhoWantACheckpointShareIt) {
  settings_.crawl.checkpoint_interval = seconds(3600);
  PutSite(5);
  Begin();
  ASSERT_TRUE(UntilPages(1));
  std::vector<uint64_t> told;
  for (int i = 0; i < 2; ++i) {
    crawl_->TakeCheckpoint(
        [&told](const Result<uint64_t>& number) { told.push_back(*number); });
  }
  ASSERT_TRUE(TurnsUntil([&] { return told.size() == 2; }));
  EXPECT_EQ(told[0], told[1]);
}

TEST_F(SteerTest, ACheckpointAskedForDuringTheLastIsThatOne) {
  PutSite(2);
  Begin();
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  ASSERT_EQ(crawl_->state(), CrawlState::kStopping);
  std::vector<uint64_t> told;
  crawl_->TakeCheckpoint([&told](const Result<uint64_t>& number) {
    ASSERT_TRUE(number) << number.error().message;
    told.push_back(*number);
  });
  EXPECT_TRUE(
      TurnsUntil([this] { return crawl_->state() == CrawlState::kStopped; }));
  EXPECT_EQ(told, std::vector<uint64_t>{crawl_->checkpoint_number()});
}

TEST_F(SteerTest, ACheckpointThatWillNotComeIsRefused) {
  settings_.crawl.checkpoint_interval = seconds(3600);
  PutSite(20);
  FaultyFileSystem faulty(fs_, 1);
  MustDo(Open(faulty));
  MustDo(crawl_->AddSeed("http://a.com/"));
  ASSERT_TRUE(UntilPages(2));
  std::vector<std::string> told;
  crawl_->TakeCheckpoint([&told](const Result<uint64_t>& number) {
    ASSERT_FALSE(number);
    told.push_back(number.error().message);
  });
  faulty.FailAt(faulty.operations() + 1, Fault::kEio);
  std::string why;
  for (int i = 0; i < 1000 && why.empty(); ++i) {
    const auto end = crawl_->Turn(clock_.Now());
    if (!end.has_value()) why = end.error().message;
    clock_.Advance(milliseconds(1));
  }
  EXPECT_NE(why, "");
  EXPECT_EQ(told, std::vector<std::string>{why});
  Close();
}

TEST_F(SteerTest, AShorterIntervalOfSyncsHoldsAtOnce) {
  settings_.crawl.checkpoint_interval = seconds(3600);
  settings_.crawl.sync_interval = seconds(3600);
  PutSite(100);
  Begin();
  ASSERT_TRUE(UntilPages(3));
  config::Settings changed = crawl_->settings();
  changed.crawl.sync_interval = milliseconds(50);
  crawl_->Change(changed);
  Turns(300);
  LosePowerAndOpen();
  EXPECT_GE(crawl_->status().pages, 3U);
}

TEST_F(SteerTest, AShorterIntervalOfBlackListsHoldsAtOnce) {
  settings_.scope.block_interval = seconds(3600);
  PutSite(100);
  Begin();
  ASSERT_TRUE(UntilPages(3));
  MustDo(PublishFile(fs_, "job/blocked", "host a.com\n"));
  config::Settings changed = crawl_->settings();
  changed.scope.block_interval = milliseconds(50);
  crawl_->Change(changed);
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_LT(crawl_->status().pages, 10U);
}

TEST_F(SteerTest, ALimitMayRiseAndFall) {
  PutSite(30);
  settings_.crawl.max_pages = 5;
  Begin();
  ASSERT_TRUE(UntilPages(3));
  config::Settings changed = crawl_->settings();
  changed.crawl.max_pages = 12;
  crawl_->Change(changed);
  ASSERT_TRUE(UntilPages(8));
  changed.crawl.max_pages = 10;
  crawl_->Change(changed);
  EXPECT_TRUE(TurnsUntil([this] { return crawl_->status().end.has_value(); }));
  EXPECT_EQ(crawl_->status().pages, 10U);
  EXPECT_EQ(crawl_->status().end, CrawlEnd::kMaxPages);
}

TEST_F(SteerTest, ALongerDelayHoldsFromNowOn) {
  PutSite(10);
  Begin();
  ASSERT_TRUE(UntilPages(3));
  config::Settings changed = crawl_->settings();
  changed.politeness.host_delay = seconds(5);
  changed.politeness.host_delay_floor = seconds(5);
  crawl_->Change(changed);
  Turns(50);
  const size_t asked = web_.requests();
  Turns(4000);
  EXPECT_EQ(web_.requests(), asked);
  Turns(2000);
  EXPECT_EQ(web_.requests(), asked + 1);
  // A shorter one from the next lease on.
  changed.politeness.host_delay = milliseconds(50);
  changed.politeness.host_delay_floor = milliseconds(50);
  crawl_->Change(changed);
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(web_.FirstEarly(milliseconds(50), milliseconds(10)), "");
}

TEST_F(SteerTest, SettingsThatAreNotLiveStayAsTheyAre) {
  PutSite(2);
  Begin();
  config::Settings changed = crawl_->settings();
  changed.crawl.memory_bytes *= 2;
  changed.crawl.max_transfers = 3;
  crawl_->Change(changed);
  EXPECT_EQ(crawl_->settings().crawl.memory_bytes,
            settings_.crawl.memory_bytes);
  std::optional<DispatcherFacts> facts;
  crawl_->AskDispatcher([&](const DispatcherFacts& told) { facts = told; });
  ASSERT_TRUE(TurnsUntil([&] { return facts.has_value(); }));
  EXPECT_EQ(facts->max_in_flight, 3U);
}

}  // namespace
}  // namespace nephila::crawl
