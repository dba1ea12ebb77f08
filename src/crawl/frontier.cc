#include "crawl/frontier.h"

#include <algorithm>
#include <utility>

#include "crawl/frontier_parts.h"
#include "crawl/memory_plan.h"
#include "item/url_record.h"

namespace nephila::crawl {
namespace {

using item::Admission;

constexpr size_t kBudgetUrls = 100;

}  // namespace

Frontier::Frontier(const Parts& parts, scope::Scope scope)
    : parts_(parts),
      plan_(PlanMemory(parts.settings)),
      step_urls_(StepUrls(plan_, parts.settings)),
      scope_(std::move(scope)),
      ended_attempts_(plan_.ended_attempts),
      lookahead_(static_cast<double>(plan_.robots_ahead)) {}

Frontier::~Frontier() = default;

Status Frontier::Note(const HostNote& note) {
  NEPHILA_RETURN_IF_ERROR(
      robots_->NoteHost(note.origin, note.not_before, note.overloads,
                        note.authority_not_before, note.failures));
  // The pass that is on was begun without it; the next has it, or the one
  // after, if the batch for the next is full.
  PendingNote pending;
  pending.host = note.host;
  pending.epoch = note.epoch;
  pending.pass = robots_->load().passes + 3;
  notes_.push_back(pending);
  return {};
}

void Frontier::TakeNoted(
    const std::function<void(uint64_t host, uint64_t epoch)>& noted) {
  if (notes_.empty()) return;
  const uint64_t passes = robots_->load().passes;
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
  NEPHILA_TRY(size_t count, MoveParked(step_urls_));
  moved += count;
  NEPHILA_TRY(count, MoveRobots(kStepUrls));
  moved += count;
  NEPHILA_TRY(count, MoveToRobots());
  moved += count;
  NEPHILA_TRY(count, MoveBudget(kStepUrls));
  moved += count;
  NEPHILA_TRY(count, MoveReputation(kStepUrls));
  moved += count;
  NEPHILA_TRY(count, MoveCaps(kStepUrls));
  moved += count;
  NEPHILA_TRY(count, MoveSeen(kStepUrls));
  moved += count;
  NEPHILA_TRY(count, MoveFailed(step_urls_));
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
  if (caps_ != nullptr) NEPHILA_RETURN_IF_ERROR(caps_->Wait());
  return seen_->Wait();
}

Result<bool> Frontier::RunDry() {
  // Hosts that politeness may forget then make room for others, without which
  // no URL may come that a pass would be for.
  bool will_come = false;
  if (!notes_.empty() && !notes_.back().place) {
    NEPHILA_TRY(will_come, robots_->RunDryForNotes());
  }
  if (wanted_ == 0 || VisitsAreUsedUp()) return will_come;
  NEPHILA_TRY(const bool of_robots, robots_->RunDry());
  will_come = will_come || of_robots;
  if (budget_ != nullptr) {
    NEPHILA_TRY(const bool of_budget, budget_->RunDry());
    NEPHILA_TRY(const bool of_reputation, reputation_->RunDry());
    will_come = will_come || of_budget || of_reputation;
  }
  if (caps_ != nullptr) {
    NEPHILA_TRY(const bool of_caps, caps_->RunDry());
    will_come = will_come || of_caps;
  }
  NEPHILA_TRY(const bool of_seen, seen_->RunDry());
  return will_come || of_seen;
}

bool Frontier::IsEmpty() const {
  return arrived_.empty() && retries_.empty() && seen_->IsEmpty() &&
         (caps_ == nullptr || caps_->IsEmpty()) &&
         (budget_ == nullptr || budget_->IsEmpty()) && to_robots_.empty() &&
         robots_->IsEmpty() && parked_ == 0 && queues_->Kept(kReadyQueue) == 0;
}

std::optional<WallTime> Frontier::NextDue() const {
  std::optional<WallTime> due = robots_->load().next_parked;
  if (!due_slots_.empty()) {
    const WallTime opens = due_slots_.begin()->opens;
    due = due ? std::min(*due, opens) : opens;
  }
  return due;
}

// The stages, from the first to the last.

Result<size_t> Frontier::MoveSeen(size_t max_urls) {
  return seen_->Step(
      [this](std::string_view record) {
        return caps_ != nullptr ? caps_->Add(record) : AddNew(record);
      },
      max_urls);
}

Result<size_t> Frontier::MoveCaps(size_t max_urls) {
  if (caps_ == nullptr) return 0;
  return caps_->Step([this](std::string_view record) { return AddNew(record); },
                     max_urls);
}

Result<Admission> Frontier::AddNew(std::string_view record) {
  if (budget_ != nullptr) return budget_->Add(record);
  const auto budget = static_cast<uint64_t>(parts_.settings.reputation.base);
  NEPHILA_TRY(const Admission admission, robots_->Add(record, budget));
  if (admission == Admission::kTaken) {
    pass_through_->Pass(record, [](const budget::BudgetedUrl&) {});
  }
  return admission;
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
  const robots::RobotsLoad robots = robots_->load();
  const uint64_t ahead = lookahead_.Urls(robots.cheap_interval);
  const bool wants = queues_->Unread(kReadyQueue) < std::max(wanted_, ahead) &&
                     robots.checking < std::max({wanted_, kStepUrls, ahead}) &&
                     robots.waiting < plan_.robots_ahead;
  if (wants && to_robots_.empty()) {
    NEPHILA_TRY(
        const size_t taken,
        budget_->Take(
            std::min(kBudgetUrls, step_urls_),
            [this](const budget::BudgetedUrl& url) {
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
        url.overloads = allowed.overloads;
        url.authority_not_before = allowed.authority_not_before;
        url.failures = allowed.failures;
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

Result<size_t> Frontier::GiveRobots(const std::function<void(VisitPtr)>& give) {
  return robots_->TakeRequests(
      [&give](const robots::RobotsRequest& request) -> Result<Admission> {
        item::UrlRecord record;
        record.url = request.origin;
        record.host_start = request.host_start;
        record.host_size = request.host_size;
        record.pld_size = request.pld_size;
        record.flags = item::kForRobots;
        record.target = request.target;
        record.followed = request.target.empty() ? 0 : 1;
        auto visit = std::make_unique<Visit>();
        visit->kind = item::FetchKind::kRobots;
        AppendUrlRecord(record, visit->record);
        visit->attempt = request.first ? 1 : 2;
        visit->budget = request.budget;
        visit->not_before = request.not_before;
        visit->overloads = request.overloads;
        visit->authority_not_before = request.authority_not_before;
        visit->failures = request.failures;
        visit->crawl_delay = request.crawl_delay;
        // Not charged: they are few by their number (robots_requests), and one
        // that waits for long must not keep pages back.
        give(std::move(visit));
        return Admission::kTaken;
      },
      kStepUrls);
}

std::vector<const StageAccount*> Frontier::StageAccounts() const {
  std::vector<const StageAccount*> all = {&accounts_.seeds, &accounts_.parse,
                                          &accounts_.url, &accounts_.scope,
                                          &seen_->account()};
  if (caps_ != nullptr) all.push_back(&caps_->account());
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
