#include "politeness/politeness.h"

#include <algorithm>
#include <utility>

#include "politeness/politeness_impl.h"

namespace nephila::politeness {
namespace {

constexpr std::array<std::string_view, 9> kWaitNames = {
    "nothing",  "host-delay", "domain-delay", "server-delay", "server-line",
    "transfer", "parked",     "next-take",    "authority"};

// The host waits, or this authority if that takes longer.
void ExplainLane(const LaneState& lane, Explanation& why) {
  why.authority = lane.authority;
  why.trouble.failures = lane.failures;
  if (lane.ready_at <= why.not_before) return;
  why.not_before = lane.ready_at;
  why.reason = lane.reason;
}

}  // namespace

std::string_view WaitsForName(WaitsFor what) {
  return kWaitNames[static_cast<size_t>(what)];
}

Explanation Politeness::Impl::Why(uint64_t key, uint32_t authority) const {
  Explanation why;
  const uint32_t number = FindHost(key);
  if (number == kNone) {
    const auto found = parked_hosts_.find(key);
    if (found == parked_hosts_.end()) return why;
    const ParkedHost& parked = found->second;
    why.what = WaitsFor::kParked;
    why.not_before = parked.ready_at;
    why.reason = parked.reason;
    why.trouble.overloads = parked.overloads;
    const LaneState* lane = FindLane(parked, authority);
    const bool is_named = lane != nullptr;
    for (size_t i = 0; i < parked.lanes.size() && !is_named; ++i) {
      const LaneState& other = parked.lanes[i];
      if (lane == nullptr || lane->failures < other.failures) lane = &other;
    }
    if (lane != nullptr) ExplainLane(*lane, why);
    why.until = why.not_before;
    return why;
  }
  const Host& host = hosts_[number];
  const MonoTime now = clock_.Now();
  why.reason = host.reason;
  why.not_before = host.ready_at;
  why.delay = rules_.HostDelay(host.pace).length;
  why.urls = host.urls();
  why.trouble.overloads = host.overloads;
  const Lane* lane = FindLane(host, authority);
  const bool is_named = lane != nullptr;
  for (size_t i = 0; i < host.lanes.size() && !is_named; ++i) {
    const Lane& other = host.lanes[i];
    if (lane == nullptr) {
      lane = &other;
    } else if (other.urls.empty() != lane->urls.empty()) {
      if (lane->urls.empty()) lane = &other;
    } else if (lane->urls.empty()
                   ? other.failures > lane->failures
                   : LaneDue(host, other) < LaneDue(host, *lane)) {
      lane = &other;
    }
  }
  if (lane != nullptr) ExplainLane(*lane, why);
  if (host.place == Place::kFlight) {
    why.what = WaitsFor::kTransfer;
    why.until = now;
  } else if (host.place == Place::kLine) {
    const Server& server = servers_[host.line_server];
    for (uint32_t at = server.line_first; at != number;
         at = hosts_[at].line_next) {
      ++why.ahead;
    }
    why.until = TurnAt(server, why.ahead, now);
    why.what = why.ahead > 0 || server.pending_lease != 0
                   ? WaitsFor::kServerLine
                   : (server.ready_at > now ? WaitsFor::kServerDelay
                                            : WaitsFor::kNextTake);
  } else if (why.urls > 0) {
    const bool has_url = lane != nullptr && !lane->urls.empty();
    const MonoTime due = has_url
                             ? std::max(LaneDue(host, *lane), host.domain_turn)
                             : DueOf(host);
    why.until = std::max(now, due);
    if (why.until == now) {
      why.what = WaitsFor::kNextTake;
    } else if (why.until == host.domain_turn) {
      why.what = WaitsFor::kDomain;
    } else {
      why.what = has_url && why.until == lane->ready_at &&
                         lane->ready_at > host.ready_at
                     ? WaitsFor::kAuthority
                     : WaitsFor::kHost;
    }
  }
  return why;
}

PolitenessStats Politeness::Impl::Stats() const {
  PolitenessStats stats;
  stats.added = added_;
  stats.leased = leased_;
  stats.parked = parked_urls_;
  stats.waiting = waiting_;
  stats.in_flight = leases_.size();
  stats.hosts = hosts_.size();
  stats.parked_hosts = parked_hosts_.size();
  stats.busy_hosts = busy_hosts_;
  stats.addresses = servers_.size();
  stats.wanted_hosts = WantedHosts();
  return stats;
}

HostCounts Politeness::Impl::CountHosts() const {
  HostCounts counts;
  // One of whose authorities some answer, or may, is not dead.
  const auto count_dead = [&](const auto& lanes) {
    size_t dead = 0;
    size_t known = 0;
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (IsBlank(lanes[i]) && lanes.size() > 1) continue;
      ++known;
      if (rules_.IsDead(lanes[i].failures)) ++dead;
    }
    if (dead > 0 && dead == known) ++counts.dead;
  };
  for (const auto& [key, number] : host_by_key_) {
    const Host& host = hosts_[number];
    count_dead(host.lanes);
    if (host.place == Place::kFlight) {
      ++counts.in_flight;
    } else if (host.place == Place::kLine) {
      ++counts.due;
    } else if (!host.has_urls()) {
      ++counts.idle;
    } else {
      ++counts.waiting;
      const MonoTime due = DueOf(host);
      counts.next_due = std::min(counts.next_due.value_or(due), due);
    }
  }
  for (const auto& [key, host] : parked_hosts_) count_dead(host.lanes);
  return counts;
}

