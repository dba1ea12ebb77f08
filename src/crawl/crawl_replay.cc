// After a restart: the entries of the journal that no manifest covers are taken
// again as the first time, pages from the archive instead of the web.
#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"
#include "crawl/archived_page.h"
#include "crawl/crawl.h"
#include "crawl/visit_reader.h"
#include "item/url_record.h"
#include "job/entry.h"
#include "url/record_keys.h"

namespace nephila::crawl {
namespace {

FinishedVisit VisitOf(const job::Entry& entry, uint64_t number) {
  FinishedVisit visit;
  visit.entry = number;
  visit.kind = entry.kind == job::EntryKind::kRobots ? item::FetchKind::kRobots
                                                     : item::FetchKind::kPage;
  visit.is_seed = entry.kind == job::EntryKind::kSeed;
  visit.record = entry.record;
  visit.attempt = entry.attempt;
  visit.outcome = entry.outcome;
  visit.status = entry.status;
  visit.archived = entry.archive.has_value();
  visit.retry = entry.retry;
  // Redirects that were followed at once, which are no failures: of a page,
  // and all of a robots.txt but the last.
  visit.goes_on =
      entry.retry && (entry.kind == job::EntryKind::kRobots ||
                      (entry.outcome == item::FetchOutcome::kResponse &&
                       entry.status / 100 == 3));
  visit.url_wait = entry.url_wait;
  visit.next_attempt = entry.attempt + 1;
  visit.when = entry.when;
  visit.robots_end = entry.robots_end;
  visit.robots_status = entry.robots_status;
  visit.rules = entry.rules;
  visit.robots_delay = entry.crawl_delay;
  return visit;
}

}  // namespace

// The waits that the attempt left. How long ago it ended is not known for
// sure, since clocks are set and machines start anew: they hold whole.
Status Crawl::HoldWaits(const job::Entry& entry) {
  const bool was_contacted =
      std::any_of(entry.address.begin(), entry.address.end(),
                  [](uint8_t byte) { return byte != 0; });
  if (entry.kind == job::EntryKind::kSeed ||
      entry.kind == job::EntryKind::kCommand || !was_contacted) {
    return {};
  }
  const auto record = item::ReadUrl(entry.record);
  if (!record.has_value()) {
    return Unexpected(Error{
        ErrorCode::kCorruption,
        "the journal holds what is no URL: " + std::string(record.error())});
  }
  politeness::HostWait host;
  host.host = url::KeysOf(*record, parts_.folder.key_seed()).host.value;
  host.left = entry.host_wait;
  host.reason = politeness::DelayReason::kRestart;
  host.failures = entry.host_failures;
  host.overloads = entry.host_overloads;
  politeness::ServerWait address;
  address.address.bytes = entry.address;
  address.left = entry.address_wait;
  dispatcher_->Hold(host, address);
  return {};
}

Result<std::optional<item::FetchedPage>> Crawl::ReadArchived(
    ArchivedPage* archived, const job::ArchivePlace& place) const {
  return archived->Read(
      place, StreamPrefix(parts_.settings.store.prefix, place.stream));
}

Status Crawl::Replay(uint64_t from) {
  NEPHILA_TRY(job::JournalReader reader, journal_->Read(from));
  VisitReader pages(parts_.settings, parts_.suffixes, parts_.folder.key_seed(),
                    parts_.settings.crawl.budgets);
  ArchivedPage archived(parts_.fs, parts_.folder.Path(job::kArchiveDir),
                        fetch::HeadLimitsOf(parts_.settings.fetch));
  while (true) {
    NEPHILA_TRY(const auto next, reader.Next());
    if (!next) return {};
    const auto entry = job::ReadEntry(next->bytes);
    if (!entry.has_value()) {
      return Unexpected(Error{ErrorCode::kCorruption,
                              "journal entry " + std::to_string(next->number) +
                                  ": " + std::string(entry.error())});
    }
    NEPHILA_RETURN_IF_ERROR(HoldWaits(*entry));
    FinishedVisit visit = VisitOf(*entry, next->number);
    if (visit.is_seed) ByteWriter(visit.links).Sized(entry->record);
    if (entry->kind == job::EntryKind::kPage && entry->archive &&
        !visit.goes_on) {
      NEPHILA_TRY(const auto page, ReadArchived(&archived, *entry->archive));
      if (page) {
        for (const std::string_view piece : page->body) {
          visit.body_bytes += piece.size();
        }
        pages.ReadPage(*page, &visit);
      } else {
        // A revisit has no body to take links from: it is fetched again.
        visit.goes_on = true;
      }
    }
    if (entry->kind == job::EntryKind::kRobots && entry->archive &&
        !visit.goes_on && parts_.settings.robots.sitemaps) {
      NEPHILA_TRY(const auto page, ReadArchived(&archived, *entry->archive));
      if (page) pages.ReadSitemaps(*page, &visit);
    }
    frontier_->Take(std::move(visit), /*replayed=*/true);
    NEPHILA_TRY(bool moved, StepFrontier());
    static_cast<void>(moved);
  }
}

// A job that was stopped before its first checkpoint: what its stages have
// written is not named by anything, and all of it is in the journal.
Status Crawl::ClearStages() {
  for (const std::string_view stage :
       {job::kSeenDir, job::kReputationDir, job::kBudgetDir, job::kRobotsDir,
        job::kReadyDir}) {
    const std::string path = parts_.folder.Path(stage);
    NEPHILA_RETURN_IF_ERROR(RemoveAll(parts_.fs, path));
    NEPHILA_RETURN_IF_ERROR(parts_.fs.MakeDir(path));
  }
  return {};
}

}  // namespace nephila::crawl
