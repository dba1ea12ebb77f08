// The stage under random workloads, against what is known of the sites: each
// URL comes out once if its site allows it and is denied if not, nothing is
// handed on that the last answers do not allow, and nothing is asked for twice
// or too soon; with rollbacks to earlier commits in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/memory_file_system.h"
#include "base/random.h"
#include "base/workers.h"
#include "robots/policy.h"
#include "robots/robots_stage.h"
#include "robots/robots_stage_testing.h"

namespace nephila::robots {
namespace {

using item::Admission;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

struct Workload {
  uint64_t seed = 1;
  uint64_t origins = 40;
  int rounds = 300;
  nanoseconds most_advance = minutes(1);
  double end_chance = 0.5;  // of an open request, each round
  double rollback_chance = 0;
};

class Crawl {
 public:
  explicit Crawl(const Workload& workload)
      : workload_(workload), random_(workload.seed) {
    auto stage =
        RobotsStage::Create({fs_, clock_, workers_}, "robots", SmallStage());
    EXPECT_TRUE(stage.has_value());
    stage_ = *std::move(stage);
    Commit();
  }

  void Run() {
    for (int round = 0; round < workload_.rounds; ++round) {
      Round();
      if (::testing::Test::HasFailure()) return;
    }
    Finish();
    CheckNotes();
  }

  RobotsStats stats() const { return stage_->stats(); }
  uint64_t handed_on() const { return world_.out.size(); }
  uint64_t asked() const { return world_.asked; }

 private:
  struct End {
    WallTime when;
    bool unreachable = false;
    bool copy = false;  // rules are known from then on
    uint32_t tries = 0;
  };
  struct Site {
    uint64_t times_asked = 0;
    bool open = false;
    std::vector<End> ends;
    uint32_t failures = 0;  // the last note
  };
  struct Url {
    uint64_t origin = 0;
    bool is_private = false;
  };
  // All that a manifest would bring back.
  struct World {
    std::vector<Url> urls;
    std::set<uint64_t> out;
    std::map<uint64_t, Site> sites;
    uint64_t asked = 0;
  };
  struct Saved {
    std::string commit;
    World world;
  };

  void Round() {
    const uint64_t adding = random_.Below(30);
    for (uint64_t i = 0; i < adding; ++i) AddOne();
    if (random_.Chance(0.5)) {
      ASSERT_TRUE(stage_->RunDry().has_value());
    } else if (random_.Chance(0.5)) {
      ASSERT_TRUE(stage_->Flush().has_value());
    }
    const uint64_t steps = random_.Below(4);
    for (uint64_t i = 0; i < steps; ++i) Step(1 + random_.Below(50));
    Take(random_.Below(12));
    EndSome(workload_.end_chance);
    if (random_.Chance(0.2)) Note();
    if (random_.Chance(0.1)) Commit();
    if (random_.Chance(workload_.rollback_chance)) RollBack();
    clock_.Advance(nanoseconds(static_cast<int64_t>(
        random_.Below(static_cast<uint64_t>(workload_.most_advance.count())))));
    CheckAccount();
  }

  void AddOne() {
    const uint64_t number = world_.urls.size();
    // Some sites have most of the URLs.
    const uint64_t origin = random_.Chance(0.5)
                                ? random_.Below(4)
                                : random_.Below(workload_.origins);
    const Url url{origin, random_.Chance(0.2)};
    const auto added =
        stage_->Add(EncodeUrl(origin, number, url.is_private), number);
    ASSERT_TRUE(added.has_value()) << added.error().message;
    if (*added == Admission::kTaken) world_.urls.push_back(url);
  }

  void Step(size_t most) {
    const auto moved = stage_->Step(
        [this](const ReadyUrl& url) -> Result<Admission> {
          if (random_.Chance(0.05)) return Admission::kFull;
          CheckUrl(url);
          return Admission::kTaken;
        },
        most);
    ASSERT_TRUE(moved.has_value()) << moved.error().message;
  }

  void CheckUrl(const ReadyUrl& ready) {
    const uint64_t number = NumberOf(ready.record);
    ASSERT_LT(number, world_.urls.size());
    ASSERT_TRUE(world_.out.insert(number).second) << "twice: " << number;
    ASSERT_EQ(ready.budget, number);
    const Url& url = world_.urls[number];
    ASSERT_FALSE(url.is_private && SiteForbids(url.origin));
    const uint64_t kind = url.origin % 7;
    ASSERT_EQ(ready.crawl_delay,
              seconds(kind > 3 ? static_cast<int64_t>(kind) : 0));
    // By an answer that there was, and that brought rules or left some.
    const Site& site = world_.sites[url.origin];
    const auto end = std::find_if(
        site.ends.begin(), site.ends.end(),
        [&ready](const End& one) { return one.when == ready.checked; });
    ASSERT_NE(end, site.ends.end());
    ASSERT_TRUE(std::any_of(
        site.ends.begin(), site.ends.end(),
        [&](const End& one) { return one.when == ready.checked && one.copy; }));
  }

