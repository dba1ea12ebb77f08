// A whole crawl in one thread that is stopped at the worst moment, and goes on:
// redirects that are followed, revisits, budgets of retries, waits of hosts.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/crash_testing.h"
#include "base/memory_file_system.h"
#include "config/profile.h"
#include "crawl/crawl.h"
#include "crawl/crawl_testing.h"
#include "job/entry.h"
#include "job/job_folder.h"
#include "job/journal_file.h"
#include "job/journal_reader.h"
#include "store/store_testing.h"

namespace nephila::crawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Urls = std::vector<std::string>;

class WebOfTest final : public Web {
 public:
  explicit WebOfTest(FakeWeb& web) : web_(web) {}
  Result<std::unique_ptr<dns::Resolver>> MakeResolver(
      net::EventLoop& loop) override {
    return std::unique_ptr<dns::Resolver>(
        std::make_unique<FakeResolver>(web_, loop));
  }
  Result<std::unique_ptr<fetch::Fetcher>> MakeFetcher(
      net::EventLoop& loop) override {
    return std::unique_ptr<fetch::Fetcher>(
        std::make_unique<FakeFetcher>(web_, loop));
  }
  const fetch::FetchLimits& limits() const override { return limits_; }

 private:
  FakeWeb& web_;
  const fetch::FetchLimits limits_;
};

std::string Links(const Urls& links) {
  std::string page;
  for (const std::string& link : links) {
    page.append("<a href=\"").append(link).append("\">x</a>\n");
  }
  return page;
}

class RecoveryTest : public testing::Test {
 protected:
  RecoveryTest() {
    settings_.crawl.memory_bytes = uint64_t{64} << 20;
    settings_.crawl.disk_bytes = uint64_t{256} << 20;
    settings_.crawl.checkpoint_interval = milliseconds(400);
    settings_.crawl.sync_interval = milliseconds(100);
    settings_.politeness.host_delay = milliseconds(100);
    settings_.politeness.host_delay_floor = milliseconds(100);
    settings_.politeness.server_delay = milliseconds(10);
    settings_.politeness.server_delay_floor = milliseconds(10);
    settings_.fetch.retry_wait = milliseconds(200);
    settings_.scope.bounds = config::ScopeBounds::kAll;
  }

  Status Open(FileSystem& fs) {
    Close();
    job::JobRequest request;
    request.settings = settings_;
    request.process_id = 1;
    request.profile = config::Profile::kSite;
    request.key_seed = 7;
    request.now = clock_.WallNow();
    request.version = "test";
    NEPHILA_TRY(folder_, job::JobFolder::OpenOrCreate(fs, "job", request));
    Crawl::Parts parts{fs,        clock_,    web_of_test_,
                       settings_, suffixes_, *folder_};
    parts.one_thread = true;
    parts.record_seed = ++runs_;
    NEPHILA_TRY(crawl_, Crawl::Open(parts));
    return {};
  }
  void Close() {
    crawl_.reset();
    folder_.reset();
  }
  // kill -9, and the next process.
  void KillAndOpen() {
    Close();
    fs_.KillProcess();
    MustDo(Open(fs_));
  }
  // The power fails: what was not synced is gone.
  void LosePowerAndOpen() {
    Close();
    fs_.LosePower(LossMode::kNothingUnsynced);
    clock_.Reboot();
    MustDo(Open(fs_));
  }

  bool TurnsUntil(const std::function<bool()>& done, int most = 100'000) {
    for (int i = 0; i < most; ++i) {
      const auto end = crawl_->Turn(clock_.Now());
      EXPECT_TRUE(end) << end.error().message;
      if (!end) return false;
      if (done()) return true;
      if (*end) return false;
      clock_.Advance(milliseconds(1));
    }
    return false;
  }
  // Until the journal has an entry of which this is true.
  bool TurnsUntilEntry(const std::function<bool(const job::Entry&)>& wanted) {
    return TurnsUntil([&] {
      bool found = false;
      ForEachEntry(
          [&](const job::Entry& entry) { found = found || wanted(entry); });
      return found;
    });
  }
  void ForEachEntry(const std::function<void(const job::Entry&)>& take) {
    const auto files = Must(job::ListJournal(fs_, "job/journal"));
    ASSERT_FALSE(files.empty());
    auto reader = job::JournalReader::Open(fs_, "job/journal", files.front());
    if (!reader) return;
    while (true) {
      const auto next = Must(reader->Next());
      if (!next) return;
      const auto entry = job::ReadEntry(next->bytes);
      ASSERT_TRUE(entry.has_value()) << entry.error();
      take(*entry);
    }
  }
  CrawlEnd RunToTheEnd() {
    CrawlEnd why = CrawlEnd::kStopped;
    EXPECT_TRUE(TurnsUntil([&] {
      const auto end = crawl_->status().end;
      if (end) why = *end;
      return end.has_value();
    }));
    EXPECT_EQ(crawl_->status().Imbalance(), "");
    EXPECT_EQ(crawl_->status().waiting, 0U);
    return why;
  }

  // How often each URL is in the archive, as a response or as a revisit.
  std::map<std::string, int> Archived() {
    std::map<std::string, int> pages;
    for (const std::string& path :
         store::ArchivePaths(fs_, "job/archive", "nephila")) {
      for (const store::ReadRecord& record : store::ReadArchive(fs_, path)) {
        const std::string url(record.header.target_uri());
        const store::RecordType type = record.header.type();
        if ((type == store::RecordType::kResponse ||
             type == store::RecordType::kRevisit) &&
            url.starts_with("http")) {
          ++pages[url];
        }
      }
    }
    return pages;
  }
  int TimesAsked(std::string_view url) {
    const Urls asked = web_.Asked();
    return static_cast<int>(std::count(asked.begin(), asked.end(), url));
  }

  FakeWeb web_;
  WebOfTest web_of_test_{web_};
  ManualClock clock_;
  MemoryFileSystem fs_;
  config::Settings settings_ = config::SettingsOf(config::Profile::kSite);
  url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  std::unique_ptr<job::JobFolder> folder_;
  std::unique_ptr<Crawl> crawl_;
  uint64_t runs_ = 0;
};

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

}  // namespace
}  // namespace nephila::crawl
