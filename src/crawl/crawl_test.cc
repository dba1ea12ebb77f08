// A whole crawl in one thread, with a clock, a disk and a web in memory: it can
// be stopped anywhere, and ends with the same pages.
#include "crawl/crawl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/crash_testing.h"
#include "base/random.h"
#include "config/profile.h"
#include "crawl/crawl_testing.h"
#include "job/job_folder.h"
#include "store/store_testing.h"

namespace nephila::crawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Pages = std::map<std::string, int>;

class FakeWebOfCrawl final : public Web {
 public:
  explicit FakeWebOfCrawl(FakeWeb& web) : web_(web) {}
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

std::string Links(const std::vector<std::string>& links) {
  std::string page = "<title>page</title>";
  for (const std::string& link : links) {
    page.append("<a href=\"").append(link).append("\">x</a>\n");
  }
  return page;
}

// Three hosts; a redirect, a page that fails twice, one that is gone, one that
// is denied; and what of it is archived.
void PutSmallWeb(FakeWeb* web) {
  web->Put("http://a.com/robots.txt",
           FakeText("User-agent: *\nDisallow: /no\n"));
  web->Put("http://a.com/", FakePage(Links({"/1", "/2", "/no", "//b.com/"})));
  web->Put("http://a.com/1", FakePage(Links({"/3", "/old", "/busy"})));
  web->Put("http://a.com/2", FakePage(Links({"/1", "/gone", "//c.com/x"})));
  web->Put("http://a.com/3", FakePage(Links({"/4"})));
  web->Put("http://a.com/4", FakePage(Links({"/", "/3"})));
  web->Put("http://a.com/no", FakePage(Links({"/never"})));
  web->Put("http://a.com/old", FakeRedirect("http://b.com/new"));
  web->Put("http://a.com/busy", {FakeFailure(item::FetchOutcome::kTimeout),
                                 FakeError(500), FakePage(Links({"/late"}))});
  web->Put("http://a.com/late", FakePage(""));
  web->Put("http://b.com/", FakePage(Links({"/1", "/2"})));
  web->Put("http://b.com/new", FakePage(Links({"/2"})));
  web->Put("http://b.com/1", FakePage(""));
  web->Put("http://b.com/2", FakePage(Links({"//c.com/"})));
  web->Put("http://c.com/", FakePage(""));
  web->Put("http://c.com/x", FakePage(Links({"/"})));
}

// /busy fails, says 500, and then has its page: two answers are archived.
const Pages kSmallWeb = {{"http://a.com/", 1},     {"http://a.com/1", 1},
                         {"http://a.com/2", 1},    {"http://a.com/3", 1},
                         {"http://a.com/4", 1},    {"http://a.com/old", 1},
                         {"http://a.com/busy", 2}, {"http://a.com/gone", 1},
                         {"http://a.com/late", 1}, {"http://b.com/", 1},
                         {"http://b.com/new", 1},  {"http://b.com/1", 1},
                         {"http://b.com/2", 1},    {"http://c.com/", 1},
                         {"http://c.com/x", 1}};

class CrawlTest : public testing::TestWithParam<config::Profile> {
 protected:
  CrawlTest() : settings_(config::SettingsOf(GetParam())) {
    settings_.crawl.memory_bytes = uint64_t{64} << 20;
    settings_.crawl.disk_bytes = uint64_t{256} << 20;
    settings_.crawl.checkpoint_interval = milliseconds(400);
    settings_.crawl.sync_interval = milliseconds(100);
    settings_.politeness.host_delay = milliseconds(100);
    settings_.politeness.host_delay_floor = milliseconds(100);
    settings_.politeness.server_delay = milliseconds(10);
    settings_.politeness.server_delay_floor = milliseconds(10);
    settings_.politeness.back_off = milliseconds(100);
    settings_.politeness.back_off_max = milliseconds(200);
    settings_.fetch.retry_wait = milliseconds(200);
    settings_.scope.bounds = config::ScopeBounds::kAll;
    // Of two pages with the same body both are stored whole.
    settings_.store.revisit_memory_bytes = 0;
  }

