// DrivenJob: a job whose frontier a test moves step by step, so that a URL is
// where the test wants it when a manifest is made. Journal, manifests and
// stages are the real ones; the test is dispatcher and downloader. For tests
// only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/workers.h"
#include "config/profile.h"
#include "crawl/archive_folders.h"
#include "crawl/frontier.h"
#include "item/url_record.h"
#include "job/entry.h"
#include "job/job_folder.h"
#include "job/journal.h"
#include "job/manifest.h"
#include "robots/parser.h"
#include "robots/rules.h"
#include "url/canonicalizer.h"
#include "url/record_keys.h"

namespace nephila::inspect {

class DrivenJob {
 public:
  static constexpr uint64_t kSeed = 7;

  DrivenJob(MemoryFileSystem& file_system, ManualClock& clock_of_test,
            const config::Settings& settings_of_test, config::Profile profile)
      : fs(file_system), clock(clock_of_test), settings(settings_of_test) {
    job::JobRequest request;
    request.settings = settings;
    request.process_id = 1;
    request.profile = profile;
    request.key_seed = kSeed;
    request.now = clock.WallNow();
    request.version = "test";
    folder = Must(job::JobFolder::Create(fs, "job", request));
    job::JournalOptions journal_options;
    journal_options.salt = kSeed;
    journal = Must(job::Journal::Open(fs, "job/journal", journal_options, 1));
    job::ManifestOptions manifest_options;
    manifest_options.salt = kSeed;
    manifests =
        Must(job::ManifestFolder::Open(fs, "job/manifests", manifest_options));
    frontier = Must(crawl::Frontier::Create(PartsOfFrontier()));
  }

  crawl::Frontier::Parts PartsOfFrontier() {
    return {fs, clock, workers, settings, suffixes, "job", kSeed};
  }

  std::string RecordOf(std::string_view url, uint32_t flags = 0) {
    const auto canonical = canonicalizer.Canonicalize(url, nullptr);
    NEPHILA_CHECK(canonical.has_value());
    item::UrlRecord record = url::MakeUrlRecord(*canonical);
    record.flags = flags;
    record.discovered =
        std::chrono::floor<std::chrono::milliseconds>(clock.WallNow());
    std::string bytes;
    item::AppendUrlRecord(record, bytes);
    return bytes;
  }

  // A seed: in the journal, and with `take` in the frontier's hands.
  void Seed(std::string_view url, bool take = true) {
    const std::string record = RecordOf(url, item::kFromSeed);
    job::Entry entry;
    entry.kind = job::EntryKind::kSeed;
    entry.when = clock.WallNow();
    entry.record = record;
    crawl::FinishedVisit seed;
    seed.entry = Append(entry);
    seed.is_seed = true;
    ByteWriter(seed.links).Sized(record);
    if (take) frontier->Take(std::move(seed));
  }

  // Until nothing moves but by requests that are out.
  void Pump() {
    for (int rounds = 0; rounds < 1000; ++rounds) {
      if (Step()) continue;
      if (!Must(frontier->RunDry())) return;
    }
    NEPHILA_CHECK(false);
  }
  bool Step() {
    return Must(frontier->Step([this](crawl::VisitPtr visit) {
      const auto record = item::ReadUrl(visit->record);
      NEPHILA_CHECK(record.has_value());
      std::string name(record->url);
      if (visit->kind == item::FetchKind::kRobots) name += "robots.txt";
      out[name] = std::move(visit);
    }));
  }

  // Ends what is out: `fill` says how.
  void End(const std::string& url,
           const std::function<void(crawl::FinishedVisit*)>& fill,
           bool take = true) {
    NEPHILA_CHECK(out.contains(url));
    const crawl::Visit& visit = *out[url];
    crawl::FinishedVisit finished;
    finished.kind = visit.kind;
    finished.record = visit.record;
    finished.place = visit.place;
    finished.attempt = visit.attempt;
    finished.next_attempt = visit.attempt + 1;
    finished.budget = visit.budget;
    finished.outcome = item::FetchOutcome::kResponse;
    finished.status = 200;
    finished.when =
        std::chrono::floor<std::chrono::milliseconds>(clock.WallNow());
    fill(&finished);
    job::Entry entry;
    entry.kind = visit.kind == item::FetchKind::kRobots
                     ? job::EntryKind::kRobots
                     : job::EntryKind::kPage;
    entry.when = finished.when;
    entry.record = finished.record;
    entry.place = finished.place;
    entry.outcome = finished.outcome;
    entry.status = static_cast<uint16_t>(finished.status);
    entry.attempt = finished.attempt;
    entry.retry = finished.retry;
    entry.url_wait = finished.url_wait;
    entry.budget = finished.budget;
    entry.robots_end = finished.robots_end;
    entry.robots_status = static_cast<uint16_t>(finished.robots_status);
    entry.rules = finished.rules;
    finished.entry = Append(entry);
    if (take) frontier->Take(std::move(finished));
    out.erase(url);
  }
  void EndRobots(const std::string& origin, int status,
                 std::string_view text = "") {
    End(origin + "robots.txt", [&](crawl::FinishedVisit* visit) {
      visit->status = visit->robots_status = status;
      visit->robots_end = item::RobotsFetchEnd::kAnswer;
      if (status == 200) {
        const robots::RobotsLimits limits(settings.robots);
        visit->rules =
            robots::CompileRules(robots::Parse(text, "nephila", limits));
      }
    });
  }

  crawl::ManifestParts Note() {
    crawl::ManifestParts parts = Must(frontier->BeginCheckpoint());
    MustDo(frontier->FinishCheckpoint());
    crawl::ArchivePart archive;
    archive.folders = {"archive"};
    parts["archive"] = crawl::WriteArchivePart(archive);
    return parts;
  }
  void Publish(crawl::ManifestParts parts) {
    MustDo(journal->Sync());
    job::Manifest manifest;
    manifest.number = manifests->newest_number() + 1;
    manifest.parts = std::move(parts);
    MustDo(manifests->Write(manifest));
  }
  void Checkpoint() { Publish(Note()); }

  uint64_t Append(const job::Entry& entry) {
    std::string bytes;
    job::AppendEntry(entry, bytes);
    return Must(journal->Append(bytes));
  }

  MemoryFileSystem& fs;
  ManualClock& clock;
  const config::Settings settings;
  Workers workers{0};
  const url::PublicSuffixList suffixes = url::PublicSuffixList::BuiltIn();
  url::Canonicalizer canonicalizer{settings.url, suffixes, kSeed};
  std::unique_ptr<job::JobFolder> folder;
  std::unique_ptr<job::Journal> journal;
  std::unique_ptr<job::ManifestFolder> manifests;
  std::unique_ptr<crawl::Frontier> frontier;
  std::map<std::string, crawl::VisitPtr> out;
};

}  // namespace nephila::inspect
