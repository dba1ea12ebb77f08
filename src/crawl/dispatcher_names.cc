// The part of Dispatcher that is about names: visits wait for theirs, and what
// becomes of those whose name, or whose host, does not answer.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "crawl/contact_parts.h"
#include "crawl/dispatcher.h"
#include "item/outcome_policy.h"
#include "item/url_record.h"
#include "url/canonicalizer.h"
#include "url/parser.h"
#include "url/url.h"

namespace nephila::crawl {

using politeness::Kind;

namespace {

// A robots.txt that is due within this is worth its place among those that are
// requested at a time; half of the places are for them alone.
constexpr std::chrono::seconds kRobotsIsSoon{10};

}  // namespace

Kind Dispatcher::KindOf(const Visit& visit) {
  if (visit.kind == item::FetchKind::kPage) return Kind::kPage;
  if (visit.hops > 0) return Kind::kHop;
  return visit.attempt == 1 ? Kind::kFirstRobots : Kind::kRobots;
}

std::optional<std::string> Dispatcher::WhyBlocked(const Visit& visit) {
  // URLs that were queued by an earlier run, which may have allowed the port.
  if (ports_.Refuses(visit.port)) {
    return net::PortGuard::Reason(std::to_string(visit.port));
  }
  if (blocks_->empty()) return std::nullopt;
  item::UrlRecord record;
  url::Url url;
  if (visit.kind == item::FetchKind::kPage) {
    const auto read = item::ReadUrl(visit.record);
    NEPHILA_CHECK(read);
    record = *read;
  } else {
    // Of a robots.txt the hop that is next.
    NEPHILA_CHECK(url::Parse(visit.url, nullptr, &url) && url.is_http());
    std::string_view host = url.host();
    record.url = url.href();
    record.host_start = static_cast<uint32_t>(host.data() - record.url.data());
    if (host.ends_with('.')) host.remove_suffix(1);
    record.host_size = static_cast<uint32_t>(host.size());
    record.pld_size = static_cast<uint32_t>(
        url::PayLevelDomain(host, url.host_kind(), parts_.suffixes).size());
  }
  const auto hit = blocks_->Find(record, surt_);
  if (!hit) return std::nullopt;
  return "blocked by " + hit->ToString();
}

std::optional<std::string> Dispatcher::RemoveBlocked(
    std::vector<net::IpAddress>* addresses) const {
  std::optional<std::string> why;
  std::erase_if(*addresses, [&](const net::IpAddress& address) {
    const auto hit = blocks_->Find(address);
    if (hit) why = address.ToString() + " is blocked by " + hit->ToString();
    return hit.has_value();
  });
  return addresses->empty() ? why : std::nullopt;
}

void Dispatcher::Prepare(uint64_t id) {
  const Visit& visit = *visits_.at(id);
  if (auto why = WhyBlocked(visit)) {
    return Fail(id, item::FetchOutcome::kBlocked, *std::move(why));
  }
  const auto due = politeness_.NotYet(FactsOf(visit, hosts_.at(visit.host_key)),
                                      KindOf(visit));
  if (const auto later = RobotsGoesBack(visit); !due && later) {
    Park(id, *later);
  } else if (!due) {
    WaitForName(id);
  } else if (IsGivenUp(visit)) {
    Fail(id, item::FetchOutcome::kHostDead, "");
  } else if (*due > clock_.Now() + parts_.settings.politeness.park_after) {
    Park(id, *due);
  } else {
    AtTime(id, *due);
    ParkLast();
  }
}

std::optional<MonoTime> Dispatcher::RobotsGoesBack(const Visit& visit) const {
  if (paused_ || visit.kind != item::FetchKind::kRobots ||
      robots_ * 2 <= parts_.max_robots) {
    return std::nullopt;
  }
  const politeness::Explanation why = politeness_.Why(visit.host_key);
  const MonoTime due =
      std::max(why.not_before, ToMono(visit.not_before, clock_));
  if (due <= clock_.Now() + kRobotsIsSoon) return std::nullopt;
  return due;
}

void Dispatcher::WaitForName(uint64_t id) {
  const Visit& visit = *visits_.at(id);
  const uint64_t host_key = visit.host_key;
  Host& host = hosts_.at(host_key);
  if (host.slow_name && slow_nameless_ >= MostSlowNames()) {
    return Park(id, NameAgain(&host));
  }
  host.nameless.push_back(id);
  ++nameless_;
  if (host.slow_name) ++slow_nameless_;
  if (host.resolving) return;
  host.resolving = true;
  host.asked_at = clock_.Now();
  names_.emplace_back(host.asked_at, host_key);
  parts_.resolver.Resolve(visit.host,
                          [alive = std::weak_ptr<Dispatcher*>(alive_),
                           host_key](const dns::Answer& answer) {
                            if (const auto self = alive.lock()) {
                              (*self)->OnAnswer(host_key, answer);
                            }
                          });
}

void Dispatcher::OnAnswer(uint64_t host_key, const dns::Answer& answer) {
  Host& host = hosts_.at(host_key);
  host.resolving = false;
  const std::vector<uint64_t> ids = std::exchange(host.nameless, {});
  nameless_ -= ids.size();
  if (std::exchange(host.slow_name, false)) slow_nameless_ -= ids.size();
  host.name_parks = 0;
  if (ids.empty()) {
    // All of them were parked; the resolver knows the answer when they come.
    DropIfDone(host_key);
    return Pump();
  }
  const bool found = answer.outcome == dns::Outcome::kFound;
  // It was not asked for: that tells nothing about the name.
  // And nothing is written down any more when the crawl has ended.
  const bool later = answer.outcome == dns::Outcome::kOverloaded ||
                     answer.outcome == dns::Outcome::kCancelled ||
                     (paused_ && !found);
  if (found) {
    std::vector<net::IpAddress> addresses = answer.addresses;
    const auto why = RemoveBlocked(&addresses);
    // When the crawl has ended its lease will say so.
    if (why && !paused_) {
      for (const uint64_t id : ids) {
        Fail(id, item::FetchOutcome::kBlocked, *why);
      }
      return Pump();
    }
    host.addresses = KeysOf(why ? answer.addresses : addresses);
  }
  if (!found && !later) {
    FailAll(ids, answer);
    return Pump();
  }
  bool first = true;
  for (const uint64_t id : ids) {
    if (later) {
      AtTime(id, clock_.Now() + kResolveAgain);
      continue;
    }
    dns::Answer& its = visits_.at(id)->answer;
    its = first ? answer : dns::Answer();
    if (!first) {
      its.outcome = answer.outcome;
      its.source = dns::Source::kJoined;
    }
    first = false;
    if (!Add(id)) WaitForRoom(id);
  }
  Pump();
}

void Dispatcher::FailAll(const std::vector<uint64_t>& ids,
                         const dns::Answer& answer) {
  const item::FetchOutcome outcome = OutcomeOf(answer.outcome);
  const item::OutcomeRow& row = item::RowFor(outcome, 0);
  // The first of each authority is an attempt.
  std::vector<uint32_t> tried;
  std::vector<bool> is_attempt;
  for (const uint64_t id : ids) {
    Visit& visit = *visits_.at(id);
    const uint32_t authority = AuthorityOf(visit);
    is_attempt.push_back(std::find(tried.begin(), tried.end(), authority) ==
                         tried.end());
    if (!is_attempt.back()) continue;
    tried.push_back(authority);
    visit.answer = answer;
    if (id != ids.front()) visit.answer.source = dns::Source::kJoined;
    visit.left = NoteFailure(visit, row.host);
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!is_attempt[i]) {
      // The authority was tried, this URL was not: it waits as that does.
      if (row.url == item::UrlStep::kRetry) {
        Prepare(ids[i]);
        continue;
      }
      dns::Answer& its = visits_.at(ids[i])->answer;
      its.outcome = answer.outcome;
      its.source = dns::Source::kJoined;
    }
    Fail(ids[i], outcome, Explain(answer));
  }
}

