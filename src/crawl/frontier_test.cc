// The frontier with its real stages, in memory, on one thread; the test is
// dispatcher and downloader.
#include "crawl/frontier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "config/profile.h"
#include "item/url_record.h"
#include "url/canonicalizer.h"
#include "url/record_keys.h"

namespace nephila::crawl {
namespace {

using item::FetchKind;
using item::FetchOutcome;
using std::chrono::milliseconds;
using std::chrono::seconds;

class FrontierTest : public testing::TestWithParam<config::Profile> {
 protected:
  FrontierTest() : settings_(config::SettingsOf(GetParam())) {
    settings_.crawl.memory_bytes = uint64_t{64} << 20;
    settings_.crawl.disk_bytes = uint64_t{256} << 20;
    settings_.scope.bounds = config::ScopeBounds::kSite;
    MustDo(fs_.MakeDir("job"));
    for (const char* stage :
         {"seen", "reputation", "budget", "robots", "ready"}) {
      MustDo(fs_.MakeDir(std::string("job/") + stage));
    }
    frontier_ = Must(Frontier::Create(PartsOfFrontier()));
  }

  Frontier::Parts PartsOfFrontier() {
    Frontier::Parts parts = {fs_,       clock_, workers_, settings_,
                             suffixes_, "job",  kSeed};
    parts.visits = &visits_;
    // The pages of all that is unread lead there.
    parts.read_page = [this](FinishedVisit* visit, bool /*replayed*/) {
      read_.push_back(visit->entry);
      ByteWriter(visit->links).Sized(RecordOf("http://a.com/deep"));
      visit->found.links = visit->found.out = 1;
      return Status();
    };
    return parts;
  }

  std::string RecordOf(std::string_view url, uint32_t flags = 0,
                       uint64_t ordinal = 0) {
    const auto canonical = canonicalizer_.Canonicalize(url, nullptr);
    NEPHILA_CHECK(canonical);
    item::UrlRecord record = url::MakeUrlRecord(*canonical);
    record.flags = flags;
    record.ordinal = ordinal;
    std::string bytes;
    item::AppendUrlRecord(record, bytes);
    return bytes;
  }

  FinishedVisit Seed(uint64_t entry, std::string_view url) {
    FinishedVisit seed;
    seed.entry = entry;
    seed.is_seed = true;
    ByteWriter(seed.links).Sized(RecordOf(url, item::kFromSeed));
    return seed;
  }
  void TakeSeed(std::string_view url) { frontier_->Take(Seed(++entry_, url)); }

  FinishedVisit Finished(const Visit& visit,
                         const std::vector<std::string>& links) {
    FinishedVisit finished;
    finished.entry = ++entry_;
    finished.kind = visit.kind;
    finished.record = visit.record;
    finished.place = visit.place;
    finished.attempt = visit.attempt;
    finished.budget = visit.budget;
    finished.outcome = FetchOutcome::kResponse;
    finished.status = 200;
    finished.archived = true;
    finished.when = std::chrono::floor<milliseconds>(clock_.WallNow());
    if (visit.kind == FetchKind::kRobots) {
      finished.status = 404;
      finished.robots_end = item::RobotsFetchEnd::kAnswer;
      finished.robots_status = 404;
    }
    for (size_t i = 0; i < links.size(); ++i) {
      ByteWriter(finished.links).Sized(RecordOf(links[i], 0, i));
    }
    finished.found.links = finished.found.out = links.size();
    return finished;
  }
  // Ends what is out, by URL.
  void End(std::string_view url, const std::vector<std::string>& links = {}) {
    frontier_->Take(Finished(*Out(url), links));
    out_.erase(std::string(url));
  }
  Visit* Out(std::string_view url) {
    const auto found = out_.find(std::string(url));
    NEPHILA_CHECK(found != out_.end());
    return found->second.get();
  }

  static std::string NameOf(const Visit& visit) {
    const auto record = item::ReadUrl(visit.record);
    NEPHILA_CHECK(record);
    return std::string(record->url) +
           (visit.kind == FetchKind::kRobots ? "robots.txt" : "");
  }