Politeness::Politeness(const Clock& clock, PolitenessOptions options)
    : impl_(std::make_unique<Impl>(clock, std::move(options))) {}
Politeness::~Politeness() = default;

Added Politeness::Add(const HostFacts& facts, Kind kind, std::string payload) {
  return impl_->Add(facts, kind, std::move(payload));
}
void Politeness::Update(const HostFacts& facts) { impl_->Update(facts); }
void Politeness::Take(const LeaseLimits& limits, std::vector<Lease>& leases) {
  impl_->Take(limits, leases);
}
MonoTime Politeness::NextDue(const LeaseLimits& limits) const {
  return impl_->NextDue(limits);
}
bool Politeness::OthersWait() const { return impl_->OthersWait(); }
void Politeness::Contacted(uint64_t lease, MonoTime when) {
  impl_->Contacted(lease, when);
}
Waits Politeness::Done(uint64_t lease, const Outcome& outcome) {
  return impl_->Done(lease, outcome);
}
HostWait Politeness::Failed(const HostFacts& facts, item::HostStep step) {
  return impl_->Failed(facts, step);
}
std::optional<MonoTime> Politeness::NotYet(const HostFacts& facts, Kind kind) {
  return impl_->NotYet(facts, kind);
}
bool Politeness::WantsMore() const { return impl_->WantsMore(); }
void Politeness::SetSpeed(double leases_per_second) {
  impl_->SetSpeed(leases_per_second);
}
void Politeness::TakeParked(std::vector<Parked>& parked) {
  impl_->TakeParked(parked);
}
void Politeness::TakeNotes(std::vector<HostNote>& notes) {
  impl_->TakeNotes(notes);
}
void Politeness::Forget(uint64_t host, uint64_t epoch) {
  impl_->Forget(host, epoch);
}
Explanation Politeness::Why(uint64_t host, uint32_t authority) const {
  return impl_->Why(host, authority);
}
uint32_t Politeness::Failures(uint64_t host, uint32_t authority) const {
  return impl_->Failures(host, authority);
}
bool Politeness::HasNews(uint64_t host) const { return impl_->HasNews(host); }
PolitenessStats Politeness::stats() const { return impl_->Stats(); }
HostCounts Politeness::CountHosts() const { return impl_->CountHosts(); }
void Politeness::SetDelays(
    const PolitenessSettings& settings,
    const std::function<std::string_view(uint64_t)>& name_of) {
  impl_->SetDelays(settings, name_of);
}
std::string Politeness::Save() const { return impl_->Save(); }
Status Politeness::Restore(std::string_view saved,
                           const std::optional<std::vector<Contact>>& since) {
  return impl_->Restore(saved, since);
}
std::vector<Contact> Politeness::InFlight() const { return impl_->InFlight(); }
ServerKey Politeness::ClockOf(const ServerKey& address) const {
  return impl_->ClockOf(address);
}
void Politeness::Hold(const HostWait& wait) { impl_->Hold(wait); }
void Politeness::Hold(const ServerWait& wait) { impl_->Hold(wait); }

}  // namespace nephila::politeness