  // Opens the job in `fs`, or makes it.
  Status Open(FileSystem& fs) {
    Close();
    job::JobRequest request;
    request.settings = settings_;
    request.process_id = 1;
    request.profile = GetParam();
    request.key_seed = 7;
    request.now = clock_.WallNow();
    request.version = "test";
    NEPHILA_TRY(folder_, job::JobFolder::OpenOrCreate(fs, "job", request));
    Crawl::Parts parts{fs,        clock_,    web_of_crawl_,
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

  // Until it ends, or `turns` are over.
  Result<std::optional<CrawlEnd>> Turns(uint64_t turns) {
    for (uint64_t i = 0; i < turns; ++i) {
      NEPHILA_TRY(const auto end, crawl_->Turn(clock_.Now()));
      if (end) return end;
      clock_.Advance(milliseconds(1));
      ++turns_;
    }
    return std::optional<CrawlEnd>();
  }
  Status AddSeed() { return crawl_->AddSeed("http://a.com/"); }
  CrawlEnd RunToTheEnd() {
    const auto end = Turns(200'000);
    EXPECT_TRUE(end) << end.error().message;
    EXPECT_TRUE(end && *end) << "it goes on for ever";
    return end && *end ? **end : CrawlEnd::kStopped;
  }

  static Pages Archived(FileSystem& fs) {
    Pages pages;
    // Of each crawl thread.
    for (const char* prefix : {"nephila", "nephila-1", "nephila-2"}) {
      for (const std::string& path :
           store::ArchivePaths(fs, "job/archive", prefix)) {
        for (const store::ReadRecord& record : store::ReadArchive(fs, path)) {
          const std::string url(record.header.target_uri());
          if (record.header.type() == store::RecordType::kResponse &&
              url.starts_with("http") && !url.ends_with("/robots.txt")) {
            ++pages[url];
          }
        }
      }
    }
    return pages;
  }
  void ExpectOver() {
    const CrawlStatus status = crawl_->status();
    EXPECT_EQ(status.Imbalance(), "");
    EXPECT_EQ(status.waiting, 0U);
    uint64_t sum = 0;
    for (const auto& [url, count] : kSmallWeb) {
      sum += static_cast<uint64_t>(count);
    }
    EXPECT_EQ(status.pages, sum);
  }
  // Nothing is missing, nothing is there twice, and nothing else.
  static void ExpectAll(const Pages& pages) { EXPECT_EQ(pages, kSmallWeb); }

  FakeWeb web_;
  FakeWebOfCrawl web_of_crawl_{web_};
  ManualClock clock_;
  MemoryFileSystem fs_;
  config::Settings settings_;
  url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  std::unique_ptr<job::JobFolder> folder_;
  std::unique_ptr<Crawl> crawl_;
  uint64_t runs_ = 0;
  uint64_t turns_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Profiles, CrawlTest,
                         testing::Values(config::Profile::kSite,
                                         config::Profile::kBroad),
                         [](const auto& param) {
                           return param.param == config::Profile::kSite
                                      ? "Site"
                                      : "Broad";
                         });

TEST_P(CrawlTest, ArchivesEachPageOnceAndIsPolite) {
  PutSmallWeb(&web_);
  MustDo(Open(fs_));
  MustDo(AddSeed());
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  ExpectOver();
  EXPECT_EQ(Archived(fs_), kSmallWeb);
  EXPECT_EQ(web_.FirstEarly(milliseconds(100), milliseconds(10)), "");
  // A job that is over has nothing to do, and stays so.
  const size_t asked = web_.Asked().size();
  MustDo(Open(fs_));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(web_.Asked().size(), asked);
  ExpectOver();
}

TEST_P(CrawlTest, IsTheSameEachTime) {
  std::vector<std::string> asked[2];
  for (auto& urls : asked) {
    FakeWeb web;
    PutSmallWeb(&web);
    FakeWebOfCrawl of_crawl(web);
    MemoryFileSystem fs;
    ManualClock clock;
    job::JobRequest request;
    request.settings = settings_;
    request.key_seed = 7;
    const auto folder = Must(job::JobFolder::OpenOrCreate(fs, "job", request));
    Crawl::Parts parts{fs, clock, of_crawl, settings_, suffixes_, *folder};
    parts.one_thread = true;
    const auto crawl = Must(Crawl::Open(parts));
    MustDo(crawl->AddSeed("http://a.com/"));
    while (!Must(crawl->Turn(clock.Now()))) clock.Advance(milliseconds(1));
    urls = web.Asked();
  }
  EXPECT_EQ(asked[0], asked[1]);
  EXPECT_GT(asked[0].size(), kSmallWeb.size());
}

// Each part on its thread, in real time; what matters is seen by tsan.
TEST_P(CrawlTest, ThreadsDoTheSame) {
  settings_.crawl.threads = 3;
  settings_.crawl.merge_threads = 2;
  settings_.crawl.checkpoint_interval = milliseconds(20);
  settings_.crawl.sync_interval = milliseconds(10);
  settings_.politeness.host_delay = milliseconds(5);
  settings_.politeness.host_delay_floor = milliseconds(5);
  PutSmallWeb(&web_);
  const RealClock clock;
  job::JobRequest request;
  request.settings = settings_;
  request.key_seed = 7;
  const auto folder = Must(job::JobFolder::OpenOrCreate(fs_, "job", request));
  Crawl::Parts parts{fs_, clock, web_of_crawl_, settings_, suffixes_, *folder};
  size_t shown = 0;
  const auto crawl = Must(Crawl::Open(parts));
  MustDo(crawl->AddSeed("http://a.com/"));
  EXPECT_EQ(Must(crawl->Run([&](const CrawlStatus&) { ++shown; })),
            CrawlEnd::kFinished);
  EXPECT_GT(shown, 0U);
  EXPECT_EQ(crawl->status().Imbalance(), "");
  ExpectAll(Archived(fs_));
}

TEST_P(CrawlTest, BoundsAndStopsEndItAndItGoesOn) {
  PutSmallWeb(&web_);
  settings_.crawl.max_pages = 4;
  MustDo(Open(fs_));
  MustDo(AddSeed());
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kMaxPages);
  EXPECT_EQ(crawl_->status().pages, 4U);
  EXPECT_EQ(crawl_->status().Imbalance(), "");
  settings_.crawl.max_pages = 0;
  settings_.crawl.max_time = milliseconds(300);
  MustDo(Open(fs_));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kMaxTime);
  settings_.crawl.max_time = seconds(0);
  MustDo(Open(fs_));
  Must(Turns(300));
  crawl_->Stop();
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kStopped);
  EXPECT_EQ(crawl_->status().Imbalance(), "");
  MustDo(Open(fs_));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  ExpectOver();
  EXPECT_EQ(Archived(fs_), kSmallWeb);
  EXPECT_EQ(web_.FirstEarly(milliseconds(100), milliseconds(10)), "");
}

TEST_P(CrawlTest, SeedsAreAddedToAJob) {
  PutSmallWeb(&web_);
  web_.Put("http://d.com/", FakePage(Links({"http://a.com/1"})));
  MustDo(Open(fs_));
  EXPECT_FAILS(crawl_->AddSeed("ftp://a.com/"), kInvalidArgument,
               "seed ftp://a.com/: ");
  MustDo(AddSeed());
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  MustDo(Open(fs_));
  MustDo(crawl_->AddSeed("http://d.com/"));
  MustDo(AddSeed());
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  Pages expected = kSmallWeb;
  expected["http://d.com/"] = 1;
  EXPECT_EQ(Archived(fs_), expected);
}

// The process is gone between two turns, with no checkpoint of its own.
TEST_P(CrawlTest, AProcessThatEndsAnywhereLosesNothing) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    MemoryFileSystem fs;
    PutSmallWeb(&web_);
    MustDo(Open(fs));
    MustDo(AddSeed());
    for (int stops = 0; stops < 6; ++stops) {
      const auto end = Must(Turns(random.Below(900)));
      if (end) break;
      Close();
      fs.KillProcess();
      MustDo(Open(fs));
    }
    EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
    EXPECT_EQ(crawl_->status().Imbalance(), "");
    EXPECT_EQ(crawl_->status().waiting, 0U);
    ExpectAll(Archived(fs));
    Close();
    // The next job knows nothing of this one.
    clock_.Advance(std::chrono::hours(1));
  }
  EXPECT_EQ(web_.FirstEarly(milliseconds(100), milliseconds(10)), "");
}

