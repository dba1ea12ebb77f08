// A whole crawl in one thread on a disk that is full now and then: it waits,
// goes on by itself, and archives each page once.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "base/crash_testing.h"
#include "base/mounted_testing.h"
#include "config/profile.h"
#include "crawl/crawl.h"
#include "crawl/crawl_testing.h"
#include "job/job_folder.h"
#include "store/store_testing.h"

namespace nephila::crawl {
namespace {

using std::chrono::milliseconds;
using Pages = std::map<std::string, int>;

constexpr uint64_t kMiB = uint64_t{1} << 20;

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

// Two hosts of some pages, each linked from the one before and the one of the
// other host; one page fails at first.
Pages PutWeb(FakeWeb* web) {
  constexpr int kPages = 12;
  Pages pages;
  for (const char* host : {"http://a.com/", "http://b.com/"}) {
    for (int i = 0; i < kPages; ++i) {
      std::string body = "<title>page</title>";
      for (const char* other : {"http://a.com/", "http://b.com/"}) {
        body.append("<a href=\"").append(other);
        body.append(std::to_string(i + 1)).append("\">x</a>\n");
      }
      body.append(500, 'x');
      const std::string url = host + (i == 0 ? "" : std::to_string(i));
      web->Put(url, FakePage(i + 1 < kPages ? body : "end"));
      pages[url] = 1;
    }
  }
  pages.erase("http://b.com/");
  web->Put("http://a.com/5",
           {FakeFailure(item::FetchOutcome::kTimeout), FakePage("late")});
  return pages;
}

class DiskFullTest : public testing::TestWithParam<config::Profile> {
 protected:
  DiskFullTest() : settings_(config::SettingsOf(GetParam())) {
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
    settings_.store.revisit_memory_bytes = 0;
    settings_.disk.floor_bytes = 0;
  }

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
  Status Begin(FileSystem& fs) {
    NEPHILA_RETURN_IF_ERROR(Open(fs));
    return crawl_->AddSeed("http://a.com/");
  }

