// `why` is right for every state that a URL can be in: a job is made for each,
// by a crawl or by a frontier that the test moves, and its files are asked.
#include <gtest/gtest.h>

#include <cctype>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file_testing.h"
#include "caps/caps.h"
#include "crawl/recovery_testing.h"
#include "drum/drum.h"
#include "inspect/driven_testing.h"
#include "inspect/job_view.h"
#include "inspect/why.h"
#include "inspect/why_words.h"
#include "robots/robots_stage.h"
#include "seen/seen.h"

namespace nephila::inspect {
namespace {

using crawl::FakeError;
using crawl::FakeFailure;
using crawl::FakePage;
using crawl::FakeRedirect;
using crawl::FakeText;
using crawl::Links;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const std::string kUrl = "http://a.com/x";
const std::string kSite = "http://a.com/";

class WhyTest : public crawl::RecoveryTest {
 protected:
  UrlFacts Why(const std::string& url, const LiveHost& live = {},
               const WhyOptions& options = {}) {
    UrlFacts facts;
    MustDo(LookAt(fs_, {"job", settings_}, [&](JobView& job) -> Status {
      NEPHILA_TRY(facts, ExplainUrl(job, url, live, options));
      return {};
    }));
    return facts;
  }
  UrlState StateOf(const std::string& url) { return Why(url).state; }

  DrivenJob& Drive(config::Profile profile) {
    settings_.crawl.budgets = profile == config::Profile::kBroad;
    driven_ = std::make_unique<DrivenJob>(fs_, clock_, settings_, profile);
    return *driven_;
  }
  // A crawl of what is in the web, from kSite on, to its end.
  void Crawl() {
    MustDo(Open(fs_));
    MustDo(crawl_->AddSeed(kSite));
    Finish();
  }
  // Behind the last checkpoint.
  void Finish() {
    for (int i = 0; i < 100'000; ++i) {
      if (Must(crawl_->Turn(clock_.Now()))) return Close();
      clock_.Advance(milliseconds(20));
    }
    ADD_FAILURE() << "it does not end";
  }