// The machine stops at an operation of the disk, and what is left goes on.
TEST_P(CrawlTest, AMachineThatStopsAtAnyWriteLosesNothing) {
  uint64_t operations = 0;
  {
    FaultyFileSystem faulty(fs_);
    PutSmallWeb(&web_);
    MustDo(Open(faulty));
    MustDo(AddSeed());
    EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
    Close();
    operations = faulty.operations();
  }
  uint64_t at = 1;
  int number = 0;
  for (; at <= operations; at += StrideFor(operations, 40), ++number) {
    const Crash crash = kCrashes[static_cast<size_t>(number) % 4];
    SCOPED_TRACE(testing::Message()
                 << "operation " << at << " of " << operations << ", crash "
                 << static_cast<int>(crash));
    MemoryFileSystem fs;
    FaultyFileSystem faulty(fs, at);
    faulty.StopAt(at,
                  number % 2 == 0 ? StopStyle::kTornWrite : StopStyle::kClean);
    PutSmallWeb(&web_);
    Status status = Open(faulty);
    if (status) status = AddSeed();
    if (status) {
      const auto end = Turns(200'000);
      if (!end) status = Unexpected(end.error());
    }
    ExpectStopped(status, faulty);
    Close();
    Happen(crash, fs, at);
    if (crash != Crash::kKill) clock_.Reboot();
    const Status opened = Open(fs);
    ASSERT_TRUE(opened) << opened.error().message;
    // The seed may not have been durable.
    MustDo(AddSeed());
    ASSERT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
    EXPECT_EQ(crawl_->status().Imbalance(), "");
    EXPECT_EQ(crawl_->status().waiting, 0U);
    // An answer that comes once only is lost if the stop came before its entry.
    Pages archived = Archived(fs);
    if (archived["http://a.com/busy"] == 1) archived["http://a.com/busy"] = 2;
    ExpectAll(archived);
    Close();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace nephila::crawl
