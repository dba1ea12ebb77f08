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
  if (options_.restarted) server.ready_at = start_ + rules_.ServerDelay(0);
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
  const bool open = server.pending_lease == 0 &&
                    server.in_flight < static_cast<uint64_t>(
                                           options_.settings.server_in_flight);
  const bool unused = server.hosts == 0 && server.in_flight == 0;
  if (open && (server.line_size > 0 || unused)) {
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

MonoTime Politeness::Impl::TurnAt(const Server& server, MonoTime now) const {
  const Length delay = rules_.ServerDelay(server.MeanBudget());
  const int64_t before = server.line_size + (server.pending_lease != 0 ? 1 : 0);
  return std::max(now, server.ready_at) + delay * before;
}

void Politeness::Impl::EnterLine(uint32_t number, MonoTime now) {
  Host& host = hosts_[number];
  // Of its addresses the one whose turn comes first.
  uint32_t best = host.servers[0];
  MonoTime turn = TurnAt(servers_[best], now);
  for (size_t i = 1; i < host.server_count; ++i) {
    const MonoTime other = TurnAt(servers_[host.servers[i]], now);
    if (other < turn) {
      turn = other;
      best = host.servers[i];
    }
  }
  if (turn > now + options_.settings.park_after) {
    WaitUntil(host, turn, DelayReason::kNotBefore);
    Park(number, turn);
    return;
  }
  Server& server = servers_[best];
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
  host.line_next = kNone;
  --waiting_;
  ++leased_;
  const uint64_t id = next_lease_++;
  leases_.emplace(id, LeaseInfo{host_number, number});
  server.pending_lease = id;
  ++server.in_flight;
  ScheduleServer(number);
  return {id, host.key, server.key, item.kind, std::move(item.payload)};
}

void Politeness::Impl::Take(size_t max, std::vector<Lease>& leases) {
  const MonoTime now = clock_.Now();
  while (!host_heap_.empty() && host_heap_.time() <= now) {
    const uint32_t number = host_heap_.Take();
    const Host& host = hosts_[number];
    if (host.urls() > 0) {
      EnterLine(number, now);
    } else if (host.failures > 0 || host.overloads > 0) {
      // Its record has to know, or it would never be found dead.
      Park(number, host.ready_at);
    } else {
      DropHost(number);
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
  server.ready_at =
      std::max(server.ready_at, when + rules_.ServerDelay(server.MeanBudget()));
}

void Politeness::Impl::Contacted(uint64_t lease, MonoTime when) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return;  // it was done before this came
  found->second.contacted = true;
  const uint32_t server = found->second.server;
  NoteContact(servers_[server], lease, when);
  ScheduleServer(server);
}

}  // namespace nephila::politeness