  std::unique_ptr<DrivenJob> driven_;
};

class WhyStateTest : public WhyTest,
                     public testing::WithParamInterface<size_t> {
 protected:
  // Makes a job in which kUrl, unless another is returned, is in this state.
  // No default: a state without a job does not compile.
  std::string Make(UrlState state) {
    switch (state) {
      case UrlState::kNotCrawled:
        Drive(config::Profile::kSite).Checkpoint();
        return "ftp://a.com/x";
      case UrlState::kOutOfScope:
        settings_.scope.bounds = config::ScopeBounds::kSite;
        MakeEmpty();
        return "http://b.net/";
      case UrlState::kSkippedExtension:
        MakeEmpty();
        return "http://a.com/x.zip";
      case UrlState::kNeverSeen:
        MakeEmpty();
        return kUrl;
      case UrlState::kSeed:
        Drive(config::Profile::kSite).Checkpoint();
        driven_->Seed(kUrl, /*take=*/false);
        return kUrl;
      case UrlState::kSeenLink:
        Drive(config::Profile::kSite).Seed(kUrl);
        Must(driven_->frontier->Absorb());
        driven_->Checkpoint();
        return kUrl;
      case UrlState::kSeenNew:
        MakeSeenNew();
        return kUrl;
      case UrlState::kCapsPass:
      case UrlState::kCapsThrough:
        MakeInCaps(state);
        return kUrl;
      case UrlState::kBudgetPass:
      case UrlState::kBudgetQueue:
      case UrlState::kBudgetFailed:
        return MakeInBudget(state);
      case UrlState::kToRobots:
      case UrlState::kRobotsChecking:
        MakeOnTheWayToRobots(state);
        return kUrl;
      case UrlState::kRobotsDecided:
        MakeRobotsDecided();
        return kUrl;
      case UrlState::kRobotsWaiting:
        MakeWaiting();
        driven_->Checkpoint();
        return kUrl;
      case UrlState::kRobotsParked:
        MakeWaiting();
        driven_->EndRobots(kSite, 503);
        driven_->Pump();
        driven_->Checkpoint();
        return kUrl;
      case UrlState::kReady:
      case UrlState::kInFlight:
        MakeReady();
        driven_->Checkpoint();
        return kUrl;
      case UrlState::kParked:
        MakeReady();
        MustDo(driven_->frontier->Park(*driven_->out[kUrl],
                                       clock_.WallNow() + hours(1)));
        driven_->Checkpoint();
        return kUrl;
      case UrlState::kRetry:
        MakeReady();
        EndWithRetry();
        driven_->Pump();
        driven_->Checkpoint();
        return kUrl;
      case UrlState::kDone:
        web_.Put(kSite, FakePage(Links({"/x"})));
        web_.Put(kUrl, FakePage("x"));
        Crawl();
        return kUrl;
      case UrlState::kRedirected:
        web_.Put(kSite, FakePage(Links({"/x"})));
        web_.Put(kUrl, FakeRedirect("http://a.com/y"));
        Crawl();
        return kUrl;
      case UrlState::kQuarantined:
        MakeQuarantined();
        return kUrl;
      case UrlState::kFailed:
        web_.Put(kSite, FakePage(Links({"/x"})));
        web_.Put(kUrl, FakeFailure(item::FetchOutcome::kTimeout));
        Crawl();
        return kUrl;
      case UrlState::kOverCap:
        settings_.scope.max_pages_per_host = 2;
        web_.Put(kSite, FakePage(Links({"/1", "/x"})));
        web_.Put("http://a.com/1", FakePage(""));
        Crawl();
        return kUrl;
      case UrlState::kRobotsDenied:
      case UrlState::kSomewhere:
        web_.Put("http://a.com/robots.txt",
                 FakeText("User-agent: *\n\nDisallow: /x\n"));
        web_.Put(kSite, FakePage(Links({"/x"})));
        Crawl();
        return kUrl;
      case UrlState::kRobotsUnreachable:
        settings_.robots.retry_wait = seconds(2);
        settings_.politeness.back_off = milliseconds(100);
        settings_.politeness.back_off_max = milliseconds(100);
        settings_.robots.unreachable_attempts = 2;
        web_.Put("http://b.com/robots.txt", FakeError(503));
        web_.Put(kSite, FakePage(Links({"http://b.com/x"})));
        Crawl();
        return "http://b.com/x";
      case UrlState::kDropped:
        MakeDropped();
        return kUrl;
    }
    NEPHILA_CHECK(false);
  }

  // A site of which nothing but the seed is known.
  void MakeEmpty() {
    Drive(config::Profile::kSite).Seed(kSite);
    driven_->Pump();
    driven_->Checkpoint();
  }
  // For its robots.txt, which is asked for.
  void MakeWaiting() {
    Drive(config::Profile::kSite).Seed(kUrl);
    driven_->frontier->Want(10);
    driven_->Pump();
    ASSERT_EQ(driven_->frontier->robots().stats().waiting, 1U);
  }
  void MakeReady() {
    MakeWaiting();
    driven_->EndRobots(kSite, 404);
    driven_->Pump();
    ASSERT_TRUE(driven_->out.contains(kUrl));
  }
  void EndWithRetry(bool take = true) {
    driven_->End(
        kUrl,
        [](crawl::FinishedVisit* visit) {
          visit->outcome = item::FetchOutcome::kTimeout;
          visit->status = 0;
          visit->retry = true;
          visit->url_wait = minutes(10);
        },
        take);
  }

  // `seen` has found it new, and the stage behind is full.
  void MakeSeenNew() {
    Drive(config::Profile::kSite).Seed(kUrl);
    Must(driven_->frontier->Absorb());
    crawl::ManifestParts parts = driven_->Note();
    driven_->frontier.reset();
    const drum::DrumContext context{fs_, clock_, driven_->workers};
    seen::SeenOptions options;
    options.seed = DrivenJob::kSeed;
    const auto seen =
        Must(seen::Seen::Open(context, "job/seen", options, parts["seen"]));
    MustDo(seen->Flush());
    for (int i = 0; i < 10 && seen->stats().waiting == 0; ++i) {
      Must(seen->Step(
          [](std::string_view) -> Result<item::Admission> {
            return item::Admission::kFull;
          },
          10));
    }
    ASSERT_EQ(seen->stats().waiting, 1U);
    parts["seen"] = Must(seen->BeginCommit());
    MustDo(seen->FinishCommit());
    driven_->Publish(std::move(parts));
  }

  // `caps` counts it, or has and finds the stage behind full.
  void MakeInCaps(UrlState state) {
    settings_.scope.max_pages_per_host = 5;
    Drive(config::Profile::kSite).Seed(kUrl);
    crawl::Frontier& frontier = *driven_->frontier;
    frontier.Want(1);
    const auto in_caps = [&] {
      for (const StageAccount* account : frontier.StageAccounts()) {
        if (account->name() == "caps") return account->Totals().held == 1;
      }
      return false;
    };
    for (int i = 0; i < 100 && !in_caps(); ++i) {
      if (!Must(frontier.Absorb())) Must(frontier.RunDry());
    }
    ASSERT_TRUE(in_caps());
    crawl::ManifestParts parts = driven_->Note();
    if (state == UrlState::kCapsThrough) {
      driven_->frontier.reset();
      const drum::DrumContext context{fs_, clock_, driven_->workers};
      caps::CapsOptions options;
      options.settings = settings_.scope;
      options.seed = DrivenJob::kSeed;
      const auto caps =
          Must(caps::Caps::Open(context, "job/caps", options, parts["caps"]));
      MustDo(caps->Flush());
      for (int i = 0; i < 10 && caps->stats().waiting == 0; ++i) {
        Must(caps->Step(
            [](std::string_view) -> Result<item::Admission> {
              return item::Admission::kFull;
            },
            10));
      }
      ASSERT_EQ(caps->stats().waiting, 1U);
      parts["caps"] = Must(caps->BeginCommit());
      MustDo(caps->FinishCommit());
    }
    driven_->Publish(std::move(parts));
  }

  // RobotsCache has answered, and the ready queue is full.
  void MakeRobotsDecided() {
    MakeWaiting();
    driven_->EndRobots(kSite, 404);
    Must(driven_->frontier->Absorb());
    crawl::ManifestParts parts = driven_->Note();
    driven_->frontier.reset();
    const drum::DrumContext context{fs_, clock_, driven_->workers};
    robots::RobotsStageOptions options;
    options.settings = settings_.robots;
    options.seed = DrivenJob::kSeed;
    options.suffixes = &driven_->suffixes;
    const auto robots = Must(robots::RobotsStage::Open(
        context, "job/robots", options, parts["robots"]));
    const auto refuse = [](const robots::ReadyUrl&) -> Result<item::Admission> {
      return item::Admission::kFull;
    };
    for (int i = 0; i < 10 && robots->stats().decided == 0; ++i) {
      Must(robots->Step(refuse, 10));
      MustDo(robots->Flush());
    }
    ASSERT_EQ(robots->stats().decided, 1U);
    parts["robots"] = Must(robots->BeginCommit());
    MustDo(robots->FinishCommit());
    driven_->Publish(std::move(parts));
  }

  // One that is ready keeps the frontier from taking more out of `budget`.
  std::string MakeInBudget(UrlState state) {
    settings_.reputation.base = 1;
    settings_.reputation.policy = config::BudgetPolicy::kEqual;
    Drive(config::Profile::kBroad).Seed("http://b.com/");
    crawl::Frontier& frontier = *driven_->frontier;
    frontier.Want(1);
    const auto absorb = [&] {
      for (int i = 0; i < 100; ++i) {
        while (Must(frontier.Absorb())) {
        }
        if (!Must(frontier.RunDry())) break;
      }
    };
    driven_->Pump();
    driven_->EndRobots("http://b.com/", 404);
    // Without visits: it stays in the ready queue.
    absorb();
    EXPECT_EQ(frontier.ready(), 1U);
    for (const char* url : {"http://a.com/1", "http://a.com/2",
                            "http://a.com/3", "http://a.com/4"}) {
      driven_->Seed(url);
    }
    if (state == UrlState::kBudgetPass) {
      for (int i = 0; i < 100 && frontier.budget()->stats().in_drum < 4; ++i) {
        if (!Must(frontier.Absorb())) Must(frontier.RunDry());
      }
      EXPECT_EQ(frontier.budget()->stats().in_drum, 4U);
    } else {
      absorb();
      EXPECT_EQ(frontier.budget()->stats().in_queues +
                    frontier.budget()->stats().in_failed,
                4U);
    }
    driven_->Checkpoint();
    // j = 2 and B = 1: the window is one queue, for one URL.
    return state == UrlState::kBudgetQueue ? "http://a.com/1"
                                           : "http://a.com/4";
  }

  void MakeOnTheWayToRobots(UrlState state) {
    Drive(config::Profile::kBroad).Seed(kUrl);
    crawl::Frontier& frontier = *driven_->frontier;
    frontier.Want(10);
    const auto is_there = [&] {
      const bool in_robots = frontier.robots().stats().checking == 1;
      const bool in_budget = frontier.budget()->account().Totals().held == 1;
      const bool left = frontier.budget()->account().Totals().out == 1;
      return state == UrlState::kRobotsChecking
                 ? in_robots
                 : left && !in_budget && !in_robots;
    };
    for (int i = 0; i < 100 && !is_there(); ++i) {
      if (!Must(frontier.Absorb())) Must(frontier.RunDry());
    }
    ASSERT_TRUE(is_there());
    driven_->Checkpoint();
  }

  // The process dies when it reads the page: here, the disk stops for it.
  void MakeQuarantined() {
    web_.Put(kSite, FakePage(Links({"/x"})));
    web_.Put(kUrl, FakePage(Links({"/never"})));
    for (int i = 0; i < 2; ++i) {
      FaultyFileSystem faulty(fs_);
      on_read_ = [&](std::string_view read) {
        if (read == kUrl) faulty.StopAt(faulty.operations() + 1);
      };
      Status status = Open(faulty);
      if (status && i == 0) status = crawl_->AddSeed(kSite);
      while (status) {
        const auto end = crawl_->Turn(clock_.Now());
        if (!end) status = Unexpected(end.error());
        clock_.Advance(milliseconds(1));
      }
      Close();
      fs_.KillProcess();
    }
    on_read_ = nullptr;
    MustDo(Open(fs_));
    Finish();
  }

  // robots.txt denied it, and a later one would not have.
  void MakeDropped() {
    MakeWaiting();
    driven_->EndRobots(kSite, 200, "User-agent: *\nDisallow: /x\n");
    driven_->Pump();
    ASSERT_TRUE(driven_->frontier->IsEmpty());
    clock_.Advance(hours(25));
    driven_->Seed("http://a.com/y");
    driven_->Pump();
    driven_->EndRobots(kSite, 404);
    driven_->Pump();
    driven_->Checkpoint();
  }
};

TEST_P(WhyStateTest, IsTold) {
  const auto state = static_cast<UrlState>(GetParam());
  const std::string url = Make(state);
  if (testing::Test::HasFatalFailure()) return;
  LiveHost live;
  WhyOptions options;
  if (state == UrlState::kInFlight) live.is_asked = live.in_flight = true;
  // Nothing of the log is read.
  if (state == UrlState::kSomewhere) options.most_bytes = 0;
  const UrlFacts facts = Why(url, live, options);
  EXPECT_EQ(UrlStateName(facts.state), UrlStateName(state))
      << FormatText(facts, clock_.WallNow());
  EXPECT_NE(DescribeState(facts, clock_.WallNow()), "");
  // What is found by its key alone is told the same with everything read.
  options.scan = true;
  if (state != UrlState::kSomewhere) {
    EXPECT_EQ(UrlStateName(Why(url, live, options).state), UrlStateName(state));
  }
}

INSTANTIATE_TEST_SUITE_P(Every, WhyStateTest,
                         testing::Range<size_t>(0, kUrlStates),
                         [](const auto& param) {
                           std::string name(UrlStateName(
                               static_cast<UrlState>(param.param)));
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace nephila::inspect
