#include "crawl/downloader.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "crawl/contact_parts.h"
#include "crawl/visit_links.h"
#include "item/outcome_policy.h"
#include "item/url_record.h"
#include "job/entry.h"
#include "url/parser.h"
#include "url/record_keys.h"

namespace nephila::crawl {
namespace {

using fetch::FetchResult;
using item::FetchKind;
using item::FetchOutcome;
using std::chrono::milliseconds;

// Pages that may wait while others are asked for: their bodies take memory.
constexpr size_t kMostReleased = 4;
// Pages that are read before the sockets are looked at again: some hundred
// microseconds each.
constexpr size_t kSettledAtOnce = 4;
// How soon a downloader that is backed up looks again.
constexpr milliseconds kBackedUpPoll{5};

std::unique_ptr<FetchResult> WithoutContact(const Visit& visit,
                                            const Clock& clock) {
  auto result = std::make_unique<FetchResult>();
  result->kind = visit.kind;
  result->url = visit.url;
  result->begin = clock.WallNow();
  result->outcome = *visit.failure;
  result->error = visit.error;
  return result;
}

}  // namespace

Downloader::Downloader(const Parts& parts)
    : parts_(parts),
      reader_(
          parts.settings, parts.suffixes, parts.seed, parts.budgets,
          {parts.max_page_bytes, parts.max_links_bytes, /*may_defer=*/true}),
      guarded_(
          {reader_, parts.quarantine, parts.number, parts.seed, parts.on_read}),
      head_(fetch::HeadLimitsOf(parts.settings.fetch)),
      canonicalizer_(parts.settings.url, parts.suffixes, parts.seed) {}

Downloader::~Downloader() { parts_.loop.Cancel(settling_); }

void Downloader::Start(VisitPtr visit) {
  Attempt attempt;
  attempt.visit = std::move(visit);
  const Visit& started = *attempt.visit;
  if (started.failure) {
    attempt.result = WithoutContact(started, parts_.loop.clock());
    attempt.waits = started.left;
    return Settle(std::move(attempt));
  }
  fetch::FetchRequest request;
  request.id = started.lease;
  request.kind = started.kind;
  request.url = started.url;
  request.host = started.host;
  request.port = started.port;
  request.https = started.https;
  request.address = started.address;
  request.keep_connection = started.keep_connection;
  if (started.kind == FetchKind::kRobots) {
    request.limits = parts_.limits;
    request.limits->max_body_bytes = parts_.settings.robots.max_size_bytes;
  }
  const bool is_new = visits_.emplace(started.lease, std::move(attempt)).second;
  NEPHILA_CHECK(is_new);
  parts_.fetcher.Start(std::move(request), this);
}

void Downloader::OnContact(uint64_t id, MonoTime when, bool /*fresh*/) {
  parts_.contacted(id, when);
}

void Downloader::OnFetched(std::unique_ptr<FetchResult> result) {
  const auto found = visits_.find(result->id);
  NEPHILA_CHECK(found != visits_.end());
  Attempt& attempt = found->second;
  if (attempt.too_slow && result->outcome == FetchOutcome::kInterrupted) {
    result->outcome = FetchOutcome::kTimeout;
    attempt.visit->error = "too slow while other hosts waited";
  }
  Dispatcher::End end;
  end.lease = result->id;
  end.outcome = PaceOf(*result, parts_.settings, parts_.loop.clock(), &head_);
  const bool stale = IsStale(*result) && !attempt.visit->is_again;
  if (stale || result->outcome == FetchOutcome::kInterrupted) {
    // It is not over, and nothing of it is written down.
    end.outcome.host = item::HostStep::kNone;
    end.next = std::move(attempt.visit);
    end.next->lease = 0;
    end.next->is_again = end.next->is_again || stale;
    visits_.erase(found);
    parts_.fetcher.Recycle(std::move(result));
  } else {
    end.is_page = attempt.visit->kind == FetchKind::kPage &&
                  result->outcome == FetchOutcome::kResponse;
    attempt.result = std::move(result);
  }
  // May come back to Released at once.
  parts_.ended(std::move(end));
}

void Downloader::Released(uint64_t lease, const Waits& waits) {
  auto node = visits_.extract(lease);
  NEPHILA_CHECK(!node.empty() && node.mapped().result != nullptr);
  node.mapped().waits = waits;
  released_.push_back(std::move(node.mapped()));
  SettleSoon();
}

void Downloader::SettleSoon() {
  if (released_.empty() || settling_ != net::TimerId::kNone) return;
  const MonoTime now = parts_.loop.clock().Now();
  settling_ = parts_.loop.At(IsBackedUp() ? now + kBackedUpPoll : now, [this] {
    settling_ = net::TimerId::kNone;
    if (IsBackedUp()) return SettleSoon();
    SettleSome();
  });
}

bool Downloader::IsBackedUp() const {
  return parts_.in_transit != nullptr &&
         parts_.in_transit->used() / 2 >= parts_.in_transit->limit();
}

void Downloader::SettleSome() {
  size_t settled = 0;
  do {
    Attempt attempt = std::move(released_.front());
    released_.pop_front();
    Settle(std::move(attempt));
    ++settled;
  } while (!released_.empty() &&
           (settled < kSettledAtOnce || released_.size() > kMostReleased));
  SettleSoon();
}

void Downloader::SettleAll() {
  while (!released_.empty()) {
    Attempt attempt = std::move(released_.front());
    released_.pop_front();
    Settle(std::move(attempt));
  }
  parts_.loop.Cancel(settling_);
  settling_ = net::TimerId::kNone;
}

bool Downloader::IsFetching(std::string_view url) const {
  const auto is_of = [url](const Attempt& attempt) {
    return attempt.visit != nullptr && IsPageOf(*attempt.visit, url);
  };
  return std::any_of(visits_.begin(), visits_.end(),
                     [&](const auto& one) { return is_of(one.second); }) ||
         std::any_of(released_.begin(), released_.end(), is_of) ||
         std::any_of(stuck_.begin(), stuck_.end(), is_of);
}

void Downloader::CancelAll() {
  std::vector<uint64_t> leases;
  leases.reserve(visits_.size());
  for (const auto& [lease, attempt] : visits_) {
    if (attempt.result == nullptr) leases.push_back(lease);
  }
  for (const uint64_t lease : leases) parts_.fetcher.Cancel(lease);
}

void Downloader::EndSlow(uint64_t lease) {
  const auto found = visits_.find(lease);
  if (found == visits_.end() || found->second.result != nullptr) return;
  found->second.too_slow = true;
  parts_.fetcher.Cancel(lease);
}

void Downloader::TryAgain() {
  std::deque<Attempt> stuck = std::exchange(stuck_, {});
  for (Attempt& attempt : stuck) Settle(std::move(attempt));
}

Result<store::StorePosition> Downloader::Sync() {
  NEPHILA_RETURN_IF_ERROR(parts_.store.Sync());
  return parts_.store.position();
}

Status Downloader::Finish() {
  TryAgain();
  if (!stuck_.empty()) {
    return Unexpected(
        Error{ErrorCode::kNoSpace, "pages that were fetched wait for room"});
  }
  return parts_.store.Finish();
}

void Downloader::Settle(Attempt attempt) {
  if (stuck_.empty()) {
    const Status written = Write(&attempt);
    if (written) return HandOver(std::move(attempt));
    stuck_.push_back(std::move(attempt));
    parts_.failed(written.error());
  } else {
    stuck_.push_back(std::move(attempt));
  }
}

Status Downloader::Write(Attempt* attempt) {
  if (!attempt->decided) Decide(attempt);
  if (!attempt->stored) NEPHILA_RETURN_IF_ERROR(Archive(attempt));
  if (attempt->entry.empty()) {
    if (attempt->visit->kind == FetchKind::kRobots) {
      NEPHILA_RETURN_IF_ERROR(ReadRobots(attempt));
    }
    MakeEntry(attempt);
  }
  NEPHILA_TRY(attempt->finished.entry, parts_.journal.Append(attempt->entry));
  return {};
}

void Downloader::Decide(Attempt* attempt) {
  const Visit& visit = *attempt->visit;
  const FetchResult& result = *attempt->result;
  FinishedVisit& finished = attempt->finished;
  finished.kind = visit.kind;
  finished.record = visit.record;
  finished.place = visit.place;
  finished.attempt = finished.next_attempt = visit.attempt;
  finished.budget = visit.budget;
  finished.outcome = result.outcome;
  finished.status = result.status;
  finished.body_bytes = result.body.size_bytes();
  // As exact as the journal has it.
  finished.when =
      std::chrono::floor<milliseconds>(parts_.loop.clock().WallNow());
  finished.host_wait = std::max(attempt->waits.host, attempt->waits.authority);
  attempt->decided = true;
  // What becomes of a site without robots.txt is for its record to say.
  if (visit.kind == FetchKind::kRobots) return;
  attempt->next = OwnRedirect(*attempt);
  if (attempt->next) return;
  item::Attempt tried;
  tried.outcome = result.outcome;
  tried.status = result.status;
  tried.attempt = visit.attempt;
  tried.certificate_refused = !result.certificate_error.empty();
  const item::Next next = item::WhatNext(tried, parts_.settings.fetch);
  // An authority that is silent for so long has had its tries too.
  const auto silences =
      static_cast<uint64_t>(parts_.settings.politeness.give_up_after);
  const bool given_up = silences > 0 && attempt->waits.failures >= silences;
  const bool retry = next.url == item::UrlStep::kRetry;
  attempt->used_up = next.attempts_used_up || (retry && given_up);
  finished.retry = retry && !given_up;
  if (!finished.retry) return;
  if (next.attempt_counts) ++finished.next_attempt;
  finished.url_wait = std::max(RoundUp(next.url_wait), finished.host_wait);
}

std::optional<url::Url> Downloader::OwnRedirect(const Attempt& attempt) {
  const Visit& visit = *attempt.visit;
  const FetchResult& result = *attempt.result;
  if (result.outcome != FetchOutcome::kResponse || !IsRedirect(result.status) ||
      visit.hops >= kMostOwnRedirects) {
    return std::nullopt;
  }
  head_.Clear();
  std::string_view bytes = result.head;
  if (head_.Add(&bytes) != fetch::HeadState::kComplete) head_.Finish();
  // Before it is parsed: a Location is as long as a head.
  const std::string_view location = head_.location();
  if (!head_.Has("Location") ||
      location.size() > parts_.settings.url.max_length_bytes) {
    return std::nullopt;
  }
  url::Url asked;
  url::Url target;
  if (!url::Parse(result.url, nullptr, &asked) ||
      !url::Parse(location, &asked, &target) || !target.is_http()) {
    return std::nullopt;
  }
  const auto canonical = canonicalizer_.Canonicalize(target);
  const auto record = item::ReadUrl(visit.record);
  NEPHILA_CHECK(record);
  if (!canonical ||
      canonical->keys.url != url::KeysOf(*record, parts_.seed).url) {
    return std::nullopt;
  }
  target.RemoveFragment();
  target.RemoveUserinfo();
  // Bytes that are percent-encoded make it longer than the Location was.
  if (target.href().size() > parts_.settings.url.max_length_bytes ||
      !WithTarget(*record, target.href())) {
    return std::nullopt;
  }
  return target;
}

Status Downloader::Archive(Attempt* attempt) {
  NEPHILA_RETURN_IF_ERROR(ArchiveName(*attempt));
  const Visit& visit = *attempt->visit;
  item::FetchedPage page = AsPage(*attempt->result);
  page.attempt = visit.attempt;
  page.thread = static_cast<uint32_t>(parts_.number);
  const auto record = item::ReadUrlRecord(visit.record, parent_);
  NEPHILA_CHECK(record);
  hop_path_ = record->hop_path;
  if (visit.kind == FetchKind::kRobots) {
    hop_path_ = "P";
  } else if (visit.hops == 0) {
    page.via = record->parent;
  } else {
    page.via = record->url;
    std::string path;
    for (uint32_t i = 0; i < visit.hops; ++i) {
      path.clear();
      item::AppendHop(hop_path_, static_cast<char>(Hop::kRedirect), path);
      std::swap(path, hop_path_);
    }
  }
  page.hop_path = hop_path_;
  std::array<std::string_view, 2> notes;
  size_t count = 0;
  if (!visit.error.empty()) notes.at(count++) = visit.error;
  if (attempt->used_up) {
    const bool responded = page.outcome == FetchOutcome::kResponse;
    notes.at(count++) = item::FetchOutcomeName(
        responded ? FetchOutcome::kTooManyRetries : page.outcome);
    if (!responded) page.outcome = FetchOutcome::kTooManyRetries;
  }
  page.annotations = std::span(notes).first(count);
  NEPHILA_TRY(attempt->stored, parts_.store.Write(page));
  attempt->finished.archived = attempt->stored->place.has_value();
  return {};
}

Status Downloader::ArchiveName(const Attempt& attempt) {
  const Visit& visit = *attempt.visit;
  if (!NamePage::IsNews(visit.answer) ||
      archived_names_.contains(visit.host_key)) {
    return {};
  }
  const NamePage name(visit.host, visit.answer, attempt.result->begin);
  item::FetchedPage page = name.page();
  page.thread = static_cast<uint32_t>(parts_.number);
  NEPHILA_RETURN_IF_ERROR(parts_.store.Write(page));
  // A record twice does no harm.
  if (archived_names_.size() >= parts_.max_names) archived_names_.clear();
  archived_names_.insert(visit.host_key);
  return {};
}

Status Downloader::ReadRobots(Attempt* attempt) {
  // The word of the operator stands in its place: no page of the site waits
  // for it. A redirect to where nobody may go is one that is refused.
  if (attempt->result->outcome == FetchOutcome::kBlocked &&
      attempt->visit->hops == 0) {
    SetDisallowAll(&attempt->finished);
    return {};
  }
  fetch::RobotsWalk& walk = *attempt->visit->walk;
  NEPHILA_TRY(auto read, guarded_.ReadRobots(AsPage(*attempt->result), &walk,
                                             &attempt->finished));
  attempt->sitemaps = std::move(read.sitemaps);
  if (read.step == fetch::RobotsWalk::Step::kAsk) attempt->next = walk.next();
  return {};
}

void Downloader::MakeEntry(Attempt* attempt) {
  const Visit& visit = *attempt->visit;
  FinishedVisit& finished = attempt->finished;
  finished.goes_on = attempt->next.has_value();
  if (attempt->next) finished.next = attempt->next->href();
  finished.retry = finished.retry || finished.goes_on;
  job::Entry entry;
  entry.kind = visit.kind == FetchKind::kRobots ? job::EntryKind::kRobots
                                                : job::EntryKind::kPage;
  entry.when = finished.when;
  entry.record = visit.record;
  entry.place = visit.place;
  entry.outcome = finished.outcome;
  entry.status = static_cast<uint16_t>(finished.status);
  entry.attempt = visit.attempt;
  entry.retry = finished.retry;
  entry.goes_on = finished.goes_on;
  entry.next = finished.next;
  entry.budget = finished.budget;
  entry.body_bytes = finished.body_bytes;
  if (attempt->stored->place) {
    const store::UnitPlace& place = *attempt->stored->place;
    finished.archive = {static_cast<uint32_t>(parts_.number),
                        place.begin.serial, place.begin.offset,
                        place.end.offset - place.begin.offset};
  }
  if (attempt->stored->original) {
    const store::Original& original = *attempt->stored->original;
    finished.original = {original.stream, original.begin.serial,
                         original.begin.offset, original.bytes};
  }
  entry.archive = finished.archive;
  entry.original = finished.original;
  entry.url_wait = finished.url_wait;
  entry.host_wait = attempt->waits.host;
  entry.authority_wait = attempt->waits.authority;
  entry.address_wait = attempt->waits.address;
  if (visit.lease != 0) entry.address = KeyOf(visit.address).bytes;
  entry.host_failures = attempt->waits.failures;
  entry.host_overloads = attempt->waits.overloads;
  entry.robots_end = finished.robots_end;
  entry.robots_status = static_cast<uint16_t>(finished.robots_status);
  entry.rules = finished.rules;
  entry.crawl_delay = finished.robots_delay;
  job::AppendEntry(entry, attempt->entry);
}

// It is archived and in the journal: the frontier can have it read later, and
// so can the next process, if this one has to end.
Status Downloader::ReadPage(Attempt* attempt) {
  FinishedVisit& finished = attempt->finished;
  finished.charge = ByteCharge(parts_.in_transit);
  finished.charge.Set(BytesOf(finished));
  const bool is_page = attempt->visit->kind == FetchKind::kPage &&
                       !attempt->next &&
                       attempt->result->outcome == FetchOutcome::kResponse;
  const bool has_sitemaps =
      parts_.settings.robots.sitemaps && !attempt->sitemaps.empty();
  if (!is_page && !has_sitemaps) return {};
  if (finished.archive && parts_.in_transit != nullptr &&
      parts_.in_transit->IsUsedUp()) {
    finished.unread = true;
    return {};
  }
  if (is_page) return guarded_.ReadPage(AsPage(*attempt->result), &finished);
  return guarded_.GiveSitemaps(attempt->sitemaps, &finished);
}

void Downloader::HandOver(Attempt attempt) {
  if (const Status read = ReadPage(&attempt); !read) {
    return parts_.failed(read.error());
  }
  parts_.finished(std::move(attempt.finished));
  parts_.fetcher.Recycle(std::move(attempt.result));
}

}  // namespace nephila::crawl
