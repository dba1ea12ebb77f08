// The frontier's input: entries of the journal, taken in their order.
#include <utility>

#include "base/bytes.h"
#include "crawl/frontier.h"
#include "crawl/frontier_parts.h"
#include "crawl/guarded_reader.h"
#include "crawl/visit_links.h"
#include "item/url_record.h"
#include "url/canonicalizer.h"
#include "url/record_keys.h"

namespace nephila::crawl {
namespace {

using item::Admission;

// A strike less is no reason to end a crawl.
Status UnlessFull(Status status) {
  if (!status && status.error().code == ErrorCode::kNoSpace) return {};
  return status;
}

// Says in a slot of the job's folder which entry is being taken.
class TakingGuard {
 public:
  TakingGuard(job::Quarantine* quarantine, size_t slot)
      : quarantine_(quarantine), slot_(slot) {}

  // False: the entry is to be skipped.
  Result<bool> Begin(const FinishedVisit& visit, uint64_t seed,
                     const std::function<void(std::string_view)>& on_take) {
    // Commands come from the user.
    if (visit.is_void || !visit.command.empty()) return true;
    std::string_view bytes = visit.record;
    if (visit.is_seed) {
      bytes = ByteReader(visit.links).Sized().value_or(std::string_view());
    }
    const auto record = item::ReadUrl(bytes);
    if (!record.has_value()) return true;
    std::string url(record->url);
    key_ = url::KeysOf(*record, seed).url.value;
    if (visit.kind == item::FetchKind::kRobots) {
      key_ = ~key_;
      url.append("robots.txt");
    }
    key_ = job::Quarantine::TakingKey(key_);
    if (quarantine_ != nullptr) {
      if (quarantine_->Holds(key_)) return false;
      NEPHILA_RETURN_IF_ERROR(UnlessFull(quarantine_->Begin(slot_, key_, url)));
      begun_ = true;
    }
    if (on_take) on_take(url);
    return true;
  }
  // `whole`: the entry was taken to its end.
  Status End(bool whole) {
    if (!std::exchange(begun_, false)) return {};
    return UnlessFull(whole ? quarantine_->End(slot_, key_)
                            : quarantine_->Leave(slot_));
  }

