// A dispatcher and its downloaders on one loop, in front of a FakeWeb, with
// archive and journal in memory and a clock that the test moves. The frontier's
// side is the test's. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "config/settings.h"
#include "crawl/crawl_testing.h"
#include "crawl/dispatcher.h"
#include "crawl/downloader.h"
#include "crawl/visit_links.h"
#include "item/url_record.h"
#include "job/entry.h"
#include "job/journal.h"
#include "job/journal_reader.h"
#include "net/event_loop.h"
#include "store/store.h"
#include "store/store_testing.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"
#include "url/record_keys.h"

namespace nephila::crawl {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

class DispatchTest : public testing::Test {
 protected:
  static constexpr uint64_t kSeed = 7;

  DispatchTest() {
    settings_.politeness.host_delay = seconds(1);
    settings_.politeness.host_delay_floor = seconds(1);
    settings_.politeness.server_delay = milliseconds(100);
    settings_.politeness.server_delay_floor = milliseconds(100);
  }

  // Once the settings are as the test wants them.
  void Start(size_t downloaders = 1, size_t max_in_flight = 100) {
    MustDo(fs_.MakeDir(job_));
    MustDo(fs_.MakeDir(job_ + "/journal"));
    journal_ = Must(job::Journal::Open(fs_, job_ + "/journal", {}, 1));
    dispatcher_ = std::make_unique<Dispatcher>(
        PartsOfDispatcher(downloaders, max_in_flight));
    for (size_t i = 0; i < downloaders; ++i) AddDownloader(i);
  }

  // The end of a process; another Start is another job.
  void Stop() {
    dispatcher_.reset();
    downloaders_.clear();
    fetchers_.clear();
    stores_.clear();
    journal_.reset();
    job_ += "-next";
  }

  std::string RecordOf(std::string_view url, uint32_t flags = 0) {
    const auto canonical = canonicalizer_.Canonicalize(url, nullptr);
    NEPHILA_CHECK(canonical);
    item::UrlRecord record = url::MakeUrlRecord(*canonical);
    record.flags = flags;
    record.depth = 2;
    record.hop_path = "LL";
    record.parent = "http://parent.test/";
    std::string bytes;
    item::AppendUrlRecord(record, bytes);
    return bytes;
  }

  VisitPtr Page(std::string_view url, uint32_t flags = 0) {
    auto visit = std::make_unique<Visit>();
    visit->record = RecordOf(url, flags);
    visit->place = ++places_;
    return visit;
  }

  VisitPtr Robots(std::string_view origin) {
    auto visit = std::make_unique<Visit>();
    visit->kind = item::FetchKind::kRobots;
    visit->record = RecordOf(origin);
    return visit;
  }

  // Where the robots.txt of a site is redirected to, if it is not the one of
  // `origin`.
  VisitPtr RobotsTarget(std::string_view origin, std::string_view target) {
    VisitPtr visit = Robots(origin);
    std::string parent;
    auto record = item::ReadUrlRecord(visit->record, parent);
    EXPECT_TRUE(record.has_value());
    record->target = target;
    record->followed = 1;
    std::string bytes;
    AppendUrlRecord(*record, bytes);
    visit->record = bytes;
    visit->attempt = 2;
    return visit;
  }

  void Give(VisitPtr visit) {
    std::vector<VisitPtr> visits;
    visits.push_back(std::move(visit));
    dispatcher_->Take(std::move(visits));
  }
  void GivePages(const std::vector<std::string>& urls) {
    std::vector<VisitPtr> visits;
    visits.reserve(urls.size());
    for (const std::string& url : urls) visits.push_back(Page(url));
    dispatcher_->Take(std::move(visits));
  }

  // False if it did not come to pass within `most`.
  bool RunUntil(const std::function<bool()>& done, nanoseconds most = hours(1),
                nanoseconds step = milliseconds(5)) {
    const MonoTime end = clock_.Now() + most;
    for (;;) {
      while (loop_->RunOnce(clock_.Now()) > 0) {
      }
      if (done()) return true;
      if (clock_.Now() >= end) return false;
      clock_.Advance(step);
    }
  }
  bool RunUntilFinished(size_t count, nanoseconds most = hours(1)) {
    return RunUntil([&] { return finished_.size() >= count; }, most);
  }
  void RunFor(nanoseconds length, nanoseconds step = milliseconds(5)) {
    RunUntil([] { return false; }, length, step);
  }

  static std::vector<item::UrlRecord> LinksOf(
      const FinishedVisit& finished, std::deque<std::string>* parents) {
    std::vector<item::UrlRecord> links;
    VisitLinks all(finished);
    while (true) {
      const auto link = all.Next();
      EXPECT_TRUE(link.has_value());
      if (!link.has_value() || !*link) return links;
      // Views into texts that stay where they are.
      item::UrlRecord& kept = links.emplace_back(**link);
      for (std::string_view* text : {&kept.url, &kept.parent, &kept.hop_path}) {
        *text = parents->emplace_back(*text);
      }
    }
  }
  static std::vector<std::string> LinkUrlsOf(const FinishedVisit& finished) {
    std::deque<std::string> parents;
    std::vector<std::string> urls;
    for (const item::UrlRecord& link : LinksOf(finished, &parents)) {
      urls.emplace_back(link.url);
    }
    return urls;
  }

  // An entry of the journal; its views live as long as the test.
  job::Entry EntryOf(uint64_t number) {
    job::JournalReader reader = Must(journal_->Read(number));
    const auto entry = Must(reader.Next());
    NEPHILA_CHECK(entry && entry->number == number);
    texts_.push_back(std::make_unique<std::string>(entry->bytes));
    return *job::ReadEntry(*texts_.back());
  }

