// A crawl that is stopped at the worst moment, and goes on: redirects that are
// followed, revisits, budgets of retries, waits of hosts.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "crawl/recovery_testing.h"

namespace nephila::crawl {
namespace {

bool IsHop(const job::Entry& entry, job::EntryKind kind) {
  return entry.kind == kind && entry.goes_on;
}

// With the hop before the manifest, and behind it.
class HopTest : public RecoveryTest,
                public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Checkpointed, HopTest, testing::Bool());

TEST_P(HopTest, ARobotsTxtGoesOnBehindTheRedirectsThatWereFollowed) {
  const bool checkpointed = GetParam();
  settings_.crawl.checkpoint_interval =
      checkpointed ? milliseconds(1) : milliseconds(100'000);
  web_.Put("http://a.com/robots.txt", FakeRedirect("http://b.com/1"));
  web_.Put("http://b.com/1", FakeRedirect("http://c.com/2"));
  web_.Put("http://c.com/2", FakeText("User-agent: *\nDisallow: /no\n"));
  web_.Put("http://a.com/", FakePage(Links({"/yes", "/no"})));
  web_.Put("http://a.com/yes", FakePage(""));
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://a.com/"));
  ASSERT_TRUE(TurnsUntilEntry([](const job::Entry& entry) {
    return IsHop(entry, job::EntryKind::kRobots) &&
           entry.next == "http://c.com/2";
  }));
  // The next hop is in flight, or waits for its host.
  for (int i = 0; i < (checkpointed ? 50 : 2); ++i) {
    Must(crawl_->Turn(clock_.Now()));
  }
  KillAndOpen();
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(Archived(),
            (std::map<std::string, int>{{"http://a.com/robots.txt", 1},
                                        {"http://b.com/1", 1},
                                        {"http://c.com/2", 1},
                                        {"http://a.com/", 1},
                                        {"http://a.com/yes", 1}}));
  EXPECT_EQ(TimesAsked("http://a.com/robots.txt"), 1);
  EXPECT_EQ(TimesAsked("http://b.com/1"), 1);
  EXPECT_LE(TimesAsked("http://c.com/2"), 2);
  EXPECT_EQ(crawl_->status().robots, 3U);
  EXPECT_EQ(web_.FirstEarly(milliseconds(100), milliseconds(10)), "");
}

TEST_P(HopTest, ARedirectToItsOwnKeyIsFollowedOnceByTwoProcesses) {
  const bool checkpointed = GetParam();
  settings_.crawl.checkpoint_interval =
      checkpointed ? milliseconds(1) : milliseconds(100'000);
  web_.Put("http://a.com/", FakePage(Links({"/x"})));
  web_.Put("http://a.com/x", FakeRedirect("/x?PHPSESSID=1"));
  web_.Put("http://a.com/x?PHPSESSID=1", FakeRedirect("/x?PHPSESSID=2"));
  web_.Put("http://a.com/x?PHPSESSID=2", FakePage(Links({"/y"})));
  web_.Put("http://a.com/y", FakePage(""));
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://a.com/"));
  for (const char* next :
       {"http://a.com/x?PHPSESSID=1", "http://a.com/x?PHPSESSID=2"}) {
    ASSERT_TRUE(TurnsUntilEntry([next](const job::Entry& entry) {
      return IsHop(entry, job::EntryKind::kPage) && entry.next == next;
    }));
    for (int i = 0; i < (checkpointed ? 50 : 0); ++i) {
      Must(crawl_->Turn(clock_.Now()));
    }
    KillAndOpen();
  }
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(Archived(),
            (std::map<std::string, int>{{"http://a.com/robots.txt", 1},
                                        {"http://a.com/", 1},
                                        {"http://a.com/x", 1},
                                        {"http://a.com/x?PHPSESSID=1", 1},
                                        {"http://a.com/x?PHPSESSID=2", 1},
                                        {"http://a.com/y", 1}}));
  EXPECT_EQ(crawl_->status().pages, 5U);
  EXPECT_EQ(web_.FirstEarly(milliseconds(100), milliseconds(10)), "");
}

// It has the key of an address that is allowed, and is not.
TEST_F(RecoveryTest, ARedirectToItsOwnKeyIsNotFollowedWhereRobotsTxtForbidsIt) {
  web_.Put("http://a.com/robots.txt",
           FakeText("User-agent: *\nDisallow: /*PHPSESSID\n"));
  web_.Put("http://a.com/", FakePage(Links({"/x"})));
  web_.Put("http://a.com/x", FakeRedirect("/x?PHPSESSID=1"));
  web_.Put("http://a.com/x?PHPSESSID=1", FakePage(""));
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://a.com/"));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(TimesAsked("http://a.com/x"), 1);
  EXPECT_EQ(TimesAsked("http://a.com/x?PHPSESSID=1"), 0);
  for (const auto& stage : crawl_->status().stages) {
    if (stage.name != "robots") continue;
    EXPECT_EQ(stage.dropped,
              (std::vector<std::pair<std::string, uint64_t>>{{"denied", 1}}));
  }
}

// A page that names many ports of a host gets it so many requests and no more.
TEST_F(RecoveryTest, PortsBeyondTheLimitAreDropped) {
  settings_.robots.max_ports_per_host = 2;
  settings_.scope.bounds = config::ScopeBounds::kAll;
  web_.Put("http://a.com/",
           FakePage(Links({"http://b.com/", "http://b.com:8001/",
                           "http://b.com:8002/", "http://b.com:8003/",
                           "http://b.com:8004/", "https://b.com/"})));
  for (const char* url : {"http://b.com/", "https://b.com/",
                          "http://b.com:8001/", "http://b.com:8002/"}) {
    web_.Put(url, FakePage(""));
  }
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://a.com/"));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(TimesAsked("http://b.com/"), 1);
  EXPECT_EQ(TimesAsked("https://b.com/"), 1);
  EXPECT_EQ(TimesAsked("http://b.com:8002/"), 1);
  EXPECT_EQ(TimesAsked("http://b.com:8003/robots.txt"), 0);
  EXPECT_EQ(TimesAsked("http://b.com:8004/robots.txt"), 0);
  for (const auto& stage : crawl_->status().stages) {
    if (stage.name != "robots") continue;
    EXPECT_EQ(
        stage.dropped,
        (std::vector<std::pair<std::string, uint64_t>>{{"too-many-ports", 2}}));
  }
}

TEST_F(RecoveryTest, ARetryOfAnEarlierProcessKeepsItsBudget) {
  settings_ = config::SettingsOf(config::Profile::kBroad);
  settings_.crawl.memory_bytes = uint64_t{64} << 20;
  settings_.crawl.disk_bytes = uint64_t{256} << 20;
  settings_.politeness.host_delay = milliseconds(100);
  settings_.politeness.host_delay_floor = milliseconds(100);
  settings_.politeness.back_off = milliseconds(100);
  settings_.fetch.retry_wait = milliseconds(200);
  web_.Put("http://a.com/",
           {FakeFailure(item::FetchOutcome::kTimeout), FakePage("")});
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://a.com/"));
  const auto is_page = [](const job::Entry& entry) {
    return entry.kind == job::EntryKind::kPage;
  };
  ASSERT_TRUE(TurnsUntilEntry(is_page));
  KillAndOpen();
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  std::vector<uint64_t> budgets;
  ForEachEntry([&](const job::Entry& entry) {
    if (is_page(entry)) budgets.push_back(entry.budget);
  });
  const auto base = static_cast<uint64_t>(settings_.reputation.base);
  EXPECT_EQ(budgets, (std::vector<uint64_t>{base, base}));
}

// A hop's server asks for a pause: its host waits, not that of the record.
TEST_F(RecoveryTest, ARetryAfterOfAHopHoldsForItsHost) {
  settings_.crawl.checkpoint_interval = seconds(1000);
  FakeAnswer busy = FakeRedirect("http://c.com/r");
  busy.fields.emplace_back("Retry-After", "20");
  web_.Put("http://a.com/robots.txt", FakeRedirect("http://b.com/r"));
  web_.Put("http://b.com/r", busy);
  web_.Put("http://c.com/r", FakeText(""));
  web_.Put("http://a.com/", FakePage(Links({"http://b.com/"})));
  web_.Put("http://b.com/", FakePage(""));
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://a.com/"));
  ASSERT_TRUE(TurnsUntilEntry([](const job::Entry& entry) {
    return entry.goes_on && entry.next == "http://c.com/r";
  }));
  const MonoTime then = clock_.Now();
  KillAndOpen();
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  MonoTime of_a{};
  MonoTime of_b = MonoTime::max();
  for (const FakeContact& contact : web_.log()) {
    if (contact.contact <= then) continue;
    if (contact.host == "a.com") of_a = std::max(of_a, contact.contact);
    if (contact.host == "b.com") of_b = std::min(of_b, contact.contact);
  }
  EXPECT_LT(of_a, then + seconds(10));
  EXPECT_GE(of_b, then + seconds(19));
}

// Of three hosts one was in flight, one had its answer and one had its turn
// before it.
class ContactedTest : public RecoveryTest {
 protected:
  void Begin() {
    settings_.politeness.host_delay = seconds(10);
    settings_.politeness.host_delay_floor = seconds(10);
    settings_.crawl.checkpoint_interval = milliseconds(100);
    settings_.crawl.max_transfers = 1;
    FakeAnswer slow = FakePage("");
    slow.takes = seconds(5);
    for (const char* host : {"a", "b", "c"}) {
      const std::string site = std::string("http://") + host + ".com/";
      web_.Put(site + "robots.txt", FakeText(""));
      web_.Put(site, FakePage(""));
    }
    web_.Put("http://b.com/robots.txt", {slow, FakeText("")});
    MustDo(Open(fs_));
    for (const char* host : {"a", "b", "c"}) {
      MustDo(crawl_->AddSeed(std::string("http://") + host + ".com/"));
    }
    ASSERT_TRUE(TurnsUntil([this] {
      return TimesAsked("http://b.com/robots.txt") == 1 &&
             TimesAsked("http://a.com/robots.txt") == 1;
    }));
    ASSERT_EQ(TimesAsked("http://c.com/robots.txt"), 0);
  }
  // From the start of the next process, in seconds.
  std::map<std::string, double> FirstContacts() {
    const MonoTime start = clock_.Now();
    const size_t before = web_.log().size();
    EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
    std::map<std::string, double> first;
    const auto log = web_.log();
    for (size_t i = before; i < log.size(); ++i) {
      first.emplace(log[i].host, Seconds(log[i].contact - start));
    }
    return first;
  }
};

TEST_F(ContactedTest, AfterAKillOnlyThoseWaitWhoMayHaveBeenAsked) {
  Begin();
  // Also in the time from a checkpoint to the next.
  TurnsUntil([] { return false; }, 150);
  KillAndOpen();
  const auto first = FirstContacts();
  EXPECT_GE(first.at("a.com"), 10 - 0.2) << "its answer had come";
  EXPECT_GE(first.at("b.com"), 10) << "it was in flight";
  EXPECT_LT(first.at("c.com"), 1);
}

TEST_F(ContactedTest, AProcessThatTakesNoCheckpointLeavesWordToo) {
  Begin();
  TurnsUntil([] { return false; }, 150);
  settings_.crawl.checkpoint_interval = seconds(1000);
  KillAndOpen();
  ASSERT_TRUE(TurnsUntil(
      [this] { return TimesAsked("http://c.com/robots.txt") == 1; }));
  KillAndOpen();
  const auto first = FirstContacts();
  EXPECT_GE(first.at("a.com"), 10 - 0.3);
  EXPECT_GE(first.at("b.com"), 10 - 0.1);
  EXPECT_GE(first.at("c.com"), 10);
}

TEST_F(ContactedTest, AfterALossOfPowerAllWait) {
  Begin();
  LosePowerAndOpen();
  for (const auto& [host, when] : FirstContacts()) {
    EXPECT_GE(when, 10) << host;
  }
}

TEST_F(ContactedTest, WithoutTheLogAllWait) {
  Begin();
  Close();
  for (const std::string& name : Names(fs_, "job/contacts")) {
    MustDo(fs_.Remove("job/contacts/" + name));
  }
  MustDo(Open(fs_));
  for (const auto& [host, when] : FirstContacts()) {
    EXPECT_GE(when, 10) << host;
  }
}

// The journal knows how long bodies were, of hops too.
TEST_F(RecoveryTest, BytesAreCountedTheSameByTheNextProcess) {
  FakeAnswer redirect = FakeRedirect("/x?PHPSESSID=1");
  redirect.body = "moved";
  web_.Put("http://a.com/", FakePage(Links({"/x"})));
  web_.Put("http://a.com/x", redirect);
  web_.Put("http://a.com/x?PHPSESSID=1", FakePage("<p>here</p>"));
  settings_.crawl.checkpoint_interval = seconds(1000);
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://a.com/"));
  ASSERT_TRUE(TurnsUntil([&] { return crawl_->status().pages == 3; }));
  const uint64_t bytes = crawl_->status().bytes;
  KillAndOpen();
  EXPECT_EQ(crawl_->status().pages, 3U);
  EXPECT_EQ(crawl_->status().bytes, bytes);
}

// Two pages with one body: the second is a revisit, and its links, which are
// relative, come from the body of the first.
class RevisitTest : public RecoveryTest {
 protected:
  RevisitTest() {
    settings_.store.revisit_min_bytes = 1;
    std::string body = Links({"one", "two"});
    web_.Put("http://a.com/", FakePage(Links({"/d/", "/e/"})));
    web_.Put("http://a.com/d/", FakePage(body));
    web_.Put("http://a.com/e/", FakePage(body));
    for (const char* page : {"d/one", "d/two", "e/one", "e/two"}) {
      web_.Put("http://a.com/" + std::string(page), FakePage(page));
    }
  }
  void RunToTheRevisit() {
    MustDo(Open(fs_));
    MustDo(crawl_->AddSeed("http://a.com/"));
    ASSERT_TRUE(TurnsUntilEntry(
        [](const job::Entry& entry) { return entry.original.has_value(); }));
  }
  void ExpectAll() {
    EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
    EXPECT_EQ(Archived(),
              (std::map<std::string, int>{{"http://a.com/robots.txt", 1},
                                          {"http://a.com/", 1},
                                          {"http://a.com/d/", 1},
                                          {"http://a.com/e/", 1},
                                          {"http://a.com/d/one", 1},
                                          {"http://a.com/d/two", 1},
                                          {"http://a.com/e/one", 1},
                                          {"http://a.com/e/two", 1}}));
    EXPECT_EQ(crawl_->status().pages, 7U);
  }
};

TEST_F(RevisitTest, ItsLinksAreThoseOfTheRecordThatItNames) {
  settings_.crawl.checkpoint_interval = seconds(1000);
  RunToTheRevisit();
  KillAndOpen();
  ExpectAll();
  for (const char* url : {"http://a.com/d/", "http://a.com/e/"}) {
    EXPECT_EQ(TimesAsked(url), 1) << url;
  }
}

TEST_F(RevisitTest, NothingIsLostWithThePower) {
  RunToTheRevisit();
  LosePowerAndOpen();
  ExpectAll();
}

// Somebody took the file of the original away: the page is fetched again.
TEST_F(RevisitTest, AnOriginalThatIsGoneCostsAFetch) {
  settings_.store.max_file_bytes = 1;  // a file for each page
  settings_.crawl.checkpoint_interval = seconds(1000);
  RunToTheRevisit();
  std::optional<job::ArchivePlace> original;
  ForEachEntry([&](const job::Entry& entry) {
    if (entry.original) original = entry.original;
  });
  ASSERT_TRUE(original.has_value());
  Close();
  fs_.KillProcess();
  const Urls paths = store::ArchivePaths(fs_, "job/archive", "nephila");
  ASSERT_GE(paths.size(), original->serial);
  MustDo(fs_.Remove(paths[original->serial - 1]));
  MustDo(Open(fs_));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(TimesAsked("http://a.com/e/"), 2);
  for (const char* page : {"e/one", "e/two"}) {
    EXPECT_EQ(Archived()["http://a.com/" + std::string(page)], 1) << page;
  }
}

// With what `site` has for failures.
TEST_F(RecoveryTest, ASiteCrawlWithADeadHostEndsWithinMinutes) {
  const config::Settings site = config::SettingsOf(config::Profile::kSite);
  settings_.politeness = site.politeness;
  settings_.fetch = site.fetch;
  web_.FailName("dead.com", std::vector(1000, dns::Outcome::kServerFailure));
  web_.Put("http://a.com/",
           FakePage(Links({"http://dead.com/", "http://dead.com/1",
                           "http://silent.com/", "http://dies.com/"})));
  web_.Put("http://silent.com/robots.txt",
           FakeFailure(item::FetchOutcome::kTimeout));
  Urls links;
  for (int i = 0; i < 50; ++i) {
    links.push_back("/" + std::to_string(i));
    web_.Put("http://dies.com" + links.back(),
             FakeFailure(item::FetchOutcome::kConnectFailed));
  }
  web_.Put("http://dies.com/", FakePage(Links(links)));
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://a.com/"));
  const MonoTime begin = clock_.Now();
  bool ended = false;
  while (!ended && clock_.Now() - begin < std::chrono::hours(1)) {
    ended = Must(crawl_->Turn(clock_.Now())).has_value();
    clock_.Advance(milliseconds(20));
  }
  EXPECT_TRUE(ended);
  EXPECT_LT(clock_.Now() - begin, std::chrono::minutes(20));
  EXPECT_EQ(crawl_->status().Imbalance(), "");
  EXPECT_EQ(crawl_->status().pages, 2U);
  uint64_t unreachable = 0;
  for (const auto& stage : crawl_->status().stages) {
    for (const auto& [reason, count] : stage.dropped) {
      if (reason == "unreachable") unreachable = count;
    }
  }
  EXPECT_EQ(unreachable, 3U);
}

}  // namespace
}  // namespace nephila::crawl
