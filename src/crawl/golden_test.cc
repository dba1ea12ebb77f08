// Job folders of an earlier build are resumed, and every promise holds over
// both runs (testdata/golden_job/README.md).
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_testing.h"
#include "base/real_file_system.h"
#include "base/source_path_testing.h"
#include "crawl/golden_testing.h"
#include "crawl/scenario_testing.h"
#include "job/quarantine.h"
#include "url/keys.h"

namespace nephila::crawl {
namespace {

using std::chrono::seconds;

class GoldenTest : public ScenarioTest {
 protected:
  static std::string Stored(const std::string& name) {
    return SourcePath("testdata/golden_job/" + name);
  }

  void TearDown() override { MustDo(RemoveAll(*real_, TempFolder())); }
  static std::string TempFolder() {
    return testing::TempDir() + "golden-" + std::to_string(::getpid());
  }

  // Loads a stored job and opens it. kKill: this boot of the machine is the one
  // that the job was left in. kEverything: it is another one.
  void Resume(const TwinPlan& plan, const std::string& dir, Crash crash) {
    plan_ = plan;
    NewDisk();
    twin_.emplace(plan_);
    const GoldenJob golden = Must(LoadGolden(*real_, dir, *fs_));
    twin_->Continue(golden.now, golden.log);
    twin_->Crash(crash, *fs_, 1, seconds(1));
    Open();
  }

  // Stores the job of the twin, which was killed, as `name`.
  std::string Save(const std::string& name) {
    const char* root = std::getenv("NEPHILA_GOLDEN_OUT");
    const std::string dir =
        (root == nullptr ? TempFolder() : std::string(root)) + "/" + name;
    MustDo(RemoveAll(*real_, dir));
    MustDo(SaveGolden(*fs_, {twin_->clock().Now(), twin_->web().log()}, *real_,
                      dir));
    return dir;
  }

  // Runs a crawl of the broad plan into the state that the stored job has.
  std::string MakeBroad() {
    plan_ = GoldenBroadPlan();
    NewDisk();
    // The last checkpoint is taken while URLs are in Q_F, which is so for one
    // turn after the pass that takes more URLs than the queues have room for.
    plan_.settings.crawl.checkpoint_interval = std::chrono::hours(1);
    twin_.emplace(plan_);
    Open();
    Until([&] { return HasEnded("http://delay.com/1"); });
    Until([&] { return Budget().in_drum > 0; });
    For(milliseconds(1));
    const uint64_t manifest = ManifestNumber();
    twin_->crawl().TakeCheckpoint([](const Result<uint64_t>&) {});
    For(milliseconds(1));
    EXPECT_GE(Budget().in_failed, 1U);
    Until([&] { return ManifestNumber() > manifest; });
    EXPECT_EQ(ManifestNumber(), manifest + 1);
    // The rest is in the journal alone.
    Until([&] {
      return UncoveredEntry("http://flaky.com/1") &&
             UncoveredEntry("http://e.com/1") &&
             HasEnded("http://walk2.com/robots.txt");
    });
    EXPECT_TRUE(UncoveredEntry("http://flaky.com/1")->retry);
    EXPECT_GE(twin_->crawl().status().parked, 4U);
    EXPECT_EQ(Asked("http://blocked.com/1"), 0U);
    EXPECT_EQ(Asked("http://parked.com/1"), 1U);
    EXPECT_EQ(Asked("http://parked.com/3"), 0U);
    EXPECT_FALSE(HasEnded("http://rules.net/rules-of-walk.com"));
    EXPECT_EQ(Asked("http://rules.net/rules-of-walk2.com"), 0U);
    Kill();
    Put(*fs_, "job/blocked", "host blocked.com\n");
    Strike("http://parked.com/3", "parked.com");
    return Save("broad-1");
  }
  // Two processes die while they read the page.
  void Strike(const std::string& url, const std::string& host) {
    const uint64_t key =
        url::MakeKeys(url, host, host, plan_.seed * 2 + 7).url.value;
    for (uint32_t i = 0; i < job::kMostStrikes; ++i) {
      const auto quarantine = Must(job::Quarantine::Open(*fs_, "job", 3));
      MustDo(quarantine->Begin(0, key, url));
    }
    const auto quarantine = Must(job::Quarantine::Open(*fs_, "job", 3));
    EXPECT_TRUE(quarantine->Holds(key));
  }

  std::string MakeSite() {
    plan_ = GoldenSitePlan();
    NewDisk();
    twin_.emplace(plan_);
    Open();
    Until([&] { return HasEnded("http://www.new.org/"); });
    const uint64_t manifest = ManifestNumber();
    Until([&] {
      return ManifestNumber() > manifest && !Entries(Uncovered()).empty();
    });
    EXPECT_EQ(Asked("http://www.new.org/4"), 0U);
    Kill();
    return Save("site-1");
  }

