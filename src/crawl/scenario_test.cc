// Crashes at moments that each need a mechanism of their own
// (docs/crash-safety.md); each test says that its moment was reached.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "crawl/scenario_testing.h"
#include "store/store_testing.h"

namespace nephila::crawl {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST_F(ScenarioTest, AUrlInAMemoryQueueAtTheCheckpoint) {
  Page("http://a.com/", Urls("a.com", 8));
  Pages(Urls("a.com", 8));
  Begin();
  // All of them are out of the ready queue, most wait for their host.
  Until([&] {
    return twin_->crawl().frontier().visits_out() >= 5 &&
           twin_->crawl().status().ready == 0;
  });
  const uint64_t manifest = ManifestNumber();
  Until([&] { return ManifestNumber() > manifest; });
  EXPECT_GE(twin_->crawl().frontier().visits_out(), 2U);
  EXPECT_FALSE(HasEnded("http://a.com/8"));
  Kill();
  FinishAndExpectAll();
}

TEST_F(ScenarioTest, UrlsFinishedOutOfOrder) {
  Page("http://a.com/",
       {"http://slow.com/1", "http://b.com/1", "http://c.com/1"});
  Answers("http://slow.com/1",
          {Slow(FakePage(TwinPage({}, "slow")), seconds(30))});
  Pages({"http://b.com/1", "http://c.com/1"});
  Begin();
  Until([&] {
    return Asked("http://slow.com/1") == 1 && HasEnded("http://b.com/1") &&
           HasEnded("http://c.com/1");
  });
  // A manifest that knows of the later two, and of the first as open.
  const uint64_t manifest = ManifestNumber();
  Until([&] { return ManifestNumber() > manifest + 1; });
  EXPECT_FALSE(HasEnded("http://slow.com/1"));
  EXPECT_EQ(twin_->crawl().frontier().visits_out(), 1U);
  Kill();
  FinishAndExpectAll();
  EXPECT_EQ(Asked("http://slow.com/1"), 2U);
  EXPECT_EQ(Asked("http://b.com/1"), 1U);
  EXPECT_EQ(Asked("http://c.com/1"), 1U);
}

TEST_F(ScenarioTest, AUrlDiscoveredFetchedAndArchivedAfterTheLastManifest) {
  NoMoreCheckpoints();
  Page("http://a.com/", {"http://a.com/1"});
  Page("http://a.com/1", {"http://a.com/2"});
  Page("http://a.com/2", {"http://a.com/3"});
  Page("http://a.com/3", {});
  Begin();
  Until([&] { return UncoveredEntry("http://a.com/2").has_value(); });
  const auto parent = UncoveredEntry("http://a.com/1");
  const auto child = UncoveredEntry("http://a.com/2");
  ASSERT_TRUE(parent && child);
  EXPECT_LT(parent->number, child->number);
  EXPECT_TRUE(child->archived);
  Kill();
  FinishAndExpectAll();
  for (const std::string& url : Urls("a.com", 2)) EXPECT_EQ(Asked(url), 1U);
}

TEST_F(ScenarioTest, AFallBackToTheOlderManifest) {
  Page("http://a.com/", Urls("a.com", 12));
  for (const std::string& url : Urls("a.com", 12)) {
    Page(url, {url + "/deep"});
    Page(url + "/deep", {});
  }
  plan_.settings.crawl.checkpoint_interval = milliseconds(150);
  Begin();
  // From many places: what the older one names must be there each time.
  for (int i = 0; i < 6; ++i) {
    const uint64_t manifest = ManifestNumber();
    Until([&] { return ManifestNumber() >= manifest + 3; });
    const uint64_t newest = ManifestNumber();
    Kill();
    std::string name;
    for (const DirEntry& entry : Must(fs_->List("job/manifests"))) {
      if (entry.name.find(std::to_string(newest)) != std::string::npos) {
        name = entry.name;
      }
    }
    ASSERT_NE(name, "");
    MustDo(fs_->FlipBit("job/manifests/" + name, 40, 3));
    ASSERT_LT(ManifestNumber(), newest);
    ASSERT_EQ(Manifests().damaged.size(), 1U);
    Open();
  }
  Kill();
  FinishAndExpectAll();
}

TEST_F(ScenarioTest, ARetryAskedForJustBeforeTheCrash) {
  NoMoreCheckpoints();
  Page("http://a.com/", {"http://a.com/flaky"});
  Answers("http://a.com/flaky",
          {FakeError(500), FakePage(TwinPage({}, "flaky"))});
  plan_.errors["http://a.com/flaky"] = 1;
  Begin();
  Until([&] { return UncoveredEntry("http://a.com/flaky").has_value(); });
  EXPECT_TRUE(UncoveredEntry("http://a.com/flaky")->retry);
  Kill();
  FinishAndExpectAll();
  EXPECT_EQ(Asked("http://a.com/flaky"), 2U);
}

TEST_F(ScenarioTest, ARecordTornInOneStreamWhileAnotherIsWhole) {
  plan_.settings.crawl.threads = 2;
  NoMoreCheckpoints();
  std::vector<std::string> links;
  for (const char* host : {"b.com", "c.com", "d.com", "e.com"}) {
    for (const std::string& url : Urls(host, 3)) links.push_back(url);
  }
  Page("http://a.com/", links);
  Pages(links);
  Begin();
  Until([&] { return Entries(1).size() >= 14; });
  const auto paths = store::ArchivePaths(*fs_, "job/archive", "nephila-1");
  ASSERT_EQ(paths.size(), 1U);
  const size_t whole = store::ReadArchive(*fs_, paths[0]).size();
  ASSERT_GT(whole, 3U);
  Kill();
  // As a loss of power may leave it.
  const auto file = Must(fs_->Open(paths[0], OpenMode::kReadWrite));
  MustDo(file->Truncate(Must(file->Size()) - 20));
  MustDo(file->Sync());
  // What it held is asked for once more.
  twin_->AllowRequests(1);
  FinishAndExpectAll();
}

// A pass of `seen` over thousands of links takes some turns to be delivered,
// and checkpoints come between.
TEST_F(ScenarioTest, ADrumPassHalfDone) {
  // For all links of one page.
  plan_.settings.crawl.memory_bytes = uint64_t{256} << 20;
  plan_.settings.crawl.checkpoint_interval = milliseconds(10);
  plan_.answers["http://a.com/robots.txt"] = {
      FakeText("User-agent: *\nDisallow: /no\n")};
  std::vector<std::string> links = Urls("a.com", 6500, "/no/");
  for (const std::string& url : Urls("a.com", 3)) links.push_back(url);
  Page("http://a.com/", links);
  Pages(Urls("a.com", 3));
  Begin(/*others=*/6500);
  const auto delivered = [&] {
    return twin_->crawl().frontier().seen().stats().drum.results_delivered;
  };
  const auto half_done = [&] {
    return delivered() >= 1000 && delivered() < 6500;
  };
  Until(half_done);
  const uint64_t manifest = ManifestNumber();
  Until([&] { return ManifestNumber() > manifest; });
  EXPECT_TRUE(half_done()) << delivered();
  Kill();
  FinishAndExpectAll();
}

// What the ready queue and its parked neighbours hold is freed as it is read;
// not before nobody can ask for it.
TEST_F(ScenarioTest, SegmentsFreedTooEarly) {
  plan_.settings.crawl.checkpoint_interval = milliseconds(60);
  plan_.settings.politeness.park_after = milliseconds(50);
  Page("http://a.com/", Urls("a.com", 10));
  for (const std::string& url : Urls("a.com", 10)) {
    Answers(url, {FakeError(500), FakePage(TwinPage({}, url))});
    plan_.errors[url] = 1;
  }
  Begin();
  const auto segments = [&] {
    std::vector<std::string> names;
    for (const DirEntry& entry : Must(fs_->List("job/ready"))) {
      names.push_back(entry.name);
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  size_t freed = 0;
  for (int i = 0; i < 8; ++i) {
    const std::vector<std::string> before = segments();
    For(milliseconds(200));
    const std::vector<std::string> after = segments();
    freed += static_cast<size_t>(
        std::count_if(before.begin(), before.end(), [&](const auto& name) {
          return !std::binary_search(after.begin(), after.end(), name);
        }));
    LosePower();
    twin_->AllowRequests(10);
    Open();
  }
  EXPECT_GT(freed, 0U);
  Kill();
  FinishAndExpectAll();
}

TEST_F(ScenarioTest, FailuresWithoutARecordAndTheirRetries) {
  NoMoreCheckpoints();
  Page("http://a.com/", {"http://a.com/silent", "http://b.com/"});
  plan_.answers["http://a.com/silent"] = {
      FakeFailure(item::FetchOutcome::kTimeout)};
  Page("http://b.com/", {});
  plan_.failures["b.com"] = {dns::Outcome::kServerFailure,
                             dns::Outcome::kServerFailure};
  Begin(/*others=*/1);
  // After each attempt that left no record.
  for (size_t attempt = 1; attempt <= 3; ++attempt) {
    Until([&] {
      return Asked("http://a.com/silent") == attempt &&
             UncoveredEntry("http://a.com/silent").has_value();
    });
    const auto entry = UncoveredEntry("http://a.com/silent");
    EXPECT_FALSE(entry->archived);
    EXPECT_EQ(entry->retry, attempt < 3);
    For(milliseconds(5));
    Kill();
    Open();
  }
  Kill();
  FinishAndExpectAll();
  // It was given up after its attempts, which are counted across crashes.
  EXPECT_EQ(Asked("http://a.com/silent"), 3U);
}

// A page of anyone links to closed ports of a host.
TEST_F(ScenarioTest, LinksToClosedPortsDoNotKeepACrawlFromTheirHost) {
  config::Settings& settings = plan_.settings;
  settings.politeness.host_delay = seconds(1);
  settings.politeness.host_delay_floor = seconds(1);
  settings.politeness.back_off = seconds(30);
  settings.politeness.back_off_max = hours(1);
  settings.politeness.dead_pause = std::chrono::minutes(10);
  settings.politeness.dead_pause_max = hours(24);
  settings.robots.retry_wait = seconds(30);
  settings.robots.retry_wait_max = hours(1);
  const std::vector<std::string> pages = Urls("victim.com", 10);
  std::vector<std::string> links;
  for (int port = 9001; port <= 9015; ++port) {
    const std::string origin = "http://victim.com:" + std::to_string(port);
    links.push_back(origin + "/");
    for (const char* path : {"/robots.txt", "/"}) {
      plan_.answers[origin + path] = {
          FakeFailure(item::FetchOutcome::kConnectFailed)};
    }
  }
  links.insert(links.end(), pages.begin(), pages.end());
  Page("http://a.com/", links);
  Pages(pages);
  Begin(/*others=*/15);
  Until([&] { return HasEnded("http://a.com/"); });
  const MonoTime begin = twin_->clock().Now();
  const auto got_all = [&] {
    return std::all_of(pages.begin(), pages.end(),
                       [&](const std::string& url) { return HasEnded(url); });
  };
  Until(
      [&] { return got_all() || twin_->clock().Now() > begin + seconds(40); });
  EXPECT_TRUE(got_all());
  // What failed is known after a crash, too.
  size_t closed = 0;
  for (const FakeContact& contact : twin_->web().log()) {
    if (contact.url.starts_with("http://victim.com:90")) ++closed;
  }
  EXPECT_GE(closed, 5U);
  Kill();
  FinishAndExpectAll();
}

TEST_F(ScenarioTest, RetryAfterJustBeforeTheCrash) {
  NoMoreCheckpoints();
  Page("http://a.com/", {"http://a.com/busy", "http://a.com/1"});
  Answers("http://a.com/busy", {Busy(5), FakePage(TwinPage({}, "busy"))});
  plan_.errors["http://a.com/busy"] = 1;
  Page("http://a.com/1", {});
  for (const Crash crash : {Crash::kKill, Crash::kNothingUnsynced}) {
    NewDisk();
    Begin();
    Until([&] { return UncoveredEntry("http://a.com/busy").has_value(); });
    const MonoTime asked = twin_->clock().Now();
    // Once synced, also after a loss of power.
    if (crash != Crash::kKill) For(milliseconds(250));
    twin_->Crash(crash, *fs_, 1);
    FinishAndExpectAll();
    const auto log = twin_->web().log();
    const auto next = std::find_if(
        log.begin(), log.end(),
        [&](const FakeContact& contact) { return contact.begin > asked; });
    ASSERT_NE(next, log.end());
    EXPECT_GE(Seconds(next->begin - asked), 4.9) << next->url;
  }
}

TEST_F(ScenarioTest, AHostEvictedInsideItsWindow) {
  plan_.settings.politeness.park_after = milliseconds(50);
  plan_.settings.politeness.max_hosts = 2;
  plan_.settings.politeness.max_urls = 3;
  std::vector<std::string> links = Urls("b.com", 4);
  for (const std::string& url : Urls("c.com", 4)) links.push_back(url);
  Page("http://a.com/", links);
  Pages(links);
  Answers("http://b.com/1", {Busy(3), FakePage(TwinPage({}, "b"))});
  plan_.errors["http://b.com/1"] = 1;
  Begin();
  // Its URLs are on disk, and so is its clock, but for a note.
  Until([&] {
    return HasEnded("http://b.com/1") && twin_->crawl().status().parked >= 1 &&
           twin_->crawl().frontier().visits_out() == 0;
  });
  For(milliseconds(300));
  Kill();
  FinishAndExpectAll();
}

TEST_F(ScenarioTest, ARobotsFetchThatNeverAnswers) {
  Page("http://a.com/", {"http://dumb.com/1", "http://dumb.com/2"});
  plan_.answers["http://dumb.com/robots.txt"] = {
      Slow(FakeFailure(item::FetchOutcome::kTimeout), seconds(2))};
  Begin(/*others=*/2);
  // In the middle of a fetch, then between two, then in the middle again.
  for (size_t i = 1; i <= 2; ++i) {
    Until([&] { return Asked("http://dumb.com/robots.txt") >= i; });
    For(milliseconds(300));
    Kill();
    Open();
  }
  Until([&] { return HasEnded("http://dumb.com/robots.txt"); });
  Kill();
  FinishAndExpectAll();
  EXPECT_EQ(Asked("http://dumb.com/1"), 0U);
  // Nobody waits for it for ever: the URLs are dropped by their name.
  for (const auto& stage : twin_->last_status().stages) {
    if (stage.name != "robots") continue;
    EXPECT_EQ(stage.totals.DroppedSum(), 2U);
  }
}

TEST_F(ScenarioTest, ARevisitWhoseOriginalWasNotSynced) {
  plan_.settings.store.revisit_memory_bytes = uint64_t{1} << 20;
  plan_.settings.crawl.sync_interval = std::chrono::minutes(10);
  NoMoreCheckpoints();
  const std::string body = TwinPage({}, std::string(1500, 'c'));
  Page("http://a.com/", Urls("a.com", 4));
  for (const std::string& url : Urls("a.com", 4)) {
    Answers(url, {FakePage(body)});
  }
  for (const Crash crash : {Crash::kNothingUnsynced, Crash::kTorn}) {
    NewDisk();
    Begin();
    Until([&] { return UncoveredEntry("http://a.com/3").has_value(); });
    size_t revisits = 0;
    for (const auto& record : store::ReadArchive(
             *fs_, store::ArchivePaths(*fs_, "job/archive").at(0))) {
      if (record.header.type() == store::RecordType::kRevisit) ++revisits;
    }
    EXPECT_GT(revisits, 0U);
    twin_->Crash(crash, *fs_, 3);
    twin_->AllowRequests(6);
    FinishAndExpectAll();
  }
}

// A file that has its last name is not cut: before it gets that, the entries
// of all its records are durable.
TEST_F(ScenarioTest, AnArchiveFinishedBetweenTwoSyncsOfTheJournal) {
  plan_.settings.store.max_file_age = seconds(1);
  plan_.settings.crawl.sync_interval = std::chrono::minutes(10);
  NoMoreCheckpoints();
  Page("http://a.com/", Urls("a.com", 20));
  Pages(Urls("a.com", 20));
  Begin();
  const auto finished = [&] {
    size_t count = 0;
    for (const DirEntry& entry : Must(fs_->List("job/archive"))) {
      if (entry.name.ends_with(".cdxj")) ++count;
    }
    return count;
  };
  Until([&] { return finished() == 1; });
  EXPECT_EQ(Uncovered(), 1U);
  LosePower();
  twin_->AllowRequests(20);
  FinishAndExpectAll();
}

TEST_F(ScenarioTest, AScopeSettingChangedBetweenCrashAndReplay) {
  NoMoreCheckpoints();
  Page("http://a.com/", {"http://a.com/1"});
  Page("http://a.com/1", {"http://a.com/2"});
  Page("http://a.com/2", {"http://a.com/3", "http://b.com/"});
  plan_.answers["http://a.com/3"] = {FakePage("")};
  plan_.answers["http://b.com/"] = {FakePage("")};
  Begin();
  Until([&] { return UncoveredEntry("http://a.com/2").has_value(); });
  EXPECT_EQ(Uncovered(), 1U);
  Kill();
  // The entries are taken again, under the new bounds: neither of the last
  // two is crawled, and what was archived stays.
  twin_->plan().settings.scope.max_depth = 2;
  FinishAndExpectAll();
  EXPECT_EQ(Asked("http://a.com/3"), 0U);
  EXPECT_EQ(Asked("http://b.com/"), 0U);
}

TEST_F(ScenarioTest, AParkedHostWhoseNextUrlArrivesLater) {
  plan_.settings.politeness.park_after = milliseconds(60);
  Page("http://a.com/", {"http://b.com/1", "http://a.com/1"});
  Answers("http://b.com/1", {Busy(4), FakePage(TwinPage({}, "b"))});
  plan_.errors["http://b.com/1"] = 1;
  Answers("http://a.com/1",
          {Slow(FakePage(TwinPage({"http://b.com/2"}, "")), seconds(1))});
  Page("http://b.com/2", {});
  Begin();
  Until([&] { return HasEnded("http://a.com/1"); });
  EXPECT_GE(twin_->crawl().status().parked, 1U);
  EXPECT_EQ(Asked("http://b.com/2"), 0U);
  For(milliseconds(200));
  Kill();
  FinishAndExpectAll();
}

TEST_F(ScenarioTest, AJobGoesOnWithMoreSeedsAndOtherSettings) {
  Page("http://a.com/", Urls("a.com", 4));
  Pages(Urls("a.com", 4));
  Begin();
  Until([&] { return HasEnded("http://a.com/2"); });
  Kill();
  Page("http://other.org/", {});
  twin_->web().Put("http://other.org/", FakePage(""));
  twin_->plan().finals.insert("http://other.org/");
  twin_->plan().seeds.emplace_back("http://other.org/");
  ++twin_->plan().urls;
  config::Settings& settings = twin_->plan().settings;
  settings.store.format = config::ArchiveFormat::kGzip;
  settings.crawl.memory_bytes = uint64_t{32} << 20;
  settings.crawl.disk_bytes = uint64_t{64} << 20;
  settings.url.sort_query = !settings.url.sort_query;
  // Keys depend on that one.
  EXPECT_FAILS(twin_->Open(*fs_), kInvalidArgument, "url.sort_query");
  settings.url.sort_query = !settings.url.sort_query;
  FinishAndExpectAll();
}

// Budgets.
class BudgetScenarioTest : public ScenarioTest {
 protected:
  BudgetScenarioTest() : ScenarioTest(config::Profile::kBroad) {
    plan_.settings.reputation.base = 1;
    plan_.settings.reputation.most = 2;
    plan_.settings.budget.first_queues = 1;
    std::vector<std::string> links;
    for (const char* host : {"a.com", "b.com", "c.com", "d.com"}) {
      for (const std::string& url : Urls(host, 6)) links.push_back(url);
    }
    Page("http://a.com/", links);
    for (size_t i = 0; i < links.size(); ++i) {
      Page(links[i], {links[(i * 7 + 3) % links.size()]});
    }
  }
  budget::BudgetStats Stats() {
    return twin_->crawl().frontier().budget()->stats();
  }
};

TEST_F(BudgetScenarioTest, TwoCrashesInARowWithOtherBudgetsBetween) {
  Begin();
  Until([&] { return Stats().in_failed > 3; });
  Until([&] { return ManifestNumber() > 0; });
  Kill();
  twin_->plan().settings.reputation.base = 5;
  twin_->plan().settings.reputation.policy = config::BudgetPolicy::kEqual;
  Open();
  Until([&] { return Asked("http://a.com/") > 0; });
  For(milliseconds(60));
  LosePower();
  twin_->plan().settings.reputation.base = 2;
  twin_->plan().settings.reputation.policy = config::BudgetPolicy::kInverse;
  twin_->plan().settings.budget.first_queues = 3;
  FinishAndExpectAll();
}

TEST_F(BudgetScenarioTest, AHalfDoneSplitOfQF) {
  plan_.settings.crawl.checkpoint_interval = milliseconds(10);
  for (const Crash crash : {Crash::kKill, Crash::kNothingUnsynced}) {
    NewDisk();
    Begin();
    // Each time that one is seen; what was split comes again or is where it
    // was put, never both.
    for (int i = 0; i < 4; ++i) {
      Until([&] { return Stats().is_splitting; });
      twin_->Crash(crash, *fs_, 1);
      Open();
    }
    Kill();
    FinishAndExpectAll();
  }
}

TEST_F(BudgetScenarioTest, ABeastPassDoneAgainUnderOtherBudgets) {
  plan_.settings.crawl.checkpoint_interval = milliseconds(10);
  Begin();
  int passes = 0;
  for (int i = 0; i < 6; ++i) {
    // URLs wait for a pass, or are in one, as the manifest has it.
    Until([&] { return Stats().in_drum > 0; });
    passes += Stats().in_drum > 0 ? 1 : 0;
    Kill();
    twin_->plan().settings.reputation.base = 1 + i % 3;
    twin_->plan().settings.reputation.most = 4 - i % 3;
    Open();
  }
  EXPECT_EQ(passes, 6);
  Kill();
  FinishAndExpectAll();
}

}  // namespace
}  // namespace nephila::crawl
