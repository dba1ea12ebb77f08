// After a restart: the entries of the journal that no manifest covers are taken
// again as the first time, pages from the archive instead of the web.
#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"
#include "crawl/aim.h"
#include "crawl/crawl.h"
#include "item/url_record.h"
#include "job/entry.h"
#include "url/record_keys.h"

namespace nephila::crawl {
namespace {

// Entries that are in memory before the frontier takes them.
constexpr size_t kTakenAtOnce = 1000;

FinishedVisit VisitOf(const job::Entry& entry, uint64_t number) {
  FinishedVisit visit;
  visit.entry = number;
  visit.kind = entry.kind == job::EntryKind::kRobots ? item::FetchKind::kRobots
                                                     : item::FetchKind::kPage;
  visit.is_seed = entry.kind == job::EntryKind::kSeed;
  if (entry.kind == job::EntryKind::kCommand) {
    visit.command = entry.text;
    visit.is_void = visit.command.empty();
  }
  visit.record = entry.record;
  visit.attempt = entry.attempt;
  visit.outcome = entry.outcome;
  visit.status = entry.status;
  visit.archived = entry.archive.has_value();
  // Its page is read when the frontier comes to it: one at a time.
  visit.unread = visit.archived;
  visit.archive = entry.archive;
  visit.original = entry.original;
  visit.budget = entry.budget;
  visit.body_bytes = entry.body_bytes;
  visit.retry = entry.retry;
  visit.goes_on = entry.goes_on;
  visit.next = entry.next;
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
  if (entry.kind == job::EntryKind::kSeed ||
      entry.kind == job::EntryKind::kCommand) {
    return {};
  }
  const auto record = item::ReadUrl(entry.record);
  if (!record.has_value()) {
    return Unexpected(Error{
        ErrorCode::kCorruption,
        "the journal holds what is no URL: " + std::string(record.error())});
  }
  const item::UrlRecord asked = item::Asked(*record);
  politeness::HostWait host;
  host.host = entry.host.value_or(
      url::KeysOf(asked, parts_.folder.key_seed()).host.value);
  host.left = entry.host_wait;
  host.reason = politeness::DelayReason::kRestart;
  host.overloads = entry.host_overloads;
  host.authority = entry.authority.value_or(
      entry.host ? politeness::kNoAuthority : AuthorityOf(asked.url));
  host.authority_left = entry.authority_wait;
  host.authority_reason = politeness::DelayReason::kRestart;
  host.failures = entry.host_failures;
  std::optional<politeness::ServerWait> address;
  if (std::any_of(entry.address.begin(), entry.address.end(),
                  [](uint8_t byte) { return byte != 0; })) {
    address.emplace();
    address->address.bytes = entry.address;
    address->left = entry.address_wait;
  } else if (entry.host_wait.count() == 0 &&
             entry.authority_wait.count() == 0) {
    return {};  // nobody was contacted, nor is to be left alone
  }
  if (host.authority == politeness::kNoAuthority && host.failures > 0) {
    // A hop of an earlier version, which does not say what port was asked.
    host.authority = politeness::kHttpAuthority;
    dispatcher_->Hold(host, address);
    host.authority = politeness::kHttpsAuthority;
  }
  dispatcher_->Hold(host, address);
  return {};
}

Status Crawl::Replay(uint64_t from) {
  NEPHILA_TRY(job::JournalReader journal, journal_->Read(from));
  while (true) {
    NEPHILA_TRY(const auto next, journal.Next());
    if (!next) break;
    const auto entry = job::ReadEntry(next->bytes);
    if (!entry.has_value()) {
      return Unexpected(Error{ErrorCode::kCorruption,
                              "journal entry " + std::to_string(next->number) +
                                  ": " + std::string(entry.error())});
    }
    NEPHILA_RETURN_IF_ERROR(HoldWaits(*entry));
    FinishedVisit visit = VisitOf(*entry, next->number);
    if (visit.is_seed) ByteWriter(visit.links).Sized(entry->record);
    visit.charge = ByteCharge(&in_transit_);
    visit.charge.Set(BytesOf(visit));
    frontier_->Take(std::move(visit), /*replayed=*/true);
    if (frontier_->arrived() >= kTakenAtOnce || in_transit_.IsUsedUp()) {
      NEPHILA_RETURN_IF_ERROR(TakeArrived());
    }
  }
  NEPHILA_RETURN_IF_ERROR(TakeArrived());
  NEPHILA_RETURN_IF_ERROR(quarantine_->Save());
  // Then a checkpoint, then the first request.
  return journal_->next() > from ? CheckpointNow() : Status();
}

// REQUIRES: the threads are not started.
Status Crawl::TakeArrived() {
  while (frontier_->arrived() > 0) {
    NEPHILA_TRY(const bool moved, frontier_->Absorb());
    if (moved) continue;
    // A stage is full, and a commit makes room; or its threads are at work.
    NEPHILA_RETURN_IF_ERROR(frontier_->Wait());
    NEPHILA_RETURN_IF_ERROR(CheckpointNow());
  }
  return {};
}

// Where the last unit ends that an entry names, of each stream.
Result<std::vector<std::optional<store::Position>>> Crawl::KnownEnds(
    uint64_t from) {
  std::vector<std::optional<store::Position>> ends;
  NEPHILA_TRY(job::JournalReader journal, journal_->Read(from));
  while (true) {
    NEPHILA_TRY(const auto next, journal.Next());
    if (!next) return ends;
    const auto entry = job::ReadEntry(next->bytes);
    if (!entry.has_value() || !entry->archive) continue;
    const job::ArchivePlace& place = *entry->archive;
    if (place.stream >= kMostStreams) continue;
    if (place.stream >= ends.size()) ends.resize(place.stream + 1);
    const store::Position end{place.serial, place.offset + place.size};
    std::optional<store::Position>& last = ends[place.stream];
    if (!last || *last < end) last = end;
  }
}

// A job that was stopped before its first checkpoint: what its stages have
// written is not named by anything, and all of it is in the journal. Their
// folders stay: this may be stopped too, and a job without them is damaged.
Status Crawl::ClearStages() {
  for (const std::string_view stage :
       {job::kSeenDir, job::kCapsDir, job::kReputationDir, job::kBudgetDir,
        job::kRobotsDir, job::kReadyDir}) {
    const std::string path = parts_.folder.Path(stage);
    if (stage == job::kCapsDir) {
      // Only a crawl with caps has one. It is made anew itself: if the sync of
      // its name failed, no later one would make it durable.
      NEPHILA_TRY(const bool exists, parts_.fs.Exists(path));
      if (exists) NEPHILA_RETURN_IF_ERROR(RemoveAll(parts_.fs, path));
      continue;
    }
    NEPHILA_TRY(const auto entries, parts_.fs.List(path));
    for (const DirEntry& entry : entries) {
      NEPHILA_RETURN_IF_ERROR(RemoveAll(parts_.fs, path + "/" + entry.name));
    }
  }
  return {};
}

}  // namespace nephila::crawl