  void Take(size_t most) {
    const auto taken = stage_->TakeRequests(
        [this](const RobotsRequest& request) -> Result<Admission> {
          if (random_.Chance(0.1)) return Admission::kFull;
          CheckRequest(request);
          return Admission::kTaken;
        },
        most);
    ASSERT_TRUE(taken.has_value()) << taken.error().message;
  }

  void CheckRequest(const RobotsRequest& request) {
    const uint64_t origin = OriginNumber(request.origin);
    ASSERT_EQ(request.origin, OriginText(origin));
    Site& site = world_.sites[origin];
    ASSERT_FALSE(site.open) << "asked for twice at once: " << origin;
    site.open = true;
    ++world_.asked;
    if (site.ends.empty()) return;
    // Not before the last answer is old.
    const End& last = site.ends.back();
    nanoseconds wait = hours(21);
    if (last.unreachable) {
      wait = std::min<nanoseconds>(
          wait, minutes(10) * (int64_t{1} << std::min(last.tries - 1, 20U)));
    }
    ASSERT_GE(clock_.WallNow() - last.when, wait) << origin;
  }

  void EndSome(double chance) {
    for (auto& [origin, site] : world_.sites) {
      if (site.open && random_.Chance(chance)) EndOne(origin, site);
    }
  }

  void EndOne(uint64_t origin, Site& site) {
    // Records have milliseconds.
    const WallTime when = std::chrono::floor<milliseconds>(clock_.WallNow());
    SiteAnswer answer = AskSite(origin, site.times_asked, when);
    const std::string text = OriginText(origin);
    answer.end.origin = text;
    answer.end.rules = answer.rules;
    const Status ended = stage_->RobotsEnded(answer.end);
    ASSERT_TRUE(ended.has_value()) << ended.error().message;
    ++site.times_asked;
    site.open = false;
    End end{when};
    end.unreachable =
        PolicyFor({answer.end.end, answer.end.status, true, std::nullopt})
            .unreachable;
    const bool had_copy = !site.ends.empty() && site.ends.back().copy;
    end.copy = !end.unreachable || had_copy;
    if (end.unreachable) {
      end.tries = site.ends.empty() ? 1 : site.ends.back().tries + 1;
    }
    site.ends.push_back(end);
  }

  void Note() {
    const uint64_t origin = random_.Below(workload_.origins);
    Site& site = world_.sites[origin];
    site.failures = static_cast<uint32_t>(random_.Below(5));
    ASSERT_TRUE(stage_
                    ->NoteHost(OriginText(origin), clock_.WallNow(),
                               site.failures + 1, {}, site.failures)
                    .has_value());
  }

  void Commit() {
    const auto commit = stage_->BeginCommit();
    ASSERT_TRUE(commit.has_value());
    const World world = world_;
    ASSERT_TRUE(stage_->FinishCommit().has_value());
    saved_.push_back({*commit, world});
    if (saved_.size() > 2) saved_.pop_front();
  }

  // A commit that is not gone back to.
  void FreeDisk() {
    ASSERT_TRUE(stage_->BeginCommit().has_value());
    ASSERT_TRUE(stage_->FinishCommit().has_value());
  }

  void RollBack() {
    if (saved_.size() == 2 && random_.Chance(0.4)) saved_.pop_back();
    World gone = std::move(world_);
    world_ = saved_.back().world;
    for (auto& [origin, site] : world_.sites) site.open = false;
    stage_.reset();
    auto stage = RobotsStage::Open({fs_, clock_, workers_}, "robots",
                                   SmallStage(), saved_.back().commit);
    ASSERT_TRUE(stage.has_value()) << stage.error().message;
    stage_ = *std::move(stage);
    if (random_.Chance(0.5)) TellAgain(gone);
  }

  // The ends that the journal has and the commit has not.
  void TellAgain(const World& gone) {
    for (const auto& [origin, before] : gone.sites) {
      Site& site = world_.sites[origin];
      if (site.times_asked < before.times_asked) EndOne(origin, site);
    }
  }

  void CheckAccount() {
    ASSERT_EQ(stage_->account().Imbalance(), 0);
    const StageTotals totals = stage_->account().Totals();
    ASSERT_EQ(totals.in, world_.urls.size());
    ASSERT_EQ(totals.out, world_.out.size());
    const RobotsStats stats = stage_->stats();
    ASSERT_EQ(
        static_cast<int64_t>(stats.checking + stats.waiting + stats.parked),
        totals.held);
  }

