// The end of the frontier: what is ready, what is parked, and the visits that
// are made of it.
#include <algorithm>
#include <utility>

#include "crawl/frontier.h"
#include "crawl/frontier_parts.h"
#include "item/url_record.h"
#include "robots/policy.h"

namespace nephila::crawl {

Status Frontier::Park(const Visit& visit, WallTime due) {
  if (visit.kind == item::FetchKind::kRobots) {
    const auto record = item::ReadUrl(visit.record);
    if (!record.has_value()) return Corrupt(record.error());
    return robots_->DelayRequest(record->url, record->target, due);
  }
  NEPHILA_RETURN_IF_ERROR(Park({visit.record, visit.budget, due}));
  EndPlace(visit.place);
  return {};
}

Status Frontier::Park(const ParkedUrl& url) {
  std::string bytes;
  AppendParkedUrl(url, bytes);
  const DueSlot slot = SlotFor(url.due, parts_.clock.WallNow());
  NEPHILA_RETURN_IF_ERROR(queues_->Append(slot.queue, bytes));
  due_slots_.insert(slot);
  ++parked_;
  return {};
}

Result<size_t> Frontier::MoveParked(size_t max_urls) {
  size_t moved = 0;
  const WallTime now = parts_.clock.WallNow();
  while (moved < max_urls && to_robots_.size() < step_urls_) {
    if (unparked_.empty()) {
      if (due_slots_.empty() || due_slots_.begin()->opens > now) break;
      const DueSlot slot = *due_slots_.begin();
      NEPHILA_TRY(
          const size_t read,
          queues_->ReadAhead(slot.queue, max_urls - moved,
                             [this, slot](const disk_queue::Record& record) {
                               unparked_.push_back({slot, record.ordinal,
                                                    std::string(record.bytes)});
                             }));
      if (read == 0) {
        due_slots_.erase(slot);
        NEPHILA_RETURN_IF_ERROR(queues_->Remove(slot.queue));
        continue;
      }
    }
    NEPHILA_RETURN_IF_ERROR(Unpark(unparked_.front(), now));
    unparked_.pop_front();
    ++moved;
  }
  return moved;
}

// A full disk may refuse it. Its queue lets go of it only when it is elsewhere.
Status Frontier::Unpark(const Unparked& unparked, WallTime now) {
  const auto url = ReadParkedUrl(unparked.bytes);
  if (!url.has_value()) return Corrupt(url.error());
  if (url->due > now) {
    NEPHILA_RETURN_IF_ERROR(Park(*url));
  } else {
    BackToRobots(url->record, url->budget);
  }
  --parked_;
  const DueSlot& slot = unparked.slot;
  queues_->Release(slot.queue, unparked.ordinal + 1);
  if (queues_->Kept(slot.queue) > 0) return {};
  due_slots_.erase(slot);
  return queues_->Remove(slot.queue);
}

void Frontier::BackToRobots(std::string_view record, uint64_t budget) {
  to_robots_.push_back({std::string(record), budget});
  accounts_.politeness.Out();
  accounts_.politeness.Hold(-1);
}

void Frontier::EndPlace(uint64_t place) {
  places_.End(place);
  queues_->Release(kReadyQueue, places_.low());
}

Result<size_t> Frontier::GivePages(const std::function<void(VisitPtr)>& give) {
  const size_t wanted = std::min<uint64_t>(wanted_, step_urls_);
  // Some may have to go back.
  if (wanted == 0 || to_robots_.size() >= step_urls_) return 0;
  if (VisitsAreUsedUp()) return 0;
  std::vector<std::pair<uint64_t, std::string>> urls;
  NEPHILA_TRY(const size_t count,
              queues_->ReadAhead(kReadyQueue, wanted,
                                 [&urls](const disk_queue::Record& record) {
                                   urls.emplace_back(record.ordinal,
                                                     record.bytes);
                                 }));
  for (const auto& [place, bytes] : urls) {
    NEPHILA_TRY(VisitPtr visit, MakeVisit(place, bytes));
    if (visit == nullptr) continue;
    --wanted_;
    give(std::move(visit));
  }
  lookahead_.Given(count, parts_.clock.Now());
  return count;
}

Result<VisitPtr> Frontier::MakeVisit(uint64_t place, std::string_view bytes) {
  bool is_over = places_.GiveOut(place);
  const auto url = ReadReadyUrl(bytes);
  if (!url.has_value()) return Corrupt(url.error());
  const auto record = item::ReadUrl(url->record);
  if (!record.has_value()) return Corrupt(record.error());
  if (!is_over && ended_attempts_.size() > 0) {
    is_over = ended_attempts_.Take(AttemptKey(*record, parts_.seed));
  }
  // Rules of yesterday do not hold (RFC 9309 s2.4).
  const bool is_old =
      parts_.clock.WallNow() - url->checked > robots::kLongestUse;
  const auto refused = scope_.Refuses(*record);
  if (is_over || is_old || refused) {
    if (!is_over && refused) {
      accounts_.politeness.Drop(*refused);
      accounts_.politeness.Hold(-1);
    } else if (!is_over) {
      BackToRobots(url->record, url->budget);
    }
    EndPlace(place);
    return VisitPtr();
  }
  auto visit = std::make_unique<Visit>();
  visit->record = url->record;
  visit->place = place;
  visit->attempt = record->attempts + 1;
  visit->budget = url->budget;
  visit->crawl_delay = url->crawl_delay;
  visit->not_before = url->not_before;
  visit->overloads = url->overloads;
  visit->authority_not_before = url->authority_not_before;
  visit->failures = url->failures;
  visit->charge = ByteCharge(parts_.visits);
  visit->charge.Set(BytesOf(*visit));
  return visit;
}

}  // namespace nephila::crawl
