// A page that ends the process whenever it is read.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/crash_testing.h"
#include "base/file_testing.h"
#include "crawl/recovery_testing.h"

namespace nephila::crawl {
namespace {

// The process dies when it reads a page: here, the disk stops for it.
class QuarantinedTest : public RecoveryTest {
 protected:
  // Runs a process that dies at this page; false if it came to its end.
  bool DiesAt(const std::string& url) { return Dies(url, "nothing"); }
  bool DiesTaking(const std::string& url) { return Dies("nothing", url); }
  bool Dies(const std::string& reading, const std::string& taking) {
    FaultyFileSystem faulty(fs_);
    on_read_ = [&](std::string_view read) {
      if (read == reading) faulty.StopAt(faulty.operations() + 1);
    };
    on_take_ = [&](std::string_view taken) {
      if (taken == taking) faulty.StopAt(faulty.operations() + 1);
    };
    Status status = Open(faulty);
    if (status) status = crawl_->AddSeed("http://a.com/");
    bool ended = false;
    while (status && !ended) {
      const auto end = crawl_->Turn(clock_.Now());
      if (!end) status = Unexpected(end.error());
      ended = end && *end;
      clock_.Advance(milliseconds(1));
    }
    Close();
    fs_.KillProcess();
    on_read_ = nullptr;
    on_take_ = nullptr;
    return !status;
  }
};

TEST_F(QuarantinedTest, APageThatEndsTheProcessTwiceIsLeftOut) {
  web_.Put("http://a.com/", FakePage(Links({"/bad", "/good"})));
  web_.Put("http://a.com/bad", FakePage(Links({"/never"})));
  web_.Put("http://a.com/good", FakePage(Links({"/more"})));
  web_.Put("http://a.com/more", FakePage(""));
  ASSERT_TRUE(DiesAt("http://a.com/bad"));
  EXPECT_EQ(quarantined_, Urls());
  // Again, by the journal.
  ASSERT_TRUE(DiesAt("http://a.com/bad"));
  EXPECT_FALSE(DiesAt("http://a.com/bad"));
  EXPECT_EQ(quarantined_, Urls{"http://a.com/bad"});
  MustDo(Open(fs_));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(Archived(),
            (std::map<std::string, int>{{"http://a.com/robots.txt", 1},
                                        {"http://a.com/", 1},
                                        {"http://a.com/bad", 1},
                                        {"http://a.com/good", 1},
                                        {"http://a.com/more", 1}}));
  EXPECT_EQ(TimesAsked("http://a.com/bad"), 1);
  EXPECT_EQ(crawl_->status().quarantined, 1U);
  EXPECT_EQ(quarantined_.size(), 1U);
}

TEST_F(QuarantinedTest, ARobotsTxtThatEndsTheProcessTwiceAllowsNothing) {
  web_.Put("http://a.com/robots.txt", FakeText("User-agent: *\nAllow: /\n"));
  web_.Put("http://a.com/", FakePage(Links({"http://b.com/"})));
  ASSERT_TRUE(DiesAt("http://a.com/robots.txt"));
  ASSERT_TRUE(DiesAt("http://a.com/robots.txt"));
  EXPECT_FALSE(DiesAt("http://a.com/robots.txt"));
  EXPECT_EQ(quarantined_, Urls{"http://a.com/robots.txt"});
  EXPECT_EQ(TimesAsked("http://a.com/"), 0);
}

TEST_F(QuarantinedTest, AnEntryThatEndsTheProcessTwiceIsSkipped) {
  web_.Put("http://a.com/", FakePage(Links({"/bad", "/good"})));
  web_.Put("http://a.com/bad", FakePage(Links({"/never"})));
  web_.Put("http://a.com/good", FakePage(Links({"/more"})));
  web_.Put("http://a.com/more", FakePage(""));
  ASSERT_TRUE(DiesTaking("http://a.com/bad"));
  EXPECT_EQ(quarantined_, Urls());
  ASSERT_TRUE(DiesTaking("http://a.com/bad"));
  EXPECT_FALSE(DiesTaking("http://a.com/bad"));
  EXPECT_EQ(quarantined_, Urls{"http://a.com/bad"});
  MustDo(Open(fs_));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(TimesAsked("http://a.com/bad"), 1);
  EXPECT_EQ(TimesAsked("http://a.com/never"), 0);
  EXPECT_EQ(TimesAsked("http://a.com/more"), 1);
  EXPECT_EQ(crawl_->status().quarantined, 1U);
  EXPECT_EQ(crawl_->status().Imbalance(), "");
}

TEST_F(QuarantinedTest, AnEntryOfARobotsTxtThatIsSkippedAllowsNothing) {
  web_.Put("http://a.com/robots.txt", FakeText("User-agent: *\nAllow: /\n"));
  web_.Put("http://a.com/", FakePage(""));
  ASSERT_TRUE(DiesTaking("http://a.com/robots.txt"));
  ASSERT_TRUE(DiesTaking("http://a.com/robots.txt"));
  EXPECT_FALSE(DiesTaking("http://a.com/robots.txt"));
  EXPECT_EQ(quarantined_, Urls{"http://a.com/robots.txt"});
  EXPECT_EQ(TimesAsked("http://a.com/"), 0);
}

TEST_F(QuarantinedTest, ASeedThatIsSkippedBringsNothing) {
  web_.Put("http://a.com/", FakePage(""));
  ASSERT_TRUE(DiesTaking("http://a.com/"));
  ASSERT_TRUE(DiesTaking("http://a.com/"));
  EXPECT_FALSE(DiesTaking("http://a.com/"));
  EXPECT_EQ(quarantined_, Urls{"http://a.com/"});
  EXPECT_EQ(TimesAsked("http://a.com/"), 0);
}

// A kill is no fault of the page that was being read.
TEST_F(QuarantinedTest, APageThatIsReadInBetweenIsNot) {
  web_.Put("http://a.com/", FakePage(Links({"/1"})));
  web_.Put("http://a.com/1", FakePage(Links({"/2"})));
  web_.Put("http://a.com/2", FakePage(""));
  settings_.crawl.checkpoint_interval = seconds(1000);
  ASSERT_TRUE(DiesAt("http://a.com/1"));
  ASSERT_TRUE(DiesAt("http://a.com/2"));
  const auto struck = [this](const char* url) {
    return Get(fs_, "job/quarantine").find(url) != std::string::npos;
  };
  EXPECT_FALSE(struck("http://a.com/1"));
  MustDo(Open(fs_));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_FALSE(struck("http://a.com/2"));
  EXPECT_EQ(quarantined_, Urls());
  EXPECT_EQ(crawl_->status().pages, 3U);
  EXPECT_EQ(crawl_->status().quarantined, 0U);
}

}  // namespace
}  // namespace nephila::crawl
