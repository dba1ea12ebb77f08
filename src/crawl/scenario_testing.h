// What the tests of named scenarios share: a small web, put together page by
// page, and looks at the journal and the manifests of its crawl, so that a test
// can say that its situation was reached. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_file_system.h"
#include "crawl/frontier.h"
#include "crawl/twin_testing.h"
#include "item/url_record.h"
#include "job/entry.h"
#include "job/journal_reader.h"
#include "job/manifest.h"

namespace nephila::crawl {

class ScenarioTest : public testing::Test {
 protected:
  using milliseconds = std::chrono::milliseconds;
  static constexpr uint64_t kMostTurns = 40'000;

  // What the tests look at of an entry of the journal.
  struct LookedAt {
    uint64_t number = 0;
    job::EntryKind kind = job::EntryKind::kPage;
    std::string url;
    bool retry = false;
    bool archived = false;
    item::FetchOutcome outcome = item::FetchOutcome::kInternalError;
  };

  explicit ScenarioTest(config::Profile profile = config::Profile::kSite) {
    plan_.profile = profile;
    plan_.settings = TwinSettings(profile);
    plan_.settings.fetch.retry_attempts = 3;
    plan_.seeds = {"http://a.com/"};
  }

  // A page that is to be archived once.
  void Page(const std::string& url, const std::vector<std::string>& links) {
    Answers(url, {FakePage(TwinPage(links, url))});
  }
  void Answers(const std::string& url, std::vector<FakeAnswer> answers) {
    plan_.answers[url] = std::move(answers);
    plan_.finals.insert(url);
  }
  // "http://HOST/1" and so on.
  static std::vector<std::string> Urls(const std::string& host, size_t count,
                                       const std::string& path = "/") {
    std::vector<std::string> urls;
    urls.reserve(count);
    for (size_t i = 1; i <= count; ++i) {
      urls.push_back("http://" + host + path + std::to_string(i));
    }
    return urls;
  }
  void Pages(const std::vector<std::string>& urls) {
    for (const std::string& url : urls) Page(url, {});
  }
  static FakeAnswer Slow(FakeAnswer answer, milliseconds takes) {
    answer.takes = takes;
    return answer;
  }
  static FakeAnswer Busy(int retry_after) {
    FakeAnswer answer = FakeError(503);
    answer.fields.emplace_back("Retry-After", std::to_string(retry_after));
    return answer;
  }

  // For the next Begin.
  void NewDisk() {
    twin_.reset();
    fs_ = std::make_unique<MemoryFileSystem>();
  }
  // `others`: URLs that are found and not archived.
  void Begin(size_t others = 0) {
    plan_.urls = plan_.finals.size() + plan_.broken.size() + others;
    twin_.emplace(plan_);
    Open();
  }
  void Open() {
    const Status opened = twin_->Open(*fs_);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
  }
  void Kill() { twin_->Crash(Crash::kKill, *fs_, 1); }
  void LosePower(Crash crash = Crash::kNothingUnsynced) {
    twin_->Crash(crash, *fs_, 1);
  }
  // Turns until it is so.
  void Until(const std::function<bool()>& is_so) {
    for (uint64_t i = 0; i < kMostTurns && !is_so(); ++i) {
      const auto end = twin_->Turns(1);
      ASSERT_TRUE(end.has_value()) << end.error().message;
      ASSERT_FALSE(end->has_value()) << "it ended before";
    }
    ASSERT_TRUE(is_so()) << "the situation was never reached";
  }
  void For(milliseconds time) {
    const MonoTime until = twin_->clock().Now() + time;
    Until([&] { return twin_->clock().Now() >= until; });
  }
  void FinishAndExpectAll() {
    twin_->Finish(*fs_);
    if (!HasFailure()) twin_->ExpectAll(*fs_);
  }

  size_t Asked(std::string_view url) {
    const std::vector<std::string> urls = twin_->web().Asked();
    return static_cast<size_t>(std::count(urls.begin(), urls.end(), url));
  }
  bool HasEnded(std::string_view url) {
    for (const FakeContact& contact : twin_->web().log()) {
      if (contact.url == url && contact.end != MonoTime::max()) return true;
    }
    return false;
  }

  job::StoredManifests Manifests() {
    return Must(job::ReadManifests(*fs_, "job/manifests", plan_.seed * 2 + 7));
  }
  uint64_t ManifestNumber() {
    const auto manifests = Manifests();
    return manifests.newest ? manifests.newest->number : 0;
  }
  // The first entry that the newest manifest does not cover.
  uint64_t Uncovered() {
    const auto manifests = Manifests();
    if (!manifests.newest) return 1;
    return Must(Frontier::NextEntry(manifests.newest->parts));
  }
  // Entries from there on.
  std::vector<LookedAt> Entries(uint64_t from) {
    std::vector<LookedAt> entries;
    auto reader = Must(job::JournalReader::Open(*fs_, "job/journal", from));
    while (const auto next = Must(reader.Next())) {
      const auto entry = job::ReadEntry(next->bytes);
      EXPECT_TRUE(entry.has_value());
      if (!entry.has_value()) break;
      LookedAt one;
      one.number = next->number;
      one.kind = entry->kind;
      const auto record = item::ReadUrl(entry->record);
      if (record.has_value()) one.url = record->url;
      one.retry = entry->retry;
      one.archived = entry->archive.has_value();
      one.outcome = entry->outcome;
      entries.push_back(one);
    }
    return entries;
  }
  // Of a page, behind the newest manifest.
  std::optional<LookedAt> UncoveredEntry(std::string_view url) {
    for (const LookedAt& entry : Entries(Uncovered())) {
      if (entry.kind == job::EntryKind::kPage && entry.url == url) return entry;
    }
    return std::nullopt;
  }
  void NoMoreCheckpoints() {
    config::Settings& settings =
        twin_ ? twin_->plan().settings : plan_.settings;
    settings.crawl.checkpoint_interval = std::chrono::hours(1);
  }

  TwinPlan plan_;
  std::unique_ptr<MemoryFileSystem> fs_ = std::make_unique<MemoryFileSystem>();
  std::optional<Twin> twin_;
};

}  // namespace nephila::crawl