  // Until nothing moves; robots.txt is answered with 404 at once.
  void Pump(bool answer_robots = true) {
    frontier_->Want(1000 - std::min<size_t>(1000, wanted_));
    wanted_ = 1000;
    for (int rounds = 0; rounds < 10'000; ++rounds) {
      const bool moved = Must(frontier_->Step([this](VisitPtr visit) {
        if (visit->kind == FetchKind::kPage) --wanted_;
        const std::string name = NameOf(*visit);
        EXPECT_FALSE(out_.contains(name)) << name;
        out_[name] = std::move(visit);
      }));
      bool answered = false;
      for (auto it = out_.begin(); answer_robots && it != out_.end();) {
        if (it->second->kind == FetchKind::kRobots) {
          frontier_->Take(Finished(*it->second, {}));
          it = out_.erase(it);
          answered = true;
        } else {
          ++it;
        }
      }
      if (moved || answered) continue;
      if (!Must(frontier_->RunDry())) return;
    }
    ADD_FAILURE() << "it moves for ever";
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [name, visit] : out_) names.push_back(name);
    return names;
  }

  ManifestParts Checkpoint() {
    ManifestParts parts = Must(frontier_->BeginCheckpoint());
    MustDo(frontier_->FinishCheckpoint());
    return parts;
  }
  // The process ends, and another goes on from the manifest; the journal's
  // later entries are the test's to take again.
  void Reopen(const ManifestParts& manifest) {
    frontier_.reset();
    fs_.KillProcess();
    out_.clear();
    wanted_ = 0;
    entry_ = Must(Frontier::NextEntry(manifest)) - 1;
    frontier_ = Must(Frontier::Open(PartsOfFrontier(), manifest));
  }

  // As a restart does before the first request.
  void TakeAll() {
    while (frontier_->arrived() > 0) Must(frontier_->Absorb());
  }

  void ExpectLaw() {
    for (const StageAccount* account : frontier_->StageAccounts()) {
      EXPECT_EQ(account->Imbalance(), 0) << account->name();
    }
  }
  void ExpectOver() {
    ExpectLaw();
    EXPECT_TRUE(frontier_->IsEmpty());
    EXPECT_EQ(frontier_->visits_out(), 0U);
    EXPECT_EQ(frontier_->NextDue(), std::nullopt);
    for (const StageAccount* account : frontier_->StageAccounts()) {
      EXPECT_EQ(account->Totals().held, 0) << account->name();
    }
  }