 private:
  job::Quarantine* const quarantine_;
  const size_t slot_;
  uint64_t key_ = 0;
  bool begun_ = false;
};

}  // namespace

void Frontier::Take(FinishedVisit visit, bool replayed) {
  const uint64_t entry = visit.entry;
  if (entry < next_entry_) return;
  arrived_.emplace(entry, Arrived{std::move(visit), replayed});
}

Result<size_t> Frontier::TakeEntries(size_t max_links) {
  size_t links = 0;
  size_t entries = 0;
  is_stuck_ = false;
  while (links + entries < max_links) {
    const auto found = arrived_.find(next_entry_);
    if (found == arrived_.end()) break;
    NEPHILA_TRY(const bool whole, TakeEntry(&found->second, &links));
    if (!whole) {
      is_stuck_ = true;
      break;
    }
    arrived_.erase(found);
    progress_ = {};
    link_offset_ = 0;
    ++next_entry_;
    ++entries;
  }
  return links + entries;
}

Result<bool> Frontier::TakeEntry(Arrived* arrived, size_t* links) {
  FinishedVisit& visit = arrived->visit;
  if (visit.unread) {
    NEPHILA_RETURN_IF_ERROR(parts_.read_page(&visit, arrived->replayed));
    visit.unread = false;
  }
  TakingGuard guard(parts_.quarantine, parts_.slot);
  NEPHILA_TRY(const bool may_take,
              guard.Begin(visit, parts_.seed, parts_.on_take));
  if (!may_take) Skip(&visit);
  DropTooLongTarget(&visit);
  const auto take = [&]() -> Result<bool> {
    if (progress_.begun && visit.body_lost) Reopen(visit);
    if (!progress_.begun) {
      NEPHILA_RETURN_IF_ERROR(BeginEntry(*arrived));
      progress_.begun = true;
    }
    NEPHILA_TRY(const bool whole, TakeLinks(visit, links));
    return whole ? TakeEdges(visit) : whole;
  };
  Result<bool> whole = take();
  NEPHILA_RETURN_IF_ERROR(guard.End(whole.has_value() && *whole));
  return whole;
}

// Journals of earlier versions hold redirects whose target is longer than a
// record can have it: the page then has ended there.
void Frontier::DropTooLongTarget(FinishedVisit* visit) {
  if (!visit->goes_on || visit->kind != item::FetchKind::kPage) return;
  const auto record = item::ReadUrl(visit->record);
  if (!record.has_value() || WithTarget(*record, visit->next)) return;
  visit->goes_on = false;
  visit->retry = false;
  visit->next = {};
  visit->found = {};
  visit->found.links = 1;
  ++visit->found.not_crawled.at(static_cast<size_t>(url::DropReason::kTooLong));
}

void Frontier::Skip(FinishedVisit* visit) {
  visit->links = {};
  visit->edges = {};
  visit->found = {};
  visit->quarantined = true;
  visit->retry = false;
  visit->goes_on = false;
  visit->next.clear();
  // A seed that cannot be taken brings nothing.
  if (visit->is_seed) visit->is_void = true;
  if (visit->kind == item::FetchKind::kRobots) SetDisallowAll(visit);
}

uint64_t Frontier::HeldBytes() const {
  uint64_t bytes = 0;
  for (const auto& [entry, arrived] : arrived_) bytes += BytesOf(arrived.visit);
  for (const ToRobots& url : to_robots_) bytes += url.record.capacity();
  for (const Unparked& url : unparked_) bytes += url.bytes.capacity();
  for (const Failed& url : failed_) bytes += url.bytes.capacity();
  return bytes + notes_.size() * sizeof(PendingNote);
}

Status Frontier::BeginEntry(const Arrived& arrived) {
  const FinishedVisit& visit = arrived.visit;
  if (visit.is_void) return {};
  if (!visit.command.empty()) {
    TakeCommand(visit);
    return {};
  }
  if (visit.is_seed) {
    accounts_.seeds.Made();
    accounts_.seeds.Out();
    accounts_.url.In();
    accounts_.url.Out();
    return {};
  }
  if (visit.body_lost) {
    // Its URL stays open; after a restart it is in the stages still.
    accounts_.CountAttempt(visit);
    if (!arrived.replayed) {
      BackToRobots(visit.record, visit.budget);
      EndPlace(visit.place);
    }
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
    const auto next = WithTarget(*record, visit.next);
    if (!next) return Corrupt("a redirect that no record can have");
    Follow(*next, visit);
  } else if (visit.retry) {
    item::UrlRecord again = *record;
    again.attempts = std::min(visit.next_attempt - 1, item::kMostAttempts);
    std::string bytes;
    AppendUrlRecord(again, bytes);
    NEPHILA_RETURN_IF_ERROR(
        Park({bytes, visit.budget, visit.when + visit.url_wait}));
  } else {
    NEPHILA_RETURN_IF_ERROR(KeepFailed(visit));
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
void Frontier::Follow(const item::UrlRecord& next, const FinishedVisit& visit) {
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
    robots::RobotsRedirect redirect;
    redirect.origin = record->url;
    redirect.target = record->target;
    redirect.next = visit.next;
    redirect.when = visit.when;
    return robots_->RobotsRedirected(redirect);
  }
  robots::RobotsEnd end;
  end.origin = record->url;
  end.target = record->target;
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
  VisitLinks found(visit, link_offset_);
  while (true) {
    const auto record = found.Next();
    if (!record.has_value()) return Corrupt(record.error());
    if (!*record) return true;
    // After a restart in the middle of a page: those before were taken.
    if ((*record)->ordinal >= progress_.link) {
      NEPHILA_TRY(const bool taken, TakeLink(**record));
      if (!taken) return false;
      progress_.link = (*record)->ordinal + 1;
      ++*links;
    }
    link_offset_ = found.offset();
  }
}

std::optional<scope::ScopeDrop> Frontier::Refuses(
    const item::UrlRecord& record) {
  // A seed, or where one redirects to.
  const bool is_seed = (record.flags & item::kFromSeed) != 0;
  return is_seed ? scope_.TakeSeed(record) : scope_.Refuses(record);
}

Result<bool> Frontier::TakeLink(const item::UrlRecord& record, bool again) {
  if (const auto reason = Refuses(record)) {
    accounts_.scope.In();
    accounts_.scope.Drop(*reason);
    return true;
  }
  auto admission =
      again ? Result<Admission>(seen_->AddAgain(record))
            : seen_->Add(record, url::KeysOf(record, parts_.seed).url);
  if (!admission.has_value()) return Unexpected(std::move(admission).error());
  if (*admission == Admission::kFull) return false;
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

}  // namespace nephila::crawl
