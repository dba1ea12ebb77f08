#include "crawl/frontier.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/random.h"
#include "item/url_record.h"
#include "robots/policy.h"
#include "url/record_keys.h"

namespace nephila::crawl {
namespace {

using item::Admission;

// Of one step and stage: long enough to be worth its while, short enough that
// what comes meanwhile is soon looked at.
constexpr size_t kStepUrls = 1000;
constexpr size_t kBudgetUrls = 100;
// URLs that left `budget` and wait for a robots.txt, on disk: while hosts are
// slow to say theirs, URLs of others are looked for, up to here.
constexpr uint64_t kMostInRobots = 200'000;

// The attempt of a URL that had so many before, at the end of so many
// redirects.
uint64_t AttemptKey(const item::UrlRecord& record, uint64_t seed) {
  const uint64_t number = uint64_t{record.followed} << 32 | record.attempts;
  return url::KeysOf(record, seed).url.value ^ (number * kSplitMixStep);
}

uint64_t BytesOf(const FinishedVisit& visit) {
  return sizeof(FinishedVisit) + visit.record.size() + visit.links.size() +
         visit.rules.size() +
         visit.edges.size() * sizeof(reputation::DomainPair);
}

Unexpected<Error> Corrupt(std::string_view why) {
  return Unexpected(
      Error{ErrorCode::kCorruption,
            "the ready queue holds what is no URL: " + std::string(why)});
}

}  // namespace

Frontier::Frontier(const Parts& parts)
    : parts_(parts), scope_(parts.settings.scope, parts.suffixes) {}

Frontier::~Frontier() = default;

void Frontier::Take(FinishedVisit visit, bool replayed) {
  const uint64_t entry = visit.entry;
  if (entry < next_entry_) return;
  arrived_bytes_ += BytesOf(visit);
  arrived_.emplace(entry, Arrived{std::move(visit), replayed});
}

Status Frontier::Park(const Visit& visit, WallTime due) {
  NEPHILA_RETURN_IF_ERROR(Park({visit.record, visit.budget, due}));
  EndPlace(visit.place);
  return {};
}

Status Frontier::Note(const HostNote& note) {
  NEPHILA_RETURN_IF_ERROR(robots_->NoteHost(note.origin, note.not_before,
                                            note.failures, note.overloads));
  // The pass that is on was begun without it; the next has it, or the one
  // after, if the batch for the next is full.
  PendingNote pending;
  pending.host = note.host;
  pending.epoch = note.epoch;
  pending.pass = robots_->stats().cache.passes + 3;
  notes_.push_back(pending);
  return {};
}

void Frontier::TakeNoted(
    const std::function<void(uint64_t host, uint64_t epoch)>& noted) {
  if (notes_.empty()) return;
  const uint64_t passes = robots_->stats().cache.passes;
  // In the order in which they came, which is that of passes and places.
  const bool all_are_in = robots_->IsNoted();
  for (PendingNote& note : notes_) {
    if (note.pass > passes && !all_are_in) break;
    if (!note.place) note.place = queues_->NextAppend(kReadyQueue);
  }
  while (!notes_.empty() && notes_.front().place &&
         *notes_.front().place <= queues_->NextRead(kReadyQueue)) {
    noted(notes_.front().host, notes_.front().epoch);
    notes_.pop_front();
  }
}

Result<bool> Frontier::Step(const std::function<void(VisitPtr)>& give) {
  NEPHILA_TRY(const size_t pages, GivePages(give));
  NEPHILA_TRY(const size_t robots, GiveRobots(give));
  NEPHILA_TRY(const bool moved, Absorb());
  return moved || pages + robots > 0;
}

Result<bool> Frontier::Absorb() {
  // From the end of the path to its beginning: what moves on makes room.
  size_t moved = 0;
  NEPHILA_TRY(size_t count, MoveParked(kStepUrls));
  moved += count;
  NEPHILA_TRY(count, MoveRobots(kStepUrls));
  moved += count;
  NEPHILA_TRY(count, MoveToRobots());
  moved += count;
  NEPHILA_TRY(count, MoveBudget(kStepUrls));
  moved += count;
  NEPHILA_TRY(count, MoveReputation(kStepUrls));
  moved += count;
  NEPHILA_TRY(count, MoveSeen(kStepUrls));
  moved += count;
  NEPHILA_TRY(count, TakeEntries(kStepUrls));
  moved += count;
  return moved > 0;
}

Status Frontier::Wait() {
  NEPHILA_RETURN_IF_ERROR(robots_->Wait());
  if (budget_ != nullptr) {
    NEPHILA_RETURN_IF_ERROR(budget_->Wait());
    NEPHILA_RETURN_IF_ERROR(reputation_->Wait());
  }
  return seen_->Wait();
}

Result<bool> Frontier::RunDry() {
  // Hosts that politeness may forget then make room for others, without which
  // no URL may come that a pass would be for.
  bool will_come = false;
  if (!notes_.empty() && !notes_.back().place) {
    NEPHILA_TRY(will_come, robots_->RunDryForNotes());
  }
  if (wanted_ == 0) return will_come;
  NEPHILA_TRY(const bool of_robots, robots_->RunDry());
  will_come = will_come || of_robots;
  if (budget_ != nullptr) {
    NEPHILA_TRY(const bool of_budget, budget_->RunDry());
    NEPHILA_TRY(const bool of_reputation, reputation_->RunDry());
    will_come = will_come || of_budget || of_reputation;
  }
  NEPHILA_TRY(const bool of_seen, seen_->RunDry());
  return will_come || of_seen;
}

bool Frontier::IsEmpty() const {
  return arrived_.empty() && seen_->IsEmpty() &&
         (budget_ == nullptr || budget_->IsEmpty()) && to_robots_.empty() &&
         robots_->IsEmpty() && parked_ == 0 && queues_->Kept(kReadyQueue) == 0;
}

std::optional<WallTime> Frontier::NextDue() const {
  std::optional<WallTime> due = robots_->stats().next_parked;
  if (!due_slots_.empty()) {
    const WallTime opens = due_slots_.begin()->opens;
    due = due ? std::min(*due, opens) : opens;
  }
  return due;
}

// Entries.

Result<size_t> Frontier::TakeEntries(size_t max_links) {
  size_t links = 0;
  size_t entries = 0;
  is_stuck_ = false;
  while (links + entries < max_links) {
    const auto found = arrived_.find(next_entry_);
    if (found == arrived_.end()) break;
    const Arrived& arrived = found->second;
    if (progress_.begun && arrived.visit.body_lost) {
      Reopen(arrived.visit);
    }
    if (!progress_.begun) {
      NEPHILA_RETURN_IF_ERROR(BeginEntry(arrived));
      progress_.begun = true;
    }
    NEPHILA_TRY(bool whole, TakeLinks(arrived.visit, &links));
    if (whole) {
      NEPHILA_TRY(whole, TakeEdges(arrived.visit));
    }
    if (!whole) {
      is_stuck_ = true;
      break;
    }
    arrived_bytes_ -= BytesOf(arrived.visit);
    arrived_.erase(found);
    progress_ = {};
    link_offset_ = 0;
    ++next_entry_;
    ++entries;
  }
  return links + entries;
}

Status Frontier::BeginEntry(const Arrived& arrived) {
  const FinishedVisit& visit = arrived.visit;
  if (visit.is_void) return {};
  if (visit.is_seed) {
    accounts_.seeds.Made();
    accounts_.seeds.Out();
    accounts_.url.In();
    accounts_.url.Out();
    return {};
  }
  if (visit.body_lost) {
    // Its URL stays open.
    accounts_.CountAttempt(visit);
    return {};
  }
  // First what a full disk may refuse: then it comes again.
  NEPHILA_RETURN_IF_ERROR(visit.kind == item::FetchKind::kRobots
                              ? EndRobots(visit)
                              : EndAttempt(arrived));
  accounts_.CountAttempt(visit);
  accounts_.CountFound(visit.found);
  return {};
}

Status Frontier::EndAttempt(const Arrived& arrived) {
  const FinishedVisit& visit = arrived.visit;
  const auto record = item::ReadUrlRecord(visit.record, parent_);
  if (!record.has_value()) return Corrupt(record.error());
  if (visit.goes_on) {
    Follow(*record, visit);
  } else if (visit.retry) {
    item::UrlRecord again = *record;
    again.attempts = std::min(visit.next_attempt - 1, item::kMostAttempts);
    std::string bytes;
    AppendUrlRecord(again, bytes);
    NEPHILA_RETURN_IF_ERROR(
        Park({bytes, visit.budget, visit.when + visit.url_wait}));
  } else {
    accounts_.politeness.Out();
    accounts_.politeness.Hold(-1);
  }
  if (arrived.replayed) {
    ended_attempts_.Add(AttemptKey(*record, parts_.seed));
  } else {
    EndPlace(visit.place);
  }
  return {};
}

// As a retry: by the rules of where it leads, and by the ready queue.
void Frontier::Follow(const item::UrlRecord& record,
                      const FinishedVisit& visit) {
  item::UrlRecord next = record;
  next.target = visit.next;
  ++next.followed;
  std::string bytes;
  AppendUrlRecord(next, bytes);
  BackToRobots(bytes, visit.budget);
}

void Frontier::Reopen(const FinishedVisit& visit) {
  to_robots_.push_back({visit.record, visit.budget});
}

Status Frontier::EndRobots(const FinishedVisit& visit) {
  const auto record = item::ReadUrl(visit.record);
  if (!record.has_value()) return Corrupt(record.error());
  if (visit.goes_on) {
    walks_[std::string(record->url)].push_back(visit.next);
    return {};
  }
  walks_.erase(std::string(record->url));
  robots::RobotsEnd end;
  end.origin = record->url;
  end.end = visit.robots_end;
  end.status = visit.robots_status;
  end.rules = visit.rules;
  end.crawl_delay = visit.robots_delay;
  end.when = visit.when;
  // The file itself was a contact: the first page waits as all others do, even
  // if politeness has forgotten by then when that was.
  if (visit.robots_delay) end.not_before = visit.when + *visit.robots_delay;
  return robots_->RobotsEnded(end);
}

Result<bool> Frontier::TakeLinks(const FinishedVisit& visit, size_t* links) {
  if (visit.is_void) return true;
  const size_t begin = link_offset_;
  ByteReader reader(std::string_view(visit.links).substr(begin));
  while (!reader.AtEnd()) {
    const auto bytes = reader.Sized();
    NEPHILA_CHECK(bytes.has_value());
    const auto record = item::ReadUrlRecord(*bytes, parent_);
    NEPHILA_CHECK(record.has_value());
    // After a restart in the middle of a page: those before were taken.
    if (record->ordinal >= progress_.link) {
      NEPHILA_TRY(const bool taken, TakeLink(*record));
      if (!taken) return false;
      progress_.link = record->ordinal + 1;
      ++*links;
    }
    link_offset_ = begin + reader.position();
  }
  return true;
}

Result<bool> Frontier::TakeLink(const item::UrlRecord& record) {
  // A seed, or where one redirects to.
  if ((record.flags & item::kFromSeed) != 0) scope_.Widen(record.host());
  if (const auto reason = scope_.Refuses(record)) {
    accounts_.scope.In();
    accounts_.scope.Drop(*reason);
    return true;
  }
  NEPHILA_TRY(const Admission admission,
              seen_->Add(record, url::KeysOf(record, parts_.seed).url));
  if (admission == Admission::kFull) return false;
  accounts_.scope.In();
  accounts_.scope.Out();
  return true;
}

Result<bool> Frontier::TakeEdges(const FinishedVisit& visit) {
  if (reputation_ == nullptr || visit.is_void) return true;
  while (progress_.edges < visit.edges.size()) {
    NEPHILA_TRY(const Admission admission,
                reputation_->Add(visit.edges[progress_.edges]));
    if (admission == Admission::kFull) return false;
    ++progress_.edges;
  }
  return true;
}

// The stages, from the first to the last.

Result<size_t> Frontier::MoveSeen(size_t max_urls) {
  return seen_->Step(
      [this](std::string_view record) -> Result<Admission> {
        if (budget_ != nullptr) return budget_->Add(record);
        const auto budget =
            static_cast<uint64_t>(parts_.settings.reputation.base);
        NEPHILA_TRY(const Admission admission, robots_->Add(record, budget));
        if (admission == Admission::kTaken) {
          pass_through_->Pass(record, [](const budget::BudgetedUrl&) {});
        }
        return admission;
      },
      max_urls);
}

Result<size_t> Frontier::MoveReputation(size_t max_edges) {
  if (reputation_ == nullptr) return 0;
  return reputation_->Step(
      [this](const reputation::InDegree& degree) {
        return budget_->AddInDegree(degree.to, degree.count);
      },
      max_edges);
}

Result<size_t> Frontier::MoveBudget(size_t max_urls) {
  if (budget_ == nullptr) return 0;
  NEPHILA_TRY(size_t moved, budget_->Step(max_urls));
  const robots::RobotsStats robots = robots_->stats();
  const bool wants = queues_->Unread(kReadyQueue) < wanted_ &&
                     robots.checking < std::max<uint64_t>(wanted_, kStepUrls) &&
                     robots.waiting < kMostInRobots;
  if (wants && to_robots_.empty()) {
    NEPHILA_TRY(
        const size_t taken,
        budget_->Take(kBudgetUrls, [this](const budget::BudgetedUrl& url) {
          to_robots_.push_back({std::string(url.record), url.budget});
        }));
    moved += taken;
  }
  return moved;
}

Result<size_t> Frontier::MoveToRobots() {
  size_t moved = 0;
  while (!to_robots_.empty()) {
    const ToRobots& url = to_robots_.front();
    NEPHILA_TRY(const Admission admission,
                robots_->Add(url.record, url.budget));
    if (admission == Admission::kFull) break;
    to_robots_.pop_front();
    ++moved;
  }
  return moved;
}

Result<size_t> Frontier::MoveRobots(size_t max_urls) {
  return robots_->Step(
      [this](const robots::ReadyUrl& allowed) -> Result<Admission> {
        ReadyUrl url;
        url.record = allowed.record;
        url.budget = allowed.budget;
        url.crawl_delay = allowed.crawl_delay;
        url.not_before = allowed.not_before;
        url.failures = allowed.failures;
        url.overloads = allowed.overloads;
        url.checked = allowed.checked;
        std::string bytes;
        AppendReadyUrl(url, bytes);
        NEPHILA_RETURN_IF_ERROR(queues_->Append(kReadyQueue, bytes));
        accounts_.politeness.In();
        accounts_.politeness.Hold(1);
        return Admission::kTaken;
      },
      max_urls);
}

// The ready queue.

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
  while (moved < max_urls && to_robots_.size() < kStepUrls) {
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
  if (places_.End(place)) queues_->Release(kReadyQueue, places_.low());
}

Result<size_t> Frontier::GivePages(const std::function<void(VisitPtr)>& give) {
  const size_t wanted = std::min<uint64_t>(wanted_, kStepUrls);
  // Some may have to go back.
  if (wanted == 0 || to_robots_.size() >= kStepUrls) return 0;
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
  return count;
}

Result<VisitPtr> Frontier::MakeVisit(uint64_t place, std::string_view bytes) {
  places_.GiveOut(place);
  const auto url = ReadReadyUrl(bytes);
  if (!url.has_value()) return Corrupt(url.error());
  const auto record = item::ReadUrl(url->record);
  if (!record.has_value()) return Corrupt(record.error());
  bool is_over = ended_places_.erase(place) > 0;
  if (!is_over && ended_attempts_.size() > 0) {
    is_over = ended_attempts_.Take(AttemptKey(*record, parts_.seed));
  }
  // Rules of yesterday do not hold (RFC 9309 s2.4).
  const bool is_old =
      parts_.clock.WallNow() - url->checked > robots::kLongestUse;
  const bool is_out = scope_.Refuses(*record).has_value();
  if (is_over || is_old || is_out) {
    if (!is_over && is_out) {
      accounts_.politeness.Drop(0);
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
  visit->failures = url->failures;
  visit->overloads = url->overloads;
  return visit;
}

Result<size_t> Frontier::GiveRobots(const std::function<void(VisitPtr)>& give) {
  return robots_->TakeRequests(
      [this, &give](const robots::RobotsRequest& request) -> Result<Admission> {
        item::UrlRecord record;
        record.url = request.origin;
        record.host_start = request.host_start;
        record.host_size = request.host_size;
        record.pld_size = request.pld_size;
        record.flags = item::kForRobots;
        auto visit = std::make_unique<Visit>();
        visit->kind = item::FetchKind::kRobots;
        AppendUrlRecord(record, visit->record);
        visit->attempt = request.first ? 1 : 2;
        visit->budget = request.budget;
        visit->not_before = request.not_before;
        visit->failures = request.failures;
        visit->overloads = request.overloads;
        const auto walk = walks_.find(request.origin);
        if (walk != walks_.end()) visit->walked = walk->second;
        give(std::move(visit));
        return Admission::kTaken;
      },
      kStepUrls);
}

std::vector<const StageAccount*> Frontier::StageAccounts() const {
  std::vector<const StageAccount*> all = {&accounts_.seeds, &accounts_.parse,
                                          &accounts_.url, &accounts_.scope,
                                          &seen_->account()};
  if (reputation_ != nullptr) all.push_back(&reputation_->account());
  all.push_back(budget_ != nullptr ? &budget_->account()
                                   : &pass_through_->account());
  all.push_back(&robots_->account());
  for (const StageAccount* account :
       {&accounts_.politeness, &accounts_.fetch, &accounts_.store}) {
    all.push_back(account);
  }
  return all;
}

}  // namespace nephila::crawl
