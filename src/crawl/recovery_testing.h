// A whole crawl in one thread, with a clock, a disk and a web in memory, that a
// test stops where it wants. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/crash_testing.h"
#include "base/file_testing.h"
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

inline std::string Links(const Urls& links) {
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
    parts.on_read = on_read_;
    parts.on_take = on_take_;
    parts.on_quarantine = [this](std::string_view url) {
      quarantined_.emplace_back(url);
    };
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
  std::function<void(std::string_view)> on_read_;
  std::function<void(std::string_view)> on_take_;
  Urls quarantined_;
};

}  // namespace nephila::crawl
