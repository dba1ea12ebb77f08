// Job folders of an earlier build, looked at without a crawl: `check` finds no
// damage, and `list` finds what failed and what waits
// (testdata/golden_job/README.md).
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/real_file_system.h"
#include "base/source_path_testing.h"
#include "check/job_check.h"
#include "check/job_testing.h"
#include "crawl/golden_testing.h"
#include "inspect/job_view.h"
#include "inspect/url_list.h"

namespace nephila::check {
namespace {

using Urls = std::set<std::string>;

class GoldenJobTest : public testing::Test {
 protected:
  void Load(const std::string& name, const crawl::TwinPlan& plan) {
    settings_ = plan.settings;
    const auto real = MakeRealFileSystem();
    const crawl::GoldenJob golden = Must(crawl::LoadGolden(
        *real, SourcePath("testdata/golden_job/" + name), fs_));
    clock_.Advance(golden.now - clock_.Now());
    MustDo(fs_.MakeDir("scratch"));
  }
  void ExpectSound() {
    JobCheckOptions options;
    options.dir = "job";
    options.settings = settings_;
    options.scratch = "scratch";
    const CheckReport report = Must(CheckJob(fs_, clock_, options));
    EXPECT_TRUE(report.sound()) << Describe(report);
  }
  Urls Failed() {
    Urls urls;
    MustDo(inspect::LookAt(fs_, {"job", settings_}, [&](inspect::JobView& job) {
      inspect::ListOptions options;
      options.scratch = "scratch";
      return ListFailed(job, options,
                        [&](const inspect::EndedUrl& url) -> Result<bool> {
                          urls.emplace(url.url);
                          return true;
                        });
    }));
    return urls;
  }
  Urls Waiting() {
    Urls urls;
    MustDo(inspect::LookAt(fs_, {"job", settings_}, [&](inspect::JobView& job) {
      return ListWaiting(job, {},
                         [&](const inspect::HeldUrl& url) -> Result<bool> {
                           urls.emplace(url.record.url);
                           return true;
                         });
    }));
    return urls;
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  config::Settings settings_;
};

TEST_F(GoldenJobTest, TheBroadJobIsSoundAndItsUrlsAreListed) {
  Load("broad-1", crawl::GoldenBroadPlan());
  ExpectSound();
  EXPECT_EQ(Failed(), (Urls{"http://a.com/silent", "http://b.com/broken"}));
  const Urls waiting = Waiting();
  for (const char* url :
       {"http://parked.com/1", "http://parked.com/3", "http://delay.com/2",
        "http://blocked.com/1", "http://walk.com/1", "http://walk2.com/1",
        "http://flaky.com/1", "http://e.com/8", "http://f.com/8"}) {
    EXPECT_TRUE(waiting.contains(url)) << url;
  }
}

TEST_F(GoldenJobTest, TheSiteJobIsSound) {
  Load("site-1", crawl::GoldenSitePlan());
  ExpectSound();
  EXPECT_TRUE(Waiting().contains("http://www.new.org/4"));
}

}  // namespace
}  // namespace nephila::check
