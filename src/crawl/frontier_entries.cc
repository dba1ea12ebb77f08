// The frontier's input: entries of the journal, taken in their order.
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "crawl/frontier.h"
#include "crawl/frontier_parts.h"
#include "item/url_record.h"
#include "url/record_keys.h"

namespace nephila::crawl {
namespace {

using item::Admission;

uint64_t BytesOf(const FinishedVisit& visit) {
  return sizeof(FinishedVisit) + visit.record.size() + visit.links.size() +
         visit.rules.size() + visit.command.size() +
         visit.edges.size() * sizeof(reputation::DomainPair);
}

}  // namespace

void Frontier::Take(FinishedVisit visit, bool replayed) {
  const uint64_t entry = visit.entry;
  if (entry < next_entry_) return;
  arrived_bytes_ += BytesOf(visit);
  arrived_.emplace(entry, Arrived{std::move(visit), replayed});
}

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