Waits Dispatcher::NoteFailure(const Visit& visit, item::HostStep step) {
  if (step == item::HostStep::kNone) return {};
  Host& host = hosts_.at(visit.host_key);
  const politeness::HostWait wait =
      politeness_.Failed(FactsOf(visit, host), step);
  host.changed = politeness_.HasNews(visit.host_key);
  // Before the host can be forgotten here.
  PassOnNotes();
  return {RoundUp(wait.left),
          RoundUp(wait.authority_left),
          {},
          wait.failures,
          wait.overloads};
}

bool Dispatcher::IsGivenUp(const Visit& visit) const {
  // Nothing is written down any more when the crawl has ended, and of a
  // robots.txt something has to be said.
  if (paused_ || KindOf(visit) != Kind::kPage) return false;
  const auto most =
      static_cast<uint64_t>(parts_.settings.politeness.give_up_after);
  const uint32_t failures = std::max(
      visit.failures, politeness_.Failures(visit.host_key, AuthorityOf(visit)));
  return most > 0 && failures >= most;
}

void Dispatcher::Fail(uint64_t id, item::FetchOutcome outcome,
                      std::string why) {
  VisitPtr visit = Extract(id);
  visit->failure = outcome;
  visit->error = std::move(why);
  Leave(visit->host_key);
  const size_t downloader = next_failed_++ % load_.size();
  parts_.start(downloader, std::move(visit));
}

}  // namespace nephila::crawl
