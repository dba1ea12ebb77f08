// URLs that failed for good, asked for again: once each, whenever the process
// ends.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/sanitizers_testing.h"
#include "crawl/recovery_testing.h"
#include "crawl/retry_command.h"

namespace nephila::crawl {
namespace {

using item::FetchOutcome;

TEST(RetryCommandTest, NamesOutcomesOrMeansAll) {
  EXPECT_EQ(*RetryText({}), "retry");
  EXPECT_EQ(*RetryText({"timeout", "dns-failed"}), "retry timeout,dns-failed");
  EXPECT_EQ(ParseRetry("retry"), UINT32_MAX);
  EXPECT_EQ(ParseRetry("retry timeout,dns-failed"), (1U << 6U) | (1U << 2U));
  for (const char* text :
       {"", "retr", "retryx", "retry ", "retry x", "retry timeout,",
        "retry response", "retry timeout, dns-failed", "block x"}) {
    EXPECT_EQ(ParseRetry(text), std::nullopt) << text;
  }
  const auto wrong = RetryText({"response"});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("dns-failed, connect-failed"),
            std::string::npos)
      << wrong.error().message;
}

class RetryTest : public RecoveryTest {
 protected:
  // A page with three links, of which two fail at first, each in its way.
  void PutWeb() {
    settings_.fetch.retry_attempts = 1;
    const FakeAnswer bad = FakeFailure(FetchOutcome::kBadResponse);
    const FakeAnswer slow = FakeFailure(FetchOutcome::kTimeout);
    web_.Put("http://a.com/robots.txt", FakeError(404));
    web_.Put("http://b.com/robots.txt", FakeError(404));
    web_.Put("http://c.com/robots.txt", FakeError(404));
    web_.Put(
        "http://a.com/",
        FakePage(Links({"/good", "http://b.com/bad", "http://c.com/slow"})));
    web_.Put("http://a.com/good", FakePage("good"));
    web_.Put("http://b.com/bad", {bad, FakePage("well now")});
    web_.Put("http://c.com/slow", {slow, FakePage("fast now")});
  }
  static std::map<std::string, int> All() {
    return {{"http://a.com/robots.txt", 1}, {"http://b.com/robots.txt", 1},
            {"http://c.com/robots.txt", 1}, {"http://a.com/", 1},
            {"http://a.com/good", 1},       {"http://b.com/bad", 1},
            {"http://c.com/slow", 1}};
  }
  void RunOnce() {
    MustDo(Open(fs_));
    MustDo(crawl_->AddSeed("http://a.com/"));
    EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  }
};

TEST_F(RetryTest, WhatFailedIsKeptAndAskedForAgainByTheNextRun) {
  PutWeb();
  RunOnce();
  EXPECT_EQ(crawl_->status().failed, 2U);
  EXPECT_EQ(crawl_->frontier().failed(), 2U);
  MustDo(Open(fs_));
  EXPECT_EQ(crawl_->frontier().failed(), 2U);
  MustDo(crawl_->Command("retry"));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(Archived(), All());
  EXPECT_EQ(crawl_->frontier().failed(), 0U);
  // Nothing more is asked for, and seeds count those that came again.
  EXPECT_EQ(TimesAsked("http://b.com/bad"), 2);
  EXPECT_EQ(TimesAsked("http://a.com/good"), 1);
  EXPECT_EQ(crawl_->status().stages[0].totals.made, 3U);
}

TEST_F(RetryTest, OnlyTheOutcomesThatAreNamedAreTried) {
  PutWeb();
  RunOnce();
  MustDo(Open(fs_));
  MustDo(crawl_->Command("retry timeout"));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(TimesAsked("http://c.com/slow"), 2);
  EXPECT_EQ(TimesAsked("http://b.com/bad"), 1);
  EXPECT_EQ(crawl_->frontier().failed(), 1U);
  MustDo(Open(fs_));
  MustDo(crawl_->Command("retry dns-failed"));
  MustDo(crawl_->Command("retry bad-response"));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(Archived(), All());
}

TEST_F(RetryTest, ARunningCrawlTriesThemAtOnce) {
  PutWeb();
  web_.Put("http://a.com/good", FakePage(Links({"/later"})));
  web_.Put("http://a.com/later", FakePage("later"));
  settings_.politeness.site_delays = {"a.com=60s"};
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://a.com/"));
  ASSERT_TRUE(
      TurnsUntil([this] { return crawl_->frontier().failed() == 2; }, 200'000));
  MustDo(crawl_->Command("retry"));
  ASSERT_TRUE(TurnsUntil(
      [this] {
        return TimesAsked("http://b.com/bad") == 2 &&
               TimesAsked("http://c.com/slow") == 2;
      },
      200'000));
  EXPECT_EQ(TimesAsked("http://a.com/later"), 0);
}

TEST_F(RetryTest, OneThatFailsAgainWaitsForTheNextCommand) {
  PutWeb();
  web_.Put("http://b.com/bad", FakeFailure(FetchOutcome::kBadResponse));
  RunOnce();
  for (int times = 2; times <= 3; ++times) {
    MustDo(Open(fs_));
    MustDo(crawl_->Command("retry"));
    EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
    EXPECT_EQ(TimesAsked("http://b.com/bad"), times);
    EXPECT_EQ(crawl_->frontier().failed(), 1U);
  }
  EXPECT_EQ(crawl_->status().failed, 4U);
}

TEST_F(RetryTest, CapsThatAreReachedKeepNoneBack) {
  PutWeb();
  settings_.scope.max_pages_per_host = 1;
  settings_.scope.max_pages_per_domain = 1;
  RunOnce();
  // With all that the caps have counted on disk.
  ASSERT_TRUE(
      TurnsUntil([this] { return crawl_->state() == CrawlState::kStopped; }));
  MustDo(Open(fs_));
  MustDo(crawl_->Command("retry"));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(TimesAsked("http://b.com/bad"), 2);
  EXPECT_EQ(TimesAsked("http://c.com/slow"), 2);
  EXPECT_EQ(TimesAsked("http://a.com/good"), 0);
  EXPECT_EQ(crawl_->frontier().failed(), 0U);
}

TEST_F(RetryTest, WhatIsOutOfScopeNowStaysAmongThoseThatFailed) {
  PutWeb();
  RunOnce();
  settings_.scope.bounds = config::ScopeBounds::kHost;
  MustDo(Open(fs_));
  MustDo(crawl_->Command("retry"));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(TimesAsked("http://b.com/bad"), 1);
  EXPECT_EQ(crawl_->frontier().failed(), 2U);
  // As is what is denied, until it is so no more.
  settings_.scope.bounds = config::ScopeBounds::kAll;
  settings_.scope.deny = {"bad"};
  MustDo(Open(fs_));
  MustDo(crawl_->Command("retry"));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(TimesAsked("http://c.com/slow"), 2);
  EXPECT_EQ(crawl_->frontier().failed(), 1U);
  settings_.scope.deny = {};
  MustDo(Open(fs_));
  MustDo(crawl_->Command("retry"));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(Archived(), All());
  EXPECT_EQ(crawl_->frontier().failed(), 0U);
}

TEST_F(RetryTest, WhatIsNoCommandIsRefused) {
  PutWeb();
  MustDo(Open(fs_));
  const Status status = crawl_->Command("forget all");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
}

// Killed after so many turns behind the command, with checkpoints that come
// often and with none.
class RetryKillTest : public RetryTest,
                      public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Checkpoints, RetryKillTest, testing::Bool());

TEST_P(RetryKillTest, EachIsArchivedOnceWheneverTheProcessEnds) {
  PutWeb();
  settings_.crawl.checkpoint_interval =
      GetParam() ? milliseconds(10) : milliseconds(3'600'000);
  for (int turns = 0; turns < 900; turns += kIsSanitized ? 284 : 71) {
    SCOPED_TRACE(turns);
    fs_.LosePower(LossMode::kNothingUnsynced);
    Close();
    MustDo(RemoveAll(fs_, "job"));
    PutWeb();
    RunOnce();
    MustDo(Open(fs_));
    MustDo(crawl_->Command("retry"));
    for (int i = 0; i < turns; ++i) {
      const auto end = Must(crawl_->Turn(clock_.Now()));
      if (end) break;
      clock_.Advance(milliseconds(1));
    }
    KillAndOpen();
    EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
    EXPECT_EQ(Archived(), All());
    EXPECT_EQ(crawl_->frontier().failed(), 0U);
    EXPECT_EQ(crawl_->frontier().CountHeld(), 0);
  }
}

}  // namespace
}  // namespace nephila::crawl
