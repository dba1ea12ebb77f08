#include "inspect/held_urls.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "crawl/due_slot.h"
#include "crawl/frontier_parts.h"
#include "crawl/ready_url.h"

namespace nephila::inspect {
namespace {

struct PlaceName {
  std::string_view name;
  std::string_view stage;
};
// By HeldIn.
constexpr std::array<PlaceName, kHeldPlaces> kNames = {{
    {"ready", "politeness"},
    {"parked", "politeness"},
    {"to-robots", "robots"},
    {"robots-decided", "robots"},
    {"robots-waiting", "robots"},
    {"robots-parked", "robots"},
    {"robots-checking", "robots"},
    {"budget-queue", "budget"},
    {"budget-failed", "budget"},
    {"budget-pass", "budget"},
    {"caps-through", "caps"},
    {"caps-pass", "caps"},
    {"seen-new", "seen"},
    {"seen-link", "seen"},
    {"seed", "seeds"},
}};

Unexpected<Error> NoUrl(std::string_view where, std::string_view why) {
  return Unexpected(Error{ErrorCode::kCorruption,
                          fmt::format("{}: what is no URL: {}", where, why)});
}

HeldIn PlaceOf(robots::RobotsView::Where where) {
  switch (where) {
    case robots::RobotsView::Where::kDecided:
      return HeldIn::kRobotsDecided;
    case robots::RobotsView::Where::kWaiting:
      return HeldIn::kRobotsWaiting;
    case robots::RobotsView::Where::kParked:
      return HeldIn::kRobotsParked;
    case robots::RobotsView::Where::kChecking:
      return HeldIn::kRobotsChecking;
  }
  NEPHILA_CHECK(false);
}

HeldIn PlaceOf(const budget::BudgetView::HeldUrl& url) {
  if (!url.queue) return HeldIn::kBudgetPass;
  return url.is_failed ? HeldIn::kBudgetFailed : HeldIn::kBudgetQueue;
}

}  // namespace

std::string_view HeldInName(HeldIn where) {
  return kNames[static_cast<size_t>(where)].name;
}

std::string_view StageOf(HeldIn where) {
  return kNames[static_cast<size_t>(where)].stage;
}

Status HeldUrls::ForEach(const Sink& sink) {
  sink_ = &sink;
  NEPHILA_RETURN_IF_ERROR(ReadTail());
  if (job_.stages()) {
    for (const auto step :
         {&HeldUrls::Ready, &HeldUrls::Parked, &HeldUrls::Retried,
          &HeldUrls::Robots, &HeldUrls::Budget, &HeldUrls::Caps,
          &HeldUrls::Seen}) {
      NEPHILA_TRY(const bool more, (this->*step)());
      if (!more) return {};
    }
  } else {
    NEPHILA_TRY(const bool more, Retried());
    if (!more) return {};
  }
  NEPHILA_RETURN_IF_ERROR(Seeds());
  return {};
}

// What the journal says that the manifest does not know.
Status HeldUrls::ReadTail() {
  const bool is_begun = job_.stages() && job_.stages()->frontier.begun;
  const uint64_t next = job_.stages() ? job_.stages()->frontier.next_entry : 1;
  return job_.ForEachEntry(
      [&](const JobView::JournalEntry& numbered) -> Result<bool> {
        const job::Entry& entry = numbered.entry;
        if (numbered.is_covered) return true;
        if (entry.kind == job::EntryKind::kSeed) {
          seeds_.emplace_back(entry.record);
          return true;
        }
        if (entry.kind != job::EntryKind::kPage) return true;
        const auto record = item::ReadUrlRecord(entry.record, parent_);
        if (!record.has_value()) return NoUrl("the journal", record.error());
        ended_.insert(crawl::AttemptKey(*record, job_.seed()));
        // Of one that is taken in part the manifest knows where its URL is.
        if (!entry.retry || (is_begun && numbered.number == next)) return true;
        item::UrlRecord again = *record;
        Again url;
        url.budget = entry.budget;
        if (entry.goes_on) {
          again.target = entry.next;
          ++again.followed;
        } else {
          again.attempts = std::min(entry.attempt, item::kMostAttempts);
          url.due = entry.when + entry.url_wait;
        }
        // The frontier ends its page there.
        if (!IsValid(again)) return true;
        AppendUrlRecord(again, url.record);
        again_.push_back(std::move(url));
        return true;
      });
}

bool HeldUrls::Skips(std::string name, uint64_t bytes) {
  if (bytes <= most_bytes_) return false;
  skipped_.push_back({std::move(name), bytes});
  return true;
}

Result<bool> HeldUrls::Give(std::string_view bytes, HeldUrl url) {
  const auto record = item::ReadUrlRecord(bytes, parent_);
  if (!record.has_value()) {
    return NoUrl(fmt::format("stage {}", StageOf(url.where)), record.error());
  }
  const uint64_t attempt = crawl::AttemptKey(*record, job_.seed());
  if (ended_.contains(attempt) ||
      (job_.stages() &&
       job_.stages()->frontier.ended_attempts.Contains(attempt))) {
    return true;
  }
  url.record = *record;
  return (*sink_)(url);
}

Result<bool> HeldUrls::Ready() {
  const JobView::Stages& stages = *job_.stages();
  if (Skips("ready queue", stages.ready->Bytes(crawl::kReadyQueue))) {
    return true;
  }
  const auto scan = stages.ready->Scan(crawl::kReadyQueue);
  disk_queue::Record record;
  HeldUrl url;
  while (true) {
    NEPHILA_TRY(const bool is_there, scan->Next(record));
    if (!is_there) return true;
    if (stages.frontier.places.EndedBefore(record.ordinal)) continue;
    const auto ready = crawl::ReadReadyUrl(record.bytes);
    if (!ready.has_value()) return NoUrl("the ready queue", ready.error());
    url.budget = ready->budget;
    url.place = record.ordinal;
    url.due = ready->not_before > WallTime{}
                  ? std::optional<WallTime>(ready->not_before)
                  : std::nullopt;
    NEPHILA_TRY(const bool more, Give(ready->record, url));
    if (!more) return false;
    ++url.ahead;
  }
}

Result<bool> HeldUrls::Parked() {
  const disk_queue::SetScan& queues = *job_.stages()->ready;
  std::vector<crawl::DueSlot> slots;
  uint64_t bytes = 0;
  for (const auto& queue : queues.Queues()) {
    if (queue.id == crawl::kReadyQueue || queue.id == crawl::kFailedQueue) {
      continue;
    }
    slots.push_back(crawl::SlotOfQueue(queue.id));
    bytes += queue.bytes;
  }
  if (Skips("parked URLs", bytes)) return true;
  std::sort(slots.begin(), slots.end());
  HeldUrl url;
  url.where = HeldIn::kParked;
  for (const crawl::DueSlot& slot : slots) {
    const auto scan = queues.Scan(slot.queue);
    disk_queue::Record record;
    url.ahead = 0;
    while (true) {
      NEPHILA_TRY(const bool is_there, scan->Next(record));
      if (!is_there) break;
      const auto parked = crawl::ReadParkedUrl(record.bytes);
      if (!parked.has_value()) return NoUrl("parked URLs", parked.error());
      url.budget = parked->budget;
      url.due = parked->due;
      NEPHILA_TRY(const bool more, Give(parked->record, url));
      if (!more) return false;
      ++url.ahead;
    }
  }
  return true;
}

Result<bool> HeldUrls::Retried() {
  for (const Again& again : again_) {
    HeldUrl url;
    url.where = again.due ? HeldIn::kParked : HeldIn::kToRobots;
    url.budget = again.budget;
    url.due = again.due;
    NEPHILA_TRY(const bool more, Give(again.record, url));
    if (!more) return false;
  }
  return true;
}

Result<bool> HeldUrls::Robots() {
  HeldUrl url;
  url.where = HeldIn::kToRobots;
  for (const crawl::ToRobots& waiting : job_.stages()->frontier.to_robots) {
    url.budget = waiting.budget;
    NEPHILA_TRY(const bool more, Give(waiting.record, url));
    if (!more) return false;
    ++url.ahead;
  }
  const robots::RobotsView& robots = *job_.stages()->robots;
  NEPHILA_TRY(const uint64_t bytes, robots.Bytes());
  if (Skips("robots", bytes)) return true;
  bool goes_on = true;
  NEPHILA_RETURN_IF_ERROR(robots.ForEach(
      [&](const robots::RobotsView::HeldUrl& held) -> Result<bool> {
        HeldUrl one;
        one.where = PlaceOf(held.where);
        one.budget = held.budget;
        one.ahead = held.ahead;
        if (one.where == HeldIn::kRobotsParked) one.due = held.due;
        NEPHILA_TRY(goes_on, Give(held.record, one));
        return goes_on;
      }));
  return goes_on;
}

Result<bool> HeldUrls::Budget() {
  if (!job_.stages()->budget) return true;
  const budget::BudgetView& budget = *job_.stages()->budget;
  NEPHILA_TRY(const uint64_t bytes, budget.Bytes());
  if (Skips("budget", bytes)) return true;
  bool goes_on = true;
  NEPHILA_RETURN_IF_ERROR(budget.ForEach(
      [&](const budget::BudgetView::HeldUrl& held) -> Result<bool> {
        HeldUrl one;
        one.where = PlaceOf(held);
        one.budget = held.budget;
        one.ahead = held.ahead;
        if (one.where == HeldIn::kBudgetQueue) one.queue = held.queue;
        NEPHILA_TRY(goes_on, Give(held.record, one));
        return goes_on;
      }));
  return goes_on;
}

Result<bool> HeldUrls::Caps() {
  if (!job_.stages()->caps) return true;
  const caps::CapsView& caps = *job_.stages()->caps;
  NEPHILA_TRY(const uint64_t bytes, caps.Bytes());
  if (Skips("caps", bytes)) return true;
  bool goes_on = true;
  NEPHILA_RETURN_IF_ERROR(
      caps.ForEach([&](const caps::CapsView::HeldUrl& held) -> Result<bool> {
        HeldUrl one;
        one.where = held.is_through ? HeldIn::kCapsThrough : HeldIn::kCapsPass;
        NEPHILA_TRY(goes_on, Give(held.record, one));
        return goes_on;
      }));
  return goes_on;
}

Result<bool> HeldUrls::Seen() {
  const seen::SeenView& seen = *job_.stages()->seen;
  bool goes_on = true;
  const auto give = [&](const seen::SeenView::HeldUrl& held) -> Result<bool> {
    HeldUrl one;
    one.where = held.is_new ? HeldIn::kSeenNew : HeldIn::kSeenLink;
    NEPHILA_TRY(goes_on, Give(held.record, one));
    return goes_on;
  };
  NEPHILA_TRY(const uint64_t bytes, seen.Bytes());
  if (Skips("seen", bytes)) {
    NEPHILA_RETURN_IF_ERROR(seen.ForEachNew(give));
  } else {
    NEPHILA_RETURN_IF_ERROR(seen.ForEach(give));
  }
  return goes_on;
}

Result<bool> HeldUrls::Seeds() {
  HeldUrl url;
  url.where = HeldIn::kSeed;
  for (const std::string& seed : seeds_) {
    NEPHILA_TRY(const bool more, Give(seed, url));
    if (!more) return false;
  }
  return true;
}

}  // namespace nephila::inspect
