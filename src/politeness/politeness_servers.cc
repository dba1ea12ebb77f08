// The part of Politeness::Impl that is about addresses: their lines, and the
// leases that come from them.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "politeness/politeness_impl.h"

namespace nephila::politeness {

uint32_t Politeness::Impl::ServerOf(const ServerKey& key) {
  const auto [at, is_new] = server_by_key_.emplace(key, kNone);
  if (!is_new) return at->second;
  at->second = servers_.Add();
  Server& server = servers_[at->second];
  server.key = key;
  if (const MonoTime before = ContactBefore(key); before != MonoTime()) {
    server.ready_at = After(before, rules_.ServerDelay(0));
  }
  return at->second;
}

void Politeness::Impl::AddDomain(uint32_t number, uint64_t domain,
                                 double budget) {
  Server& server = servers_[number];
  DomainHosts& hosts = domains_[{domain, number}];
  if (hosts.hosts++ == 0) {
    ++server.domains;
  } else {
    server.budgets -= hosts.budget;
  }
  // Not known is the budget of all.
  hosts.budget = budget > 0 ? budget : options_.reference_budget;
  server.budgets += hosts.budget;
}

void Politeness::Impl::RemoveDomain(uint32_t number, uint64_t domain) {
  const auto found = domains_.find({domain, number});
  NEPHILA_CHECK(found != domains_.end());
  if (--found->second.hosts > 0) return;
  Server& server = servers_[number];
  --server.domains;
  server.budgets -= found->second.budget;
  domains_.erase(found);
}

void Politeness::Impl::ScheduleServer(uint32_t number) {
  const Server& server = servers_[number];
  const bool unused = server.hosts == 0 && server.in_flight == 0;
  if (IsOpen(server) && (server.line_size > 0 || unused)) {
    server_heap_.Put(number, server.ready_at);
  } else {
    server_heap_.Remove(number);
  }
}

void Politeness::Impl::DropServerIfDone(uint32_t number) {
  Server& server = servers_[number];
  if (server.hosts > 0 || server.in_flight > 0 || server.line_size > 0) return;
  if (server.ready_at > clock_.Now()) {
    ScheduleServer(number);
    return;
  }
  server_heap_.Remove(number);
  server_by_key_.erase(server.key);
  servers_.Remove(number);
}

bool Politeness::Impl::IsOpen(const Server& server) const {
  return server.pending_lease == 0 &&
         server.in_flight <
             static_cast<uint64_t>(options_.settings.server_in_flight);
}

void Politeness::Impl::NoteInterval(Server& server, bool was_open,
                                    MonoTime now) {
  if (was_open || !IsOpen(server)) return;
  const Length took = std::max(now, server.ready_at) - server.leased_at;
  // The last few leases count.
  server.interval = server.interval == Length::zero()
                        ? took
                        : server.interval + (took - server.interval) / 4;
}

Length Politeness::Impl::IntervalAt(const Server& server, MonoTime now) const {
  const Length interval =
      std::max(rules_.ServerDelay(server.MeanBudget()), server.interval);
  // The one that is waited for takes longer than those before.
  return IsOpen(server) ? interval : std::max(interval, now - server.leased_at);
}

MonoTime Politeness::Impl::TurnAt(const Server& server, uint64_t before,
                                  MonoTime now) const {
  const Length interval = IntervalAt(server, now);
  MonoTime first = std::max(now, server.ready_at);
  if (!IsOpen(server)) {
    first = std::max(first, After(server.leased_at, interval));
  }
  return After(first, Times(interval, before));
}

uint32_t Politeness::Impl::BestServer(const Host& host, MonoTime now,
                                      MonoTime& turn) const {
  uint32_t best = kNone;
  for (size_t i = 0; i < host.server_count; ++i) {
    const Server& server = servers_[host.servers[i]];
    const MonoTime other = TurnAt(server, server.line_size, now);
    if (best == kNone || other < turn) {
      turn = other;
      best = host.servers[i];
    }
  }
  NEPHILA_CHECK(best != kNone);
  return best;
}

MonoTime Politeness::Impl::NextAwayAt(Server& server, MonoTime turn,
                                      MonoTime now) const {
  return NextAway(turn, server.away_until, IntervalAt(server, now));
}

bool Politeness::Impl::HasDomainTurn(uint32_t number, MonoTime now) {
  Host& host = hosts_[number];
  if (host.domain_turn != MonoTime()) return true;
  const DomainTurn turn = domain_turns_.Take(
      host.domain, host.key, now, After(now, options_.settings.park_after));
  if (!turn.taken) {
    SendAway(number, turn.at);
    Leave(number);
    return false;
  }
  host.domain_turn = turn.at;
  if (turn.at <= now) return true;
  ScheduleHost(number);
  return false;
}

void Politeness::Impl::EnterLine(uint32_t number, MonoTime now) {
  if (!HasDomainTurn(number, now)) return;
  MonoTime turn{};
  const uint32_t best = BestServer(hosts_[number], now, turn);
  Server& server = servers_[best];
  if (turn > After(now, options_.settings.park_after)) {
    SendAway(number, NextAwayAt(server, turn, now));
    Leave(number);
    return;
  }
  Host& host = hosts_[number];
  host.place = Place::kLine;
  host.line_server = best;
  host.line_next = kNone;
  if (server.line_size++ == 0) {
    server.line_first = number;
  } else {
    hosts_[server.line_last].line_next = number;
  }
  server.line_last = number;
  ScheduleServer(best);
}

// Whoever is first in a line may have learnt since that it has to wait, or that
// it is elsewhere: then it leaves.
bool Politeness::Impl::HeadIsDue(uint32_t number, MonoTime now) {
  Server& server = servers_[number];
  const uint32_t host_number = server.line_first;
  Host& host = hosts_[host_number];
  const uint32_t* const end = host.servers.data() + host.server_count;
  const bool here =
      std::find(std::as_const(host.servers).data(), end, number) != end;
  if (here && DueOf(host) <= now) return true;
  server.line_first = host.line_next;
  if (--server.line_size == 0) server.line_last = kNone;
  host.place = Place::kHeap;
  host.line_server = kNone;
  host.line_next = kNone;
  ScheduleHost(host_number);
  ScheduleServer(number);
  return false;
}

Lease Politeness::Impl::GiveLease(uint32_t number) {
  Server& server = servers_[number];
  const uint32_t host_number = server.line_first;
  Host& host = hosts_[host_number];
  server.line_first = host.line_next;
  if (--server.line_size == 0) server.line_last = kNone;
  Item item = host.urgent.empty() ? host.pages.Pop() : host.urgent.Pop();
  host.place = Place::kFlight;
  host.hopped = host.hopped || item.kind == Kind::kHop;
  host.domain_turn = {};
  host.line_next = kNone;
  --waiting_;
  ++leased_;
  const uint64_t id = next_lease_++;
  leases_.emplace(id, LeaseInfo{host_number, number});
  server.pending_lease = id;
  server.leased_at = clock_.Now();
  ++server.in_flight;
  ScheduleServer(number);
  return {id,
          host.key,
          server.key,
          item.kind,
          std::move(item.payload),
          rules_.HostDelay(host.pace).length};
}

void Politeness::Impl::Take(size_t max, std::vector<Lease>& leases) {
  const MonoTime now = clock_.Now();
  while (!host_heap_.empty() && host_heap_.time() <= now) {
    const uint32_t number = host_heap_.Take();
    if (hosts_[number].urls() > 0) {
      EnterLine(number, now);
    } else {
      Leave(number);
    }
  }
  size_t given = 0;
  while (given < max && !server_heap_.empty() && server_heap_.time() <= now) {
    const uint32_t number = server_heap_.Take();
    if (servers_[number].line_size > 0) {
      if (!HeadIsDue(number, now)) continue;
      leases.push_back(GiveLease(number));
      ++given;
    } else {
      DropServerIfDone(number);
    }
  }
  if (max == 0) return;
  starved_ = given < max;
  NoteLeases(given, now);
}

MonoTime Politeness::Impl::NextDue() const {
  MonoTime due = MonoTime::max();
  if (!host_heap_.empty()) due = host_heap_.time();
  if (!server_heap_.empty()) due = std::min(due, server_heap_.time());
  return due;
}

void Politeness::Impl::NoteContact(Server& server, uint64_t lease,
                                   MonoTime when) {
  if (server.pending_lease == lease) server.pending_lease = 0;
  server.contact = std::max(server.contact, when);
  server.ready_at = std::max(
      server.ready_at, After(when, rules_.ServerDelay(server.MeanBudget())));
}

void Politeness::Impl::Contacted(uint64_t lease, MonoTime when) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return;  // it was done before this came
  found->second.contacted = true;
  const uint32_t number = found->second.server;
  Server& server = servers_[number];
  const bool was_open = IsOpen(server);
  NoteContact(server, lease, when);
  NoteInterval(server, was_open, clock_.Now());
  ScheduleServer(number);
}

}  // namespace nephila::politeness