  void ExpectBroad(const std::string& dir, Crash crash) {
    Resume(GoldenBroadPlan(), dir, crash);
    ASSERT_FALSE(HasFailure());
    // The state was read: it is not a crawl that begins again.
    EXPECT_GE(twin_->crawl().status().parked, 4U);
    EXPECT_GE(twin_->crawl().status().failed, 1U);
    EXPECT_GE(twin_->crawl().status().pages, 15U);
    EXPECT_GE(Budget().in_failed + Budget().in_queues + Budget().in_drum, 1U);
    FinishAndExpectAll();
    EXPECT_EQ(twin_->last_status().quarantined, 1U);
    // Walks are resumed behind their first hop.
    EXPECT_EQ(Asked("http://walk.com/robots.txt"), 1U);
    EXPECT_EQ(Asked("http://rules.net/rules-of-walk.com"), 2U);
    EXPECT_EQ(Asked("http://walk2.com/robots.txt"), 1U);
    EXPECT_EQ(Asked("http://rules.net/rules-of-walk2.com"), 1U);
    for (const FakeContact& contact : twin_->web().log()) {
      EXPECT_TRUE(contact.host != "blocked.com" ||
                  contact.url == "http://blocked.com/robots.txt")
          << contact.url;
    }
    EXPECT_EQ(Asked("http://a.com/hidden"), 0U);
    EXPECT_EQ(Asked("http://capped.com/9") + Asked("http://capped.com/10"), 0U);
    EXPECT_EQ(Asked("http://h1.many.com/6") + Asked("http://h3.many.com/1"),
              0U);
    // Each request of a page that the first process ended is not repeated.
    EXPECT_EQ(Asked("http://a.com/silent"), 2U);
    EXPECT_EQ(Asked("http://b.com/broken"), 2U);
    EXPECT_EQ(Asked("http://a.com/"), 1U);
    if (!HasFailure()) ExpectRetryOfFailed();
  }
  // `retry` takes what the first process gave up.
  void ExpectRetryOfFailed() {
    twin_->web().Put("http://a.com/silent", FakePage("it answers now"));
    Open();
    MustDo(twin_->crawl().Command("retry timeout"));
    const auto end = twin_->Turns(kMostTurns);
    ASSERT_TRUE(end.has_value()) << end.error().message;
    ASSERT_TRUE(end->has_value());
    EXPECT_EQ(Asked("http://a.com/silent"), 3U);
    twin_->Close();
  }

  void ExpectSite(const std::string& dir, Crash crash) {
    Resume(GoldenSitePlan(), dir, crash);
    ASSERT_FALSE(HasFailure());
    FinishAndExpectAll();
    EXPECT_EQ(Asked("http://old.com/"), 1U);
    EXPECT_EQ(Asked("http://www.new.org/"), 1U);
    EXPECT_EQ(Asked("http://elsewhere.net/1"), 0U);
  }

  budget::BudgetStats Budget() {
    return twin_->crawl().frontier().budget()->stats();
  }

  const std::unique_ptr<FileSystem> real_ = MakeRealFileSystem();
};

TEST_F(GoldenTest, ABroadJobIsResumedInTheSameBoot) {
  ExpectBroad(Stored("broad-1"), Crash::kKill);
}

TEST_F(GoldenTest, ABroadJobIsResumedInAnotherBoot) {
  ExpectBroad(Stored("broad-1"), Crash::kEverything);
}

TEST_F(GoldenTest, ASiteJobIsResumedInTheSameBoot) {
  ExpectSite(Stored("site-1"), Crash::kKill);
}

TEST_F(GoldenTest, ASiteJobIsResumedInAnotherBoot) {
  ExpectSite(Stored("site-1"), Crash::kEverything);
}

// The generator, and the proof that it still makes what the tests above need.
// Only where a folder for it is named: the order in which a build requests URLs
// decides what its job holds, and another order needs another plan
// (testdata/golden_job/README.md).
TEST_F(GoldenTest, ANewBroadJobIsStoredOnDemand) {
  if (std::getenv("NEPHILA_GOLDEN_OUT") == nullptr) return;
  const std::string dir = MakeBroad();
  if (!HasFailure()) ExpectBroad(dir, Crash::kKill);
}

TEST_F(GoldenTest, ANewSiteJobIsStoredAndResumed) {
  const std::string dir = MakeSite();
  if (!HasFailure()) ExpectSite(dir, Crash::kKill);
}

}  // namespace
}  // namespace nephila::crawl