  static constexpr uint64_t kSeed = 7;
  ByteBudget visits_{uint64_t{1} << 20};
  std::vector<uint64_t> read_;  // entries
  MemoryFileSystem fs_;
  ManualClock clock_;
  Workers workers_{0};
  config::Settings settings_;
  url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  url::Canonicalizer canonicalizer_{settings_.url, suffixes_, kSeed};
  std::unique_ptr<Frontier> frontier_;
  uint64_t entry_ = 0;
  size_t wanted_ = 0;
  std::map<std::string, VisitPtr> out_;
};

using Urls = std::vector<std::string>;

INSTANTIATE_TEST_SUITE_P(Profiles, FrontierTest,
                         testing::Values(config::Profile::kSite,
                                         config::Profile::kBroad),
                         [](const auto& param) {
                           return param.param == config::Profile::kSite
                                      ? "Site"
                                      : "Broad";
                         });

TEST_P(FrontierTest, ASeedIsFetchedAfterItsRobotsFile) {
  TakeSeed("http://a.com/");
  Pump(/*answer_robots=*/false);
  EXPECT_EQ(Names(), (Urls{"http://a.com/robots.txt"}));
  EXPECT_EQ(Out("http://a.com/robots.txt")->attempt, 1U);
  EXPECT_FALSE(frontier_->IsEmpty());
  Pump();
  EXPECT_EQ(Names(), (Urls{"http://a.com/"}));
  EXPECT_EQ(Out("http://a.com/")->attempt, 1U);
  EXPECT_EQ(frontier_->visits_out(), 1U);
  End("http://a.com/");
  Pump();
  ExpectOver();
}

TEST_P(FrontierTest, EachLinkOfTheScopeComesOnce) {
  TakeSeed("http://a.com/");
  Pump();
  End("http://a.com/", {"http://a.com/1", "http://a.com/2", "http://a.com/1",
                        "http://a.com/", "http://b.com/", "http://w.a.com/"});
  Pump();
  EXPECT_EQ(Names(),
            (Urls{"http://a.com/1", "http://a.com/2", "http://w.a.com/"}));
  End("http://a.com/1", {"http://a.com/2", "http://a.com/3"});
  Pump();
  EXPECT_TRUE(out_.contains("http://a.com/3"));
  for (const std::string& name : Names()) End(name);
  Pump();
  ExpectOver();
  EXPECT_EQ(frontier_->accounts().scope.Totals().dropped.at(0), 1U);
  EXPECT_EQ(frontier_->seen().account().Totals().out, 5U);
}

TEST_P(FrontierTest, EntriesAreTakenInTheirOrder) {
  frontier_->Take(Seed(3, "http://c.com/"));
  frontier_->Take(Seed(2, "http://b.com/"));
  Pump();
  EXPECT_EQ(frontier_->entry(), 0U);
  EXPECT_EQ(Names(), Urls());
  frontier_->Take(Seed(1, "http://a.com/"));
  entry_ = 3;
  Pump();
  EXPECT_EQ(Names(), (Urls{"http://a.com/", "http://b.com/", "http://c.com/"}));
  EXPECT_EQ(frontier_->entry(), entry_);
}

TEST_P(FrontierTest, OnlySoManyAreGivenAsAreWanted) {
  TakeSeed("http://a.com/");
  Pump();
  Urls links;
  for (int i = 0; i < 20; ++i) {
    links.push_back("http://a.com/" + std::to_string(i));
  }
  const FinishedVisit finished = Finished(*Out("http://a.com/"), links);
  out_.clear();
  frontier_ = Must([&]() -> Result<std::unique_ptr<Frontier>> {
    const ManifestParts parts = Checkpoint();
    frontier_.reset();
    fs_.KillProcess();
    return Frontier::Open(PartsOfFrontier(), parts);
  }());
  frontier_->Take(finished, /*replayed=*/true);
  frontier_->Want(5);
  for (int i = 0; i < 100; ++i) {
    const bool moved = Must(frontier_->Step(
        [this](VisitPtr visit) { out_[NameOf(*visit)] = std::move(visit); }));
    if (!moved) Must(frontier_->RunDry());
  }
  EXPECT_EQ(out_.size(), 5U);
}

TEST_P(FrontierTest, AnAttemptThatFailedComesAgainInItsTime) {
  TakeSeed("http://a.com/");
  Pump();
  FinishedVisit failed = Finished(*Out("http://a.com/"), {});
  failed.outcome = FetchOutcome::kTimeout;
  failed.archived = false;
  failed.retry = true;
  failed.url_wait = seconds(10);
  failed.next_attempt = 2;
  frontier_->Take(failed);
  out_.clear();
  Pump();
  EXPECT_EQ(Names(), Urls());
  EXPECT_EQ(frontier_->parked(), 1U);
  EXPECT_EQ(frontier_->visits_out(), 0U);
  ExpectLaw();
  ASSERT_TRUE(frontier_->NextDue());
  EXPECT_GE(*frontier_->NextDue(), clock_.WallNow() + seconds(10));
  EXPECT_LE(*frontier_->NextDue(), clock_.WallNow() + seconds(11));
  clock_.Advance(seconds(9));
  Pump();
  EXPECT_EQ(Names(), Urls());
  clock_.Advance(seconds(2));
  Pump();
  EXPECT_EQ(Names(), (Urls{"http://a.com/"}));
  EXPECT_EQ(Out("http://a.com/")->attempt, 2U);
  End("http://a.com/");
  Pump();
  ExpectOver();
  EXPECT_EQ(frontier_->accounts().retries.value(), 1U);
}

TEST_P(FrontierTest, AParkedVisitComesBackByItsRobotsRecord) {
  TakeSeed("http://a.com/");
  Pump();
  const VisitPtr visit = std::move(out_.extract("http://a.com/").mapped());
  MustDo(frontier_->Park(*visit, clock_.WallNow() + seconds(30)));
  HostNote note;
  note.host = 5;
  note.epoch = 9;
  note.origin = "http://a.com/";
  note.not_before =
      std::chrono::floor<milliseconds>(clock_.WallNow()) + milliseconds(30'500);
  note.failures = 2;
  note.overloads = 1;
  MustDo(frontier_->Note(note));
  size_t noted = 0;
  const auto take = [&](uint64_t host, uint64_t epoch) {
    EXPECT_EQ(host, 5U);
    EXPECT_EQ(epoch, 9U);
    ++noted;
  };
  Pump();
  ExpectLaw();
  EXPECT_EQ(Names(), Urls());
  clock_.Advance(seconds(31));
  for (int i = 0; i < 5; ++i) {
    Pump();
    frontier_->TakeNoted(take);
  }
  ASSERT_EQ(Names(), (Urls{"http://a.com/"}));
  // As the note said.
  EXPECT_EQ(Out("http://a.com/")->not_before, note.not_before);
  EXPECT_EQ(Out("http://a.com/")->failures, 2U);
  EXPECT_EQ(Out("http://a.com/")->overloads, 1U);
  EXPECT_EQ(Out("http://a.com/")->attempt, 1U);
  End("http://a.com/", {"http://a.com/2"});
  Pump();
  End("http://a.com/2", {"http://a.com/3"});
  Pump();
  End("http://a.com/3");
  Pump();
  frontier_->TakeNoted(take);
  EXPECT_EQ(noted, 1U);
  ExpectOver();
}

// A robots.txt that asks for a delay was a contact itself.
TEST_P(FrontierTest, ACrawlDelayHoldsForTheFirstPageToo) {
  TakeSeed("http://a.com/");
  Pump(/*answer_robots=*/false);
  FinishedVisit robots = Finished(*Out("http://a.com/robots.txt"), {});
  robots.robots_delay = seconds(20);
  out_.clear();
  frontier_->Take(robots);
  Pump();
  ASSERT_EQ(Names(), (Urls{"http://a.com/"}));
  EXPECT_EQ(Out("http://a.com/")->not_before, robots.when + seconds(20));
}

TEST_P(FrontierTest, ACheckpointHasWhatWasOutAndNotWhatHadEnded) {
  TakeSeed("http://a.com/");
  Pump();
  End("http://a.com/", {"http://a.com/1", "http://a.com/2", "http://a.com/3",
                        "http://b.a.com/"});
  Pump();
  End("http://a.com/2", {"http://a.com/4"});
  Pump();
  EXPECT_EQ(out_.size(), 4U);
  const ManifestParts manifest = Checkpoint();
  const uint64_t entry = frontier_->entry();
  Reopen(manifest);
  EXPECT_EQ(frontier_->entry(), entry);
  ExpectLaw();
  Pump();
  EXPECT_EQ(Names(), (Urls{"http://a.com/1", "http://a.com/3", "http://a.com/4",
                           "http://b.a.com/"}));
  for (const std::string& name : Names()) End(name, {"http://a.com/1"});
  Pump();
  ExpectOver();
}

// Entries after the manifest: their URLs come up again, and are skipped.
TEST_P(FrontierTest, WhatEndedAfterTheCheckpointIsSkipped) {
  TakeSeed("http://a.com/");
  Pump();
  End("http://a.com/", {"http://a.com/1", "http://a.com/2"});
  Pump();
  const ManifestParts manifest = Checkpoint();
  std::vector<FinishedVisit> later;
  later.push_back(Finished(*Out("http://a.com/1"), {"http://a.com/3"}));
  frontier_->Take(later.back());
  out_.erase("http://a.com/1");
  Pump();
  // Of a page that the manifest does not know yet.
  later.push_back(Finished(*Out("http://a.com/3"), {"http://a.com/5"}));
  frontier_->Take(later.back());
  Pump();
  Reopen(manifest);
  for (const FinishedVisit& visit : later) {
    frontier_->Take(visit, /*replayed=*/true);
    ++entry_;
  }
  TakeAll();
  Pump();
  EXPECT_EQ(Names(), (Urls{"http://a.com/2", "http://a.com/5"}));
  ExpectLaw();
  for (const std::string& name : Names()) End(name);
  Pump();
  ExpectOver();
  EXPECT_EQ(frontier_->accounts().pages.value(), 5U);
}

// And so they are after a second restart, before they came up.
TEST_P(FrontierTest, WhatEndedIsRememberedByTheNextManifestToo) {
  TakeSeed("http://a.com/");
  Pump();
  const ManifestParts manifest = Checkpoint();
  std::vector<FinishedVisit> later;
  later.push_back(Finished(*Out("http://a.com/"), {"http://a.com/1"}));
  frontier_->Take(later.back());
  Pump();
  later.push_back(Finished(*Out("http://a.com/1"), {"http://a.com/2"}));
  Reopen(manifest);
  for (const FinishedVisit& visit : later) {
    frontier_->Take(visit, /*replayed=*/true);
    ++entry_;
  }
  // Taken, but nobody wanted a page yet.
  for (int i = 0; i < 3; ++i) {
    Must(frontier_->Step([](const VisitPtr&) { ADD_FAILURE(); }));
  }
  const ManifestParts second = Checkpoint();
  Reopen(second);
  Pump();
  EXPECT_EQ(Names(), (Urls{"http://a.com/2"}));
  End("http://a.com/2");
  Pump();
  ExpectOver();
}

TEST_P(FrontierTest, AReplayedRetryLeavesItsUrlOpen) {
  TakeSeed("http://a.com/");
  Pump();
  const ManifestParts manifest = Checkpoint();
  FinishedVisit failed = Finished(*Out("http://a.com/"), {});
  failed.outcome = FetchOutcome::kConnectionLost;
  failed.archived = false;
  failed.retry = true;
  failed.url_wait = seconds(5);
  failed.next_attempt = 2;
  Reopen(manifest);
  frontier_->Take(failed, /*replayed=*/true);
  ++entry_;
  TakeAll();
  Pump();
  EXPECT_EQ(Names(), Urls());
  clock_.Advance(seconds(7));
  Pump();
  ASSERT_EQ(Names(), (Urls{"http://a.com/"}));
  EXPECT_EQ(Out("http://a.com/")->attempt, 2U);
  End("http://a.com/");
  Pump();
  ExpectOver();
}

TEST_P(FrontierTest, ParkedUrlsAndScopeAreKept) {
  TakeSeed("http://a.com/");
  TakeSeed("http://b.com/");
  Pump();
  MustDo(frontier_->Park(*Out("http://b.com/"),
                         clock_.WallNow() + std::chrono::hours(3)));
  out_.erase("http://b.com/");
  const ManifestParts manifest = Checkpoint();
  Reopen(manifest);
  EXPECT_EQ(frontier_->parked(), 1U);
  EXPECT_TRUE(frontier_->NextDue());
  Pump();
  EXPECT_EQ(Names(), (Urls{"http://a.com/"}));
  End("http://a.com/", {"http://b.com/1", "http://c.com/"});
  Pump();
  EXPECT_EQ(Names(), (Urls{"http://b.com/1"}));
  clock_.Advance(std::chrono::hours(3) + std::chrono::minutes(1));
  Pump();
  EXPECT_EQ(Names(), (Urls{"http://b.com/", "http://b.com/1"}));
}

// RFC 9309 s2.4: rules of yesterday do not hold.
TEST_P(FrontierTest, OldRulesAreAskedForAgain) {
  TakeSeed("http://a.com/");
  Pump();
  End("http://a.com/", {"http://a.com/1"});
  // It lies in the ready queue for two days, since nobody wants a page.
  for (int i = 0; i < 50; ++i) {
    Must(frontier_->Step([](const VisitPtr&) {}));
  }
  const ManifestParts manifest = Checkpoint();
  clock_.Advance(std::chrono::hours(48));
  Reopen(manifest);
  Pump(/*answer_robots=*/false);
  EXPECT_EQ(Names(), (Urls{"http://a.com/robots.txt"}));
  EXPECT_NE(Out("http://a.com/robots.txt")->attempt, 1U);
  Pump();
  EXPECT_EQ(Names(), (Urls{"http://a.com/1"}));
  ExpectLaw();
}

TEST_P(FrontierTest, ADamagedManifestIsRefused) {
  TakeSeed("http://a.com/");
  Pump();
  ManifestParts manifest = Checkpoint();
  frontier_.reset();
  fs_.KillProcess();
  for (const auto& [name, bytes] : ManifestParts(manifest)) {
    ManifestParts without = manifest;
    without.erase(name);
    EXPECT_FAILS(Frontier::Open(PartsOfFrontier(), without), kCorruption, "");
    fs_.KillProcess();
  }
  std::string& state = manifest["frontier"];
  state.resize(state.size() - 1);
  EXPECT_FAILS(Frontier::Open(PartsOfFrontier(), manifest), kCorruption,
               "state of the frontier is damaged");
  state.clear();
  EXPECT_FAILS(Frontier::NextEntry(manifest), kCorruption, "damaged");
}

// A version before this one wrote such entries, and then could not start.
TEST_P(FrontierTest, ARedirectThatNoRecordCanHaveEndsItsPage) {
  TakeSeed("http://a.com/");
  Pump();
  FinishedVisit visit = Finished(*Out("http://a.com/"), {});
  visit.status = 301;
  visit.retry = visit.goes_on = true;
  visit.next = "http://a.com/?" + std::string(80'000, 'x');
  frontier_->Take(std::move(visit));
  TakeAll();
  Pump();
  EXPECT_EQ(frontier_->accounts().url.Totals().dropped[3], 1U);
  ExpectLaw();
  EXPECT_TRUE(frontier_->IsEmpty());
}

TEST_P(FrontierTest, AnUnreadPageIsReadWhenItIsNext) {
  TakeSeed("http://a.com/");
  Pump();
  FinishedVisit visit = Finished(*Out("http://a.com/"), {});
  out_.clear();
  visit.unread = true;
  visit.archive.emplace();
  // The entry behind it comes first, and has to wait.
  frontier_->Take(Seed(++entry_, "http://a.com/later"));
  Pump();
  EXPECT_TRUE(read_.empty());
  EXPECT_EQ(Names(), std::vector<std::string>());
  const uint64_t entry = visit.entry;
  frontier_->Take(std::move(visit));
  Pump();
  EXPECT_EQ(read_, std::vector<uint64_t>{entry});
  EXPECT_EQ(Names(), (std::vector<std::string>{"http://a.com/deep",
                                               "http://a.com/later"}));
  ExpectLaw();
}

TEST_P(FrontierTest, NoVisitsAreGivenOutWhileTheirMemoryIsUsedUp) {
  visits_.Take(visits_.limit());
  TakeSeed("http://a.com/");
  Pump();
  EXPECT_EQ(Names(), std::vector<std::string>());
  visits_.Give(visits_.limit());
  Pump();
  EXPECT_EQ(Names(), std::vector<std::string>{"http://a.com/"});
  EXPECT_GT(visits_.used(), 0U);
  out_.clear();
  EXPECT_EQ(visits_.used(), 0U);
}

}  // namespace
}  // namespace nephila::crawl