  // Target URIs of the records of that type, in all streams.
  std::vector<std::string> Archived(store::RecordType type) {
    std::vector<std::string> urls;
    for (size_t i = 0; i < stores_.size(); ++i) {
      MustDo(stores_[i]->Sync());
      const std::string folder = job_ + "/archive" + std::to_string(i);
      for (const std::string& path : store::ArchivePaths(fs_, folder)) {
        for (const store::ReadRecord& record : store::ReadArchive(fs_, path)) {
          if (record.header.type() != type) continue;
          urls.emplace_back(record.header.target_uri());
        }
      }
    }
    return urls;
  }
  std::string CrawlLog(size_t stream = 0) {
    MustDo(stores_[stream]->Sync());
    return Get(fs_, job_ + "/crawl" + std::to_string(stream) + ".log");
  }

  std::string job_ = "job";
  uint64_t max_links_bytes_ = UINT64_MAX;
  // Of what the downloaders finish.
  std::unique_ptr<ByteBudget> in_transit_ =
      std::make_unique<ByteBudget>(uint64_t{8} << 20);
  ManualClock clock_;
  std::unique_ptr<net::EventLoop> loop_ = Must(net::EventLoop::Make(clock_));
  MemoryFileSystem fs_;
  config::Settings settings_;
  fetch::FetchLimits limits_;
  url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  url::Canonicalizer canonicalizer_{settings_.url, suffixes_, kSeed};
  FakeWeb web_;
  FakeResolver resolver_{web_, *loop_};
  std::unique_ptr<job::Journal> journal_;
  std::vector<std::unique_ptr<store::Store>> stores_;
  std::vector<std::unique_ptr<FakeFetcher>> fetchers_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::vector<std::unique_ptr<Downloader>> downloaders_;

  std::vector<FinishedVisit> finished_;
  std::vector<ParkedVisit> parked_;
  std::vector<HostNote> notes_;
  std::vector<size_t> wants_;
  std::vector<Error> errors_;
  std::vector<size_t> started_;  // by downloader
  std::function<void(const FinishedVisit&)> on_finished_;
  std::function<Status(const std::vector<politeness::Lease>&)> before_leases_;
  std::function<std::optional<nanoseconds>(std::string_view)> site_delay_;

 private:
  Dispatcher::Parts PartsOfDispatcher(size_t downloaders,
                                      size_t max_in_flight) {
    Dispatcher::Parts parts{.loop = *loop_,
                            .resolver = resolver_,
                            .settings = settings_,
                            .suffixes = suffixes_,
                            .seed = kSeed,
                            .max_in_flight = max_in_flight,
                            .downloaders = downloaders,
                            .restarted = false,
                            .before_leases = before_leases_,
                            .start = nullptr,
                            .released = nullptr,
                            .end_slow = nullptr,
                            .park = nullptr,
                            .note = nullptr,
                            .want = nullptr,
                            .site_delay = site_delay_};
    started_.assign(downloaders, 0);
    parts.start = [this](size_t downloader, VisitPtr visit) {
      ++started_[downloader];
      downloaders_[downloader]->Start(std::move(visit));
    };
    parts.released = [this](size_t downloader, uint64_t lease, Waits waits) {
      downloaders_[downloader]->Released(lease, waits);
    };
    parts.end_slow = [this](size_t downloader, uint64_t lease) {
      downloaders_[downloader]->EndSlow(lease);
    };
    parts.park = [this](ParkedVisit visit) {
      parked_.push_back(std::move(visit));
    };
    parts.note = [this](HostNote note) { notes_.push_back(std::move(note)); };
    parts.want = [this](size_t count) { wants_.push_back(count); };
    return parts;
  }

  void AddDownloader(size_t number) {
    store::StoreOptions options;
    options.folder = job_ + "/archive" + std::to_string(number);
    options.log_path = job_ + "/crawl" + std::to_string(number) + ".log";
    options.seed = 1 + number;
    options.stream = static_cast<uint32_t>(number);
    stores_.push_back(
        Must(store::Store::OpenAt(fs_, clock_, options, std::nullopt)));
    fetchers_.push_back(std::make_unique<FakeFetcher>(web_, *loop_));
    Downloader::Parts parts{.loop = *loop_,
                            .fetcher = *fetchers_.back(),
                            .limits = limits_,
                            .store = *stores_.back(),
                            .journal = *journal_,
                            .settings = settings_,
                            .suffixes = suffixes_,
                            .seed = kSeed,
                            .number = number,
                            .budgets = true,
                            .in_transit = in_transit_.get(),
                            .max_links_bytes = max_links_bytes_,
                            .quarantine = nullptr,
                            .on_read = nullptr,
                            .contacted = nullptr,
                            .ended = nullptr,
                            .finished = nullptr,
                            .failed = nullptr};
    parts.contacted = [this](uint64_t lease, MonoTime when) {
      dispatcher_->Contacted(lease, when);
    };
    parts.ended = [this, number](Dispatcher::End end) {
      dispatcher_->Ended(number, std::move(end));
    };
    parts.finished = [this](FinishedVisit visit) {
      if (on_finished_) on_finished_(visit);
      finished_.push_back(std::move(visit));
    };
    parts.failed = [this](const Error& error) { errors_.push_back(error); };
    downloaders_.push_back(std::make_unique<Downloader>(parts));
  }

  uint64_t places_ = 0;
  std::vector<std::unique_ptr<std::string>> texts_;
};

}  // namespace nephila::crawl