  void Finish() {
    int turns = 0;
    for (int i = 0; i < 5000 && !stage_->IsEmpty(); ++i) {
      bool moved = true;
      while (moved) {
        ASSERT_LT(++turns, 20'000);
        // Commits free the disk of passes; and a pass is not cheap to a
        // clock that moved in the middle of one.
        FreeDisk();
        ASSERT_TRUE(stage_->Flush().has_value());
        const uint64_t out = world_.out.size();
        Step(1000);
        ASSERT_FALSE(::testing::Test::HasFailure());
        const auto more = stage_->RunDry();
        ASSERT_TRUE(more.has_value());
        moved = *more || world_.out.size() > out;
      }
      Take(1000);
      EndSome(1);
      if (stage_->stats().parked > 0) clock_.Advance(minutes(5));
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
    CheckAccount();
    ASSERT_TRUE(stage_->IsEmpty());
    uint64_t denied = 0;
    for (uint64_t i = 0; i < world_.urls.size(); ++i) {
      const Url& url = world_.urls[i];
      const bool forbidden = url.is_private && SiteForbids(url.origin);
      denied += forbidden ? 1 : 0;
      ASSERT_EQ(world_.out.contains(i), !forbidden) << i;
    }
    ASSERT_EQ(stage_->account().Totals().DroppedSum(), denied);
  }

  // The last note of each host stands on its next URL.
  void CheckNotes() {
    const uint64_t first = world_.urls.size();
    std::map<uint64_t, uint32_t> failures;
    for (uint64_t origin = 0; origin < workload_.origins; ++origin) {
      ASSERT_TRUE(
          stage_->Add(EncodeUrl(origin, first + origin, false), 1).has_value());
    }
    for (int i = 0; i < 1000 && !stage_->IsEmpty(); ++i) {
      std::vector<Taken> taken;
      FreeDisk();
      ASSERT_TRUE(stage_->Flush().has_value());
      ASSERT_TRUE(RunUntilDry(*stage_, taken));
      for (const Taken& url : taken) failures[url.number] = url.failures;
      Take(1000);
      EndSome(1);
      if (stage_->stats().parked > 0) clock_.Advance(minutes(5));
    }
    for (uint64_t origin = 0; origin < workload_.origins; ++origin) {
      ASSERT_TRUE(failures.contains(first + origin)) << origin;
      ASSERT_EQ(failures[first + origin], world_.sites[origin].failures);
    }
  }

  const Workload workload_;
  Random random_;
  MemoryFileSystem fs_;
  ManualClock clock_;
  Workers workers_{0};
  std::unique_ptr<RobotsStage> stage_;
  World world_;
  std::deque<Saved> saved_;
};

// In steady state: fetches take less than records live.
TEST(RobotsModel, EachUrlComesOutOnceAfterOneCycle) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Workload workload;
    workload.seed = seed;
    workload.origins = seed % 2 == 0 ? 40 : 400;
    Crawl crawl(workload);
    crawl.Run();
    ASSERT_FALSE(::testing::Test::HasFailure()) << seed;
    EXPECT_EQ(crawl.stats().most_cycles, 1U) << seed;
    EXPECT_EQ(crawl.stats().cycled_again, 0U);
    EXPECT_GT(crawl.stats().cycled_once, 100U);
    EXPECT_GT(crawl.stats().parkings, 10U);
    EXPECT_GT(crawl.handed_on(), 2000U);
  }
}

// Days pass: records expire, are refreshed, are kept without reach.
TEST(RobotsModel, RecordsThatExpireAreAskedForAgain) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Workload workload;
    workload.seed = seed;
    workload.most_advance = hours(2);
    workload.end_chance = 0.8;
    Crawl crawl(workload);
    crawl.Run();
    ASSERT_FALSE(::testing::Test::HasFailure()) << seed;
    EXPECT_GT(crawl.asked(), 5 * workload.origins);
    EXPECT_GT(crawl.stats().refreshes, 20U);
    EXPECT_GT(crawl.stats().outdated, 50U);
  }
}

TEST(RobotsModel, RollbacksLoseNothingAndRepeatNothing) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Workload workload;
    workload.seed = seed;
    workload.rollback_chance = 0.08;
    workload.most_advance = seed % 2 == 0 ? hours(1) : nanoseconds(minutes(1));
    Crawl crawl(workload);
    crawl.Run();
    ASSERT_FALSE(::testing::Test::HasFailure()) << seed;
  }
}

}  // namespace
}  // namespace nephila::robots
