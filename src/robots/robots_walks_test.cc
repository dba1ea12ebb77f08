// Sites whose robots.txt is redirected: what is requested, what waits on disk
// and for how long, and which rules hold in the end.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "robots/robots_fixture_testing.h"

namespace nephila::robots {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class RobotsWalksTest : public RobotsStageTest {
 protected:
  // The URLs that are to be requested now.
  std::vector<std::string> Requests() {
    std::vector<std::string> urls;
    const auto taken = stage_->TakeRequests(
        [&urls](const RobotsRequest& request) -> Result<item::Admission> {
          urls.emplace_back(request.target.empty()
                                ? std::string(request.origin) + "robots.txt"
                                : std::string(request.target));
          return item::Admission::kTaken;
        },
        1000);
    EXPECT_TRUE(taken.has_value());
    return urls;
  }
  void Redirect(std::string_view origin, std::string_view target,
                std::string_view next) {
    RobotsRedirect redirect;
    redirect.origin = origin;
    redirect.target = target;
    redirect.next = next;
    redirect.when = clock_.WallNow();
    const Status done = stage_->RobotsRedirected(redirect);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  void GoodAt(std::string_view origin, std::string_view target,
              const std::string& rules = PrivateRules()) {
    RobotsEnd end = GoodEnd(origin, rules, clock_.WallNow());
    end.target = target;
    End(end);
  }
  void AddText(const std::string& url) { AddRecord(EncodeText(url)); }
  // How many URLs come out now.
  size_t RunWalks() {
    taken_.clear();
    EXPECT_TRUE(RunUntilDry(*stage_, taken_));
    EXPECT_EQ(stage_->account().Imbalance(), 0);
    return taken_.size();
  }
};

using Urls = std::vector<std::string>;

TEST_F(RobotsWalksTest, RulesOfTheTargetAreThoseOfTheSite) {
  AddText("http://a.test/x");
  AddText("http://a.test/private/x");
  RunWalks();
  EXPECT_EQ(Requests(), Urls{"http://a.test/robots.txt"});
  Redirect("http://a.test/", {}, "http://b.test/rules");
  EXPECT_EQ(stage_->stats().walks, 1U);
  EXPECT_EQ(RunWalks(), 0U);
  EXPECT_EQ(Requests(), Urls{"http://b.test/rules"});
  GoodAt("http://b.test/", "http://b.test/rules");
  EXPECT_EQ(RunWalks(), 1U);
  EXPECT_EQ(Dropped(DropReason::kDenied), 1U);
  EXPECT_EQ(stage_->stats().walks, 0U);
  EXPECT_TRUE(stage_->IsEmpty());
  // They say nothing about the host that has the file.
  AddText("http://b.test/private/x");
  RunWalks();
  EXPECT_EQ(Requests(), Urls{"http://b.test/robots.txt"});
}

TEST_F(RobotsWalksTest, ATargetIsRequestedOnceForAllSites) {
  constexpr size_t kSites = 50;
  for (size_t i = 0; i < kSites; ++i) {
    AddText("http://s" + std::to_string(i) + ".test/x");
  }
  RunWalks();
  EXPECT_EQ(Requests().size(), kSites);
  for (size_t i = 0; i < kSites; ++i) {
    Redirect("http://s" + std::to_string(i) + ".test/", {},
             "http://b.test/robots.txt");
    RunWalks();
  }
  EXPECT_EQ(Requests(), Urls{"http://b.test/robots.txt"});
  GoodAt("http://b.test/", {});
  EXPECT_EQ(RunWalks(), kSites);
  EXPECT_EQ(Requests(), Urls());
  // Later ones find it there, as do URLs of the host itself.
  AddText("http://late.test/x");
  AddText("http://b.test/x");
  EXPECT_EQ(RunWalks(), 1U);
  EXPECT_EQ(Requests(), Urls{"http://late.test/robots.txt"});
  Redirect("http://late.test/", {}, "http://b.test/robots.txt");
  EXPECT_EQ(RunWalks(), 1U);
  EXPECT_EQ(Requests(), Urls());
}

TEST_F(RobotsWalksTest, MoreSitesThanTheLimitCountAsUnreachable) {
  options_.max_waiting_sites = 3;
  Make(options_);
  for (size_t i = 0; i < 5; ++i) {
    AddText("http://s" + std::to_string(i) + ".test/x");
  }
  RunWalks();
  Requests();
  for (size_t i = 0; i < 5; ++i) {
    Redirect("http://s" + std::to_string(i) + ".test/", {},
             "http://b.test/rules");
    RunWalks();
  }
  EXPECT_EQ(stage_->stats().walks, 3U);
  EXPECT_EQ(stage_->stats().unreachable, 2U);
  EXPECT_EQ(Requests(), Urls{"http://b.test/rules"});
  GoodAt("http://b.test/", "http://b.test/rules");
  EXPECT_EQ(RunWalks(), 3U);
  clock_.Advance(hours(1));
  EXPECT_EQ(RunWalks(), 0U);
  EXPECT_EQ(Requests().size(), 2U) << "they are requested again";
}

TEST_F(RobotsWalksTest, ATargetThatIsNotDueHoldsUpNobody) {
  AddText("http://a.test/x");
  RunWalks();
  Requests();
  Redirect("http://a.test/", {}, "http://b.test/rules");
  RunWalks();
  EXPECT_EQ(Requests(), Urls{"http://b.test/rules"});
  ASSERT_TRUE(stage_
                  ->DelayRequest("http://b.test/", "http://b.test/rules",
                                 clock_.WallNow() + hours(5))
                  .has_value());
  AddText("http://good.test/x");
  RunWalks();
  EXPECT_EQ(Requests(), Urls{"http://good.test/robots.txt"});
  EXPECT_EQ(stage_->stats().requested, 1U);
  GoodAt("http://good.test/", {});
  EXPECT_EQ(RunWalks(), 1U);
  // The URL and its walk are parked, and are not read again and again.
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(minutes(10));
    RunWalks();
  }
  EXPECT_LE(stage_->stats().parkings, 30U);
  EXPECT_EQ(stage_->stats().waiting, 0U);
  const std::string commit = Commit();
  Reopen(commit);
  EXPECT_EQ(Requests(), Urls());
  clock_.Advance(hours(2));
  RunWalks();
  EXPECT_EQ(Requests(), Urls{"http://b.test/rules"}) << "not the site again";
  GoodAt("http://b.test/", "http://b.test/rules");
  RunWalks();
  clock_.Advance(minutes(20));
  EXPECT_EQ(RunWalks(), 1U);
}

TEST_F(RobotsWalksTest, CirclesEndAtTheLimitOfRedirects) {
  AddText("http://a.test/x");
  AddText("http://b.test/x");
  RunWalks();
  Requests();
  Redirect("http://a.test/", {}, "http://b.test/robots.txt");
  Redirect("http://b.test/", {}, "http://a.test/robots.txt");
  EXPECT_EQ(RunWalks(), 0U);
  EXPECT_EQ(Requests(), Urls());
  EXPECT_EQ(stage_->stats().walks, 0U);
}

TEST_F(RobotsWalksTest, ChainsAreFollowedAndTheirRulesKept) {
  AddText("http://a.test/x");
  RunWalks();
  Requests();
  Redirect("http://a.test/", {}, "http://b.test/1");
  RunWalks();
  EXPECT_EQ(Requests(), Urls{"http://b.test/1"});
  Redirect("http://b.test/", "http://b.test/1", "http://c.test/2");
  RunWalks();
  EXPECT_EQ(Requests(), Urls{"http://c.test/2"});
  const std::string commit = Commit();
  Reopen(commit);
  // Requests that had not ended come again, redirects do not.
  EXPECT_EQ(Requests(), Urls{"http://c.test/2"});
  const std::string rules = LongPrivateRules();
  GoodAt("http://c.test/", "http://c.test/2", rules);
  RunWalks();
  clock_.Advance(seconds(10));
  RunWalks();
  EXPECT_TRUE(stage_->IsEmpty());
  AddText("http://a.test/private/x");
  RunWalks();
  EXPECT_EQ(Dropped(DropReason::kDenied), 1U);
  // Another site goes the same way without a request.
  AddText("http://d.test/x");
  RunWalks();
  Requests();
  Redirect("http://d.test/", {}, "http://b.test/1");
  EXPECT_EQ(RunWalks(), 1U);
  EXPECT_EQ(Requests(), Urls());
}

TEST_F(RobotsWalksTest, ATargetHasTheStateOfItsHost) {
  const WallTime later = clock_.WallNow() + hours(24);
  ASSERT_TRUE(
      stage_->NoteHost("http://b.test:8171/", later, 1, {}, 0).has_value());
  AddText("http://a.test/x");
  RunWalks();
  Requests();
  Redirect("http://a.test/", {}, "https://b.test/rules");
  RunWalks();
  RobotsRequest seen;
  const auto taken = stage_->TakeRequests(
      [&seen](const RobotsRequest& request) -> Result<item::Admission> {
        seen.not_before = request.not_before;
        seen.overloads = request.overloads;
        seen.first = request.first;
        return item::Admission::kTaken;
      },
      10);
  EXPECT_EQ(*taken, 1U);
  EXPECT_EQ(seen.not_before, later);
  EXPECT_EQ(seen.overloads, 1U);
  EXPECT_FALSE(seen.first);
}

TEST_F(RobotsWalksTest, RedirectsThatLeadNowhereEndTheFetch) {
  AddText("http://a.test/x");
  RunWalks();
  Requests();
  Redirect("http://a.test/", {}, "ftp://b.test/");
  EXPECT_EQ(stage_->stats().walks, 0U);
  EXPECT_EQ(stage_->stats().requested, 0U);
}

// A few requests that are open for long must not stop those behind them.
TEST_F(RobotsWalksTest, OldOpenRequestsDoNotHoldUpTheQueue) {
  options_.max_requests = 16;
  Make(options_);
  for (size_t i = 0; i < 400; ++i) {
    AddText("http://s" + std::to_string(i) + ".test/x");
  }
  size_t out = RunWalks();
  std::vector<std::string> slow;
  size_t requested = 0;
  for (int round = 0; round < 200 && requested < 400; ++round) {
    for (const std::string& url : Requests()) {
      ++requested;
      const std::string origin = url.substr(0, url.find("robots.txt"));
      if (slow.size() < 8) {
        slow.push_back(origin);
      } else {
        GoodAt(origin, {});
      }
    }
    EXPECT_LE(stage_->stats().requested, 16U);
    out += RunWalks();
  }
  EXPECT_EQ(requested, 400U);
  EXPECT_EQ(out, 392U);
  // They are known by their new places, also after a restart.
  const std::string commit = Commit();
  Reopen(commit);
  EXPECT_EQ(Requests().size(), 8U);
  for (const std::string& origin : slow) GoodAt(origin, {});
  EXPECT_EQ(RunWalks(), 8U);
  EXPECT_EQ(Requests(), Urls());
  EXPECT_TRUE(stage_->IsEmpty());
}

}  // namespace
}  // namespace nephila::robots
