#include "politeness/politeness.h"

#include <algorithm>
#include <utility>

#include "politeness/politeness_impl.h"
#include "politeness/saved_waits.h"

namespace nephila::politeness {
namespace {

constexpr std::array<std::string_view, 7> kWaitNames = {
    "nothing",  "host-delay", "server-delay", "server-line",
    "transfer", "parked",     "next-take"};

}  // namespace

std::string_view WaitsForName(WaitsFor what) {
  return kWaitNames[static_cast<size_t>(what)];
}

Explanation Politeness::Impl::Why(uint64_t key) const {
  Explanation why;
  const uint32_t number = FindHost(key);
  if (number == kNone) return why;
  const Host& host = hosts_[number];
  const MonoTime now = clock_.Now();
  why.reason = host.reason;
  why.not_before = host.ready_at;
  why.delay = rules_.HostDelay(host.pace).length;
  why.urls = host.urls();
  why.failures = host.failures;
  if (host.place == Place::kFlight) {
    why.what = WaitsFor::kTransfer;
    why.until = now;
  } else if (host.place == Place::kLine) {
    const Server& server = servers_[host.line_server];
    for (uint32_t at = server.line_first; at != number;
         at = hosts_[at].line_next) {
      ++why.ahead;
    }
    const Length delay = rules_.ServerDelay(server.MeanBudget());
    why.until = std::max(now, server.ready_at) +
                delay * static_cast<int64_t>(why.ahead);
    why.what = why.ahead > 0 || server.pending_lease != 0
                   ? WaitsFor::kServerLine
                   : (server.ready_at > now ? WaitsFor::kServerDelay
                                            : WaitsFor::kNextTake);
  } else if (host.parked) {
    why.what = WaitsFor::kParked;
    why.until = host.ready_at;
  } else if (why.urls > 0) {
    why.until = std::max(now, DueOf(host));
    why.what = why.until > now ? WaitsFor::kHost : WaitsFor::kNextTake;
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
  stats.busy_hosts = busy_hosts_;
  stats.addresses = servers_.size();
  stats.wanted_hosts = WantedHosts();
  return stats;
}

std::string Politeness::Impl::Save() const {
  SavedWaits waits;
  waits.boot_id = clock_.BootId().value_or("");
  waits.when = clock_.Now();
  for (const auto& [key, number] : host_by_key_) {
    const Host& host = hosts_[number];
    const Length left = std::max(Length::zero(), host.ready_at - waits.when);
    // Shorter ones a restart waits anyway.
    HostPace again = host.pace;
    again.last_download = Length::zero();
    if (left <= rules_.HostDelay(again).length && host.failures == 0 &&
        host.overloads == 0) {
      continue;
    }
    waits.hosts.push_back(
        {key, left, host.reason, host.failures, host.overloads});
  }
  std::sort(
      waits.hosts.begin(), waits.hosts.end(),
      [](const HostWait& a, const HostWait& b) { return a.host < b.host; });
  return FormatWaits(waits);
}

Status Politeness::Impl::Restore(std::string_view saved) {
  const auto waits = ParseWaits(saved);
  if (!waits) {
    return Unexpected(Error{ErrorCode::kCorruption,
                            "the waits of hosts in the manifest are damaged"});
  }
  const MonoTime now = clock_.Now();
  const auto boot = clock_.BootId();
  const bool same_boot = boot.has_value() && !boot->empty() &&
                         *boot == waits->boot_id && waits->when <= now;
  const Length passed = same_boot ? now - waits->when : Length::zero();
  for (const HostWait& wait : waits->hosts) {
    if (FindHost(wait.host) != kNone) continue;
    HostFacts facts;
    facts.host = wait.host;
    facts.failures = wait.failures;
    facts.overloads = wait.overloads;
    const uint32_t number = MakeHost(facts);
    Host& host = hosts_[number];
    host.contacted = true;
    // How long a restart waits is known when it is added again.
    WaitUntil(host, now + std::max(Length::zero(), wait.left - passed),
              wait.reason);
    ScheduleHost(number);
  }
  return {};
}

Politeness::Politeness(const Clock& clock, PolitenessOptions options)
    : impl_(std::make_unique<Impl>(clock, std::move(options))) {}
Politeness::~Politeness() = default;

Added Politeness::Add(const HostFacts& facts, Kind kind, std::string payload) {
  return impl_->Add(facts, kind, std::move(payload));
}
void Politeness::Update(const HostFacts& facts) { impl_->Update(facts); }
void Politeness::Take(size_t max, std::vector<Lease>& leases) {
  impl_->Take(max, leases);
}
MonoTime Politeness::NextDue() const { return impl_->NextDue(); }
void Politeness::Contacted(uint64_t lease, MonoTime when) {
  impl_->Contacted(lease, when);
}
void Politeness::Done(uint64_t lease, const Outcome& outcome) {
  impl_->Done(lease, outcome);
}
bool Politeness::WantsMore() const { return impl_->WantsMore(); }
void Politeness::SetSpeed(double leases_per_second) {
  impl_->SetSpeed(leases_per_second);
}
void Politeness::TakeParked(std::vector<Parked>& parked) {
  impl_->TakeParked(parked);
}
void Politeness::Forget(uint64_t host) { impl_->Forget(host); }
Explanation Politeness::Why(uint64_t host) const { return impl_->Why(host); }
PolitenessStats Politeness::stats() const { return impl_->Stats(); }
std::string Politeness::Save() const { return impl_->Save(); }
Status Politeness::Restore(std::string_view saved) {
  return impl_->Restore(saved);
}

}  // namespace nephila::politeness