  Result<std::optional<CrawlEnd>> Turns(uint64_t turns) {
    for (uint64_t i = 0; i < turns; ++i) {
      NEPHILA_TRY(const auto end, crawl_->Turn(clock_.Now()));
      if (end) return end;
      clock_.Advance(milliseconds(1));
    }
    return std::optional<CrawlEnd>();
  }
  CrawlEnd RunToTheEnd() {
    const auto end = Turns(200'000);
    EXPECT_TRUE(end) << end.error().message;
    EXPECT_TRUE(end && *end)
        << "it goes on for ever: " << crawl_->status().disk;
    return end && *end ? **end : CrawlEnd::kStopped;
  }
  static Pages Archived(FileSystem& fs) {
    return ArchivedIn(fs, "job/archive");
  }
  static Pages ArchivedIn(FileSystem& fs, const std::string& folder) {
    Pages pages;
    for (const std::string& path : store::ArchivePaths(fs, folder, "nephila")) {
      for (const store::ReadRecord& record : store::ReadArchive(fs, path)) {
        const std::string url(record.header.target_uri());
        if (record.header.type() == store::RecordType::kResponse &&
            url.starts_with("http") && !url.ends_with("/robots.txt")) {
          ++pages[url];
        }
      }
    }
    return pages;
  }
  void ExpectOver(FileSystem& fs) {
    EXPECT_EQ(crawl_->status().Imbalance(), "");
    EXPECT_EQ(crawl_->status().waiting, 0U);
    EXPECT_EQ(crawl_->status().disk, "");
    EXPECT_EQ(Archived(fs), pages_);
    ExpectLogInStep(fs, {"job/archive"});
  }
  // crawl.log has a line for each record, and none without.
  static void ExpectLogInStep(FileSystem& fs,
                              const std::vector<std::string>& folders) {
    std::map<std::string, int> records;
    for (const std::string& folder : folders) {
      for (const std::string& path : store::ArchivePaths(fs, folder)) {
        for (const store::ReadRecord& record : store::ReadArchive(fs, path)) {
          const store::RecordType type = record.header.type();
          if (type == store::RecordType::kResponse ||
              type == store::RecordType::kRevisit ||
              type == store::RecordType::kResource) {
            ++records[std::string(record.header.target_uri())];
          }
        }
      }
    }
    std::istringstream log(Get(fs, "job/archive/crawl.log"));
    std::map<std::string, int> lines;
    std::string line;
    while (std::getline(log, line)) {
      std::istringstream columns(line);
      std::string time;
      std::string status;
      std::string bytes;
      std::string url;
      columns >> time >> status >> bytes >> url;
      if (!status.starts_with('-')) ++lines[url];
    }
    EXPECT_EQ(lines, records);
  }
  uint64_t Free(MemoryFileSystem& fs) { return Must(fs.FreeSpace(".")); }
  // So much and no more is free.
  void SetFree(MemoryFileSystem& fs, uint64_t bytes) {
    const uint64_t used = capacity_ - Free(fs);
    capacity_ = used + bytes;
    fs.SetCapacity(capacity_);
  }
  void MakeRoom(MemoryFileSystem& fs) {
    capacity_ = MemoryFileSystem::kDefaultCapacityBytes;
    fs.SetCapacity(capacity_);
  }

  FakeWeb web_;
  FakeWebOfCrawl web_of_crawl_{web_};
  const Pages pages_ = PutWeb(&web_);
  ManualClock clock_;
  MemoryFileSystem fs_;
  uint64_t capacity_ = MemoryFileSystem::kDefaultCapacityBytes;
  config::Settings settings_;
  url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  std::unique_ptr<job::JobFolder> folder_;
  std::unique_ptr<Crawl> crawl_;
  uint64_t runs_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Profiles, DiskFullTest,
                         testing::Values(config::Profile::kSite,
                                         config::Profile::kBroad),
                         [](const auto& param) {
                           return param.param == config::Profile::kSite
                                      ? "Site"
                                      : "Broad";
                         });

TEST_P(DiskFullTest, BelowTheFloorNobodyIsAsked) {
  settings_.disk.floor_bytes = 100 * kMiB;
  settings_.disk.margin_bytes = 10 * kMiB;
  settings_.politeness.host_delay = milliseconds(300);
  settings_.politeness.host_delay_floor = milliseconds(300);
  SetFree(fs_, 90 * kMiB);
  MustDo(Begin(fs_));
  // Not even at the start.
  ASSERT_FALSE(Must(Turns(5'000)));
  EXPECT_EQ(web_.Asked().size(), 0U);
  EXPECT_TRUE(crawl_->status().disk.ends_with(
      "free, below disk.floor of 100.0 MiB; waiting"))
      << crawl_->status().disk;
  MakeRoom(fs_);
  ASSERT_FALSE(Must(Turns(1'200)));
  const size_t asked = web_.Asked().size();
  EXPECT_GT(asked, 0U);
  SetFree(fs_, 90 * kMiB);
  ASSERT_FALSE(Must(Turns(1'100)));
  const size_t more = web_.Asked().size();
  ASSERT_FALSE(Must(Turns(20'000)));
  EXPECT_EQ(web_.Asked().size(), more);
  EXPECT_EQ(crawl_->status().in_flight, 0U);
  // Above the floor, but not by the margin.
  SetFree(fs_, 105 * kMiB);
  ASSERT_FALSE(Must(Turns(3'000)));
  EXPECT_EQ(web_.Asked().size(), more);
  SetFree(fs_, 120 * kMiB);
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  ExpectOver(fs_);
}

TEST_P(DiskFullTest, AStopBelowTheFloorIsClean) {
  settings_.disk.floor_bytes = 100 * kMiB;
  MustDo(Begin(fs_));
  ASSERT_FALSE(Must(Turns(300)));
  SetFree(fs_, 90 * kMiB);
  ASSERT_FALSE(Must(Turns(3'000)));
  crawl_->Stop();
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kStopped);
  MakeRoom(fs_);
  MustDo(Open(fs_));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  ExpectOver(fs_);
}

// Whatever it is about to write: record, run, manifest, journal, segment.
TEST_P(DiskFullTest, AFullDiskIsAPause) {
  for (uint64_t turns = 0; turns < 1'000; turns += 61) {
    SCOPED_TRACE(turns);
    MemoryFileSystem fs;
    MakeRoom(fs);
    PutWeb(&web_);
    MustDo(Begin(fs));
    ASSERT_FALSE(Must(Turns(turns)));
    // Others take what the crawl itself gives back.
    const auto stay_full = [&](int seconds) {
      for (int i = 0; i < seconds; ++i) {
        SetFree(fs, turns % 2 == 0 ? 0 : 3'000);
        ASSERT_FALSE(Must(Turns(1'000)));
      }
    };
    stay_full(30);
    EXPECT_NE(crawl_->status().disk, "");
    const size_t asked = web_.Asked().size();
    stay_full(20);
    EXPECT_EQ(web_.Asked().size(), asked);
    MakeRoom(fs);
    EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
    ExpectOver(fs);
    Close();
    clock_.Advance(std::chrono::hours(1));
    if (HasFailure()) return;
  }
}

TEST_P(DiskFullTest, AStopOnAFullDiskLosesNothing) {
  for (uint64_t turns = 50; turns < 1'000; turns += 171) {
    SCOPED_TRACE(turns);
    MemoryFileSystem fs;
    MakeRoom(fs);
    PutWeb(&web_);
    MustDo(Begin(fs));
    ASSERT_FALSE(Must(Turns(turns)));
    SetFree(fs, 0);
    ASSERT_FALSE(Must(Turns(10'000)));
    crawl_->Stop();
    EXPECT_EQ(RunToTheEnd(), CrawlEnd::kStopped);
    Close();
    MakeRoom(fs);
    MustDo(Open(fs));
    EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
    ExpectOver(fs);
    Close();
    clock_.Advance(std::chrono::hours(1));
    if (HasFailure()) return;
  }
}

// Not about room, but about the log that waits for it: what was in memory when
// the process was killed is written by the next.
TEST_P(DiskFullTest, AfterAKillTheLogIsInStep) {
  for (uint64_t turns = 30; turns < 1'200; turns += 97) {
    SCOPED_TRACE(turns);
    MemoryFileSystem fs;
    PutWeb(&web_);
    MustDo(Begin(fs));
    ASSERT_FALSE(Must(Turns(turns)));
    Close();
    if (turns % 2 == 0) {
      fs.KillProcess();
    } else {
      fs.LosePower(LossMode::kTorn, turns);
      clock_.Reboot();
    }
    MustDo(Begin(fs));
    EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
    ExpectOver(fs);
    Close();
    clock_.Advance(std::chrono::hours(1));
    if (HasFailure()) return;
  }
}

// The archive has a second disk.
class TwoFoldersTest : public DiskFullTest {
 protected:
  TwoFoldersTest() {
    settings_.store.folders = {"/big", "archive"};
    disks_.Mount("/big", big_);
  }
  Pages AllArchived() {
    Pages pages = Archived(disks_);
    for (const auto& [url, count] : ArchivedIn(disks_, "/big")) {
      pages[url] += count;
    }
    return pages;
  }

  MemoryFileSystem big_;
  MountedFileSystem disks_{fs_};
};

INSTANTIATE_TEST_SUITE_P(Profiles, TwoFoldersTest,
                         testing::Values(config::Profile::kBroad),
                         [](const auto&) { return "Broad"; });

TEST_P(TwoFoldersTest, AFullOneIsNoPause) {
  for (uint64_t turns = 0; turns < 1'000; turns += 211) {
    SCOPED_TRACE(turns);
    MustDo(Begin(disks_));
    ASSERT_FALSE(Must(Turns(turns)));
    big_.SetCapacity(1);
    EXPECT_EQ(CodeOf(Turns(8'000)), "ok");
    EXPECT_GT(Archived(disks_).size(), 0U);
    // All but the index of the file that was left.
    EXPECT_EQ(AllArchived(), pages_);
    big_.SetCapacity(MemoryFileSystem::kDefaultCapacityBytes);
    EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
    EXPECT_EQ(AllArchived(), pages_);
    Close();
    MustDo(RemoveAll(disks_, "job"));
    for (const DirEntry& entry : Must(disks_.List("/big"))) {
      MustDo(disks_.Remove("/big/" + entry.name));
    }
    PutWeb(&web_);
    clock_.Advance(std::chrono::hours(1));
    if (HasFailure()) return;
  }
}

TEST_P(TwoFoldersTest, ARestartFindsWhatIsInBoth) {
  MustDo(Begin(disks_));
  ASSERT_FALSE(Must(Turns(500)));
  big_.SetCapacity(1);
  ASSERT_FALSE(Must(Turns(300)));
  Close();
  // No checkpoint: pages are read from both folders.
  fs_.KillProcess();
  big_.KillProcess();
  MustDo(Open(disks_));
  ASSERT_FALSE(Must(Turns(100)));
  big_.SetCapacity(MemoryFileSystem::kDefaultCapacityBytes);
  settings_.store.folders = {"archive"};
  MustDo(Open(disks_));
  EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
  EXPECT_EQ(AllArchived(), pages_);
  ExpectLogInStep(disks_, {"job/archive", "/big"});
  EXPECT_GT(ArchivedIn(disks_, "/big").size(), 0U);
  // It is not forgotten though it is no longer in the settings.
  Close();
  MustDo(disks_.Remove("/big/nephila-archive"));
  EXPECT_FAILS(Open(disks_), kNotFound, "archive folder /big: ");
}

// The disk is full for a while from any operation on.
class OneRefusalTest : public DiskFullTest {
 protected:
  // The operations of a crawl that nothing is refused.
  std::vector<Operation> Operations() {
    FaultyFileSystem faulty(fs_);
    PutWeb(&web_);
    MustDo(Begin(faulty));
    begun_ = faulty.operations();
    EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
    Close();
    return faulty.log();
  }
  void Refuse(const Operation& operation, uint64_t times) {
    SCOPED_TRACE(DescribeOperation(operation));
    MemoryFileSystem fs;
    FaultyFileSystem faulty(fs, operation.number);
    PutWeb(&web_);
    faulty.FailAt(operation.number, Fault::kNoSpace, times);
    Status status = Begin(faulty);
    if (status) {
      const auto end = Turns(200'000);
      if (!end) status = Unexpected(end.error());
    }
    if (!status) {
      // A sync is never tried again, and a job that cannot be opened is opened
      // when there is room.
      EXPECT_TRUE(status.error().message.find("sync") != std::string::npos ||
                  operation.number <= begun_)
          << status.error().message;
      Close();
      faulty.Heal();
      fs.KillProcess();
      const Status again = Begin(fs);
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(RunToTheEnd(), CrawlEnd::kFinished);
    }
    ExpectOver(fs);
    Close();
    clock_.Advance(std::chrono::hours(1));
  }

  uint64_t begun_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Profiles, OneRefusalTest,
                         testing::Values(config::Profile::kSite,
                                         config::Profile::kBroad),
                         [](const auto& param) {
                           return param.param == config::Profile::kSite
                                      ? "Site"
                                      : "Broad";
                         });

TEST_P(OneRefusalTest, AnywhereIsAPause) {
  const std::vector<Operation> operations = Operations();
  const uint64_t stride = StrideFor(operations.size(), 60);
  for (uint64_t i = 0; i < operations.size(); i += stride) {
    if (operations[i].kind == OperationKind::kRemove) continue;
    Refuse(operations[i], 1 + i % 5);
    if (HasFailure()) return;
  }
}

TEST_P(OneRefusalTest, OfEachKindOfFileIsAPause) {
  const std::vector<Operation> operations = Operations();
  for (const char* part :
       {"archive/nephila-", "archive/crawl.log", ".cdxj", "journal/journal-",
        "manifests/manifest-", "seen/", "robots/", "ready/"}) {
    std::optional<Operation> last;
    int left = 3;
    for (const Operation& operation : operations) {
      if (operation.number <= begun_ || left == 0 ||
          operation.kind == OperationKind::kSync ||
          operation.kind == OperationKind::kSyncDir ||
          operation.kind == OperationKind::kRemove ||
          operation.path.find(part) == std::string::npos) {
        continue;
      }
      --left;
      last = operation;
      Refuse(operation, 7);
      if (HasFailure()) return;
    }
    EXPECT_TRUE(last) << part << " is never written";
  }
}

// What is no want of space ends the crawl at once, with the name of the file.
TEST_P(OneRefusalTest, AnyOtherFailureEndsItAndNamesTheFile) {
  const std::vector<Operation> operations = Operations();
  for (const auto& [fault, kind, part] :
       std::vector<std::tuple<Fault, OperationKind, std::string>>{
           {Fault::kEio, OperationKind::kWrite, "archive/nephila-"},
           {Fault::kEio, OperationKind::kWrite, "archive/crawl.log"},
           {Fault::kEio, OperationKind::kWrite, "journal/journal-"},
           {Fault::kEio, OperationKind::kWrite, "manifests/manifest-"},
           {Fault::kEio, OperationKind::kWrite, "seen/"},
           {Fault::kEio, OperationKind::kWrite, "robots/"},
           {Fault::kEio, OperationKind::kWrite, "ready/"},
           {Fault::kEio, OperationKind::kWrite, "contacts/"},
           {Fault::kNoSpace, OperationKind::kSync, "archive/nephila-"},
           {Fault::kNoSpace, OperationKind::kSync, "archive/crawl.log"},
           {Fault::kNoSpace, OperationKind::kSync, "journal/journal-"},
           {Fault::kNoSpace, OperationKind::kSync, "manifests/manifest-"},
           {Fault::kNoSpace, OperationKind::kSync, "seen/"},
           {Fault::kNoSpace, OperationKind::kSync, "robots/"},
           {Fault::kNoSpace, OperationKind::kSync, "ready/"}}) {
    const auto found = std::find_if(
        operations.begin(), operations.end(),
        [this, of = kind, name = part](const Operation& operation) {
          return operation.number > begun_ && operation.kind == of &&
                 operation.path.find(name) != std::string::npos;
        });
    ASSERT_NE(found, operations.end()) << part;
    SCOPED_TRACE(DescribeOperation(*found));
    MemoryFileSystem fs;
    FaultyFileSystem faulty(fs, 1);
    PutWeb(&web_);
    MustDo(Begin(faulty));
    faulty.FailAt(found->number, fault);
    const auto end = Turns(200'000);
    ASSERT_FALSE(end.has_value());
    EXPECT_EQ(ErrorCodeName(end.error().code), "i/o error");
    EXPECT_NE(end.error().message.find(part), std::string::npos)
        << end.error().message;
    // At once, and not after a second try.
    for (const Operation& operation : faulty.log()) {
      EXPECT_TRUE(operation.number <= found->number ||
                  operation.kind == OperationKind::kRemove ||
                  operation.path != found->path)
          << DescribeOperation(operation);
    }
    Close();
    clock_.Advance(std::chrono::hours(1));
  }
}

}  // namespace
}  // namespace nephila::crawl
