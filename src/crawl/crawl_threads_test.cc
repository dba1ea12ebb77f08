// A crawl with all its threads, steered while it runs, stopped and resumed: for
// the thread sanitizer, and for what only threads can break.
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "crawl/threads_testing.h"

namespace nephila::crawl {
namespace {

class CrawlThreadsTest : public ThreadedCrawl,
                         public testing::WithParamInterface<config::Profile> {
 protected:
  // What the thread of Turn may do to a crawl that runs. Each is done once, in
  // this order, between two turns.
  void Steer(const CrawlStatus& status) {
    switch (step_) {
      case 0:
        if (status.pages < 10) return;
        crawl_->Pause();
        crawl_->TakeCheckpoint([this](const Result<uint64_t>& number) {
          EXPECT_OK(number);
          ++answers_;
        });
        break;
      case 1:
        // Nothing is in flight any more, and the checkpoint is taken.
        if (status.in_flight > 0 || answers_ < 1) return;
        EXPECT_EQ(crawl_->state(), CrawlState::kPaused);
        crawl_->AskDispatcher([this](const DispatcherFacts&) { ++answers_; });
        crawl_->AskHost(Seeds().front(),
                        [this](const std::optional<HostLook>& look) {
                          EXPECT_TRUE(look.has_value());
                          ++answers_;
                        });
        break;
      case 2: {
        if (answers_ < 3) return;
        config::Settings settings = crawl_->settings();
        settings.politeness.host_delay = std::chrono::milliseconds(2);
        settings.politeness.host_delay_floor = std::chrono::milliseconds(2);
        crawl_->Change(settings);
        crawl_->ReadBlockLists();
        MustDo(crawl_->Command("retry"));
        crawl_->Resume();
        break;
      }
      default:
        return;
    }
    ++step_;
  }

  // Runs to the end, or stops once so many pages are archived.
  CrawlEnd Run(uint64_t stop_after) {
    std::thread stopper;
    std::optional<CrawlEnd> end;
    while (!end) {
      const auto turn = crawl_->Turn(clock_.Now() + std::chrono::seconds(1));
      EXPECT_OK(turn);
      if (!turn) break;
      end = *turn;
      const CrawlStatus status = crawl_->status();
      Steer(status);
      if (status.pages >= stop_after && !stopper.joinable()) {
        crawl_->Pause();
        stopper = std::thread([this] { crawl_->Stop(); });
      }
    }
    if (stopper.joinable()) stopper.join();
    return end.value_or(CrawlEnd::kMaxTime);
  }

  int step_ = 0;
  int answers_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Profiles, CrawlThreadsTest,
                         testing::Values(config::Profile::kSite,
                                         config::Profile::kBroad),
                         [](const auto& param) {
                           return param.param == config::Profile::kSite
                                      ? "Site"
                                      : "Broad";
                         });

TEST_P(CrawlThreadsTest, ArchivesEachPageOnceOverAStopAndAResume) {
  Open(GetParam());
  EXPECT_EQ(CrawlEndName(Run(/*stop_after=*/60)),
            CrawlEndName(CrawlEnd::kStopped));
  EXPECT_EQ(crawl_->status().Imbalance(), "");
  Close();
  Open(GetParam());
  EXPECT_GE(crawl_->status().pages, 60U);
  EXPECT_EQ(CrawlEndName(Run(/*stop_after=*/UINT64_MAX)),
            CrawlEndName(CrawlEnd::kFinished));
  EXPECT_EQ(step_, 3);
  ExpectFinished();
}

// Without a clean end: the destructor stops the threads wherever they are.
TEST_P(CrawlThreadsTest, ArchivesEachPageOnceIfTheCrawlIsDestroyedWhileItRuns) {
  for (const uint64_t pages : {5, 40, 90}) {
    Open(GetParam());
    while (crawl_->status().pages < pages) {
      const auto end =
          Must(crawl_->Turn(clock_.Now() + std::chrono::seconds(1)));
      ASSERT_FALSE(end.has_value());
    }
    Close();
  }
  Open(GetParam());
  step_ = 3;
  EXPECT_EQ(CrawlEndName(Run(/*stop_after=*/UINT64_MAX)),
            CrawlEndName(CrawlEnd::kFinished));
  ExpectFinished();
}

}  // namespace
}  // namespace nephila::crawl
