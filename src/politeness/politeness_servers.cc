// The part of Politeness::Impl that is about addresses: their lines, and the
// leases that come from them.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "politeness/politeness_impl.h"

namespace nephila::politeness {

ServerKey Politeness::Impl::ClockOf(const ServerKey& address) const {
  const net::IpAddress first =
      options_.groups.FirstOf(net::IpAddress::V6(address.bytes));
  ServerKey key;
  std::copy(first.bytes().begin(), first.bytes().end(), key.bytes.begin());
  return key;
}

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
  const bool has_line = server.line_size > 0;
  const size_t last = has_line && hosts_[server.line_last].proven ? 0 : 1;
  late_lines_[1 - last].Remove(number);
  if (has_line) {
    late_lines_[last].Put(number,
                          TurnAt(server, server.line_size - 1, clock_.Now()));
  } else {
    late_lines_[last].Remove(number);
  }
  TimedHeap* const heap =
      IsOpen(server) && (has_line || unused) ? &HeapOf(server) : nullptr;
  for (TimedHeap& other : server_heaps_) {
    if (&other != heap) other.Remove(number);
  }
  if (heap != nullptr) heap->Put(number, server.ready_at);
}

void Politeness::Impl::DropServerIfDone(uint32_t number) {
  Server& server = servers_[number];
  if (server.hosts > 0 || server.in_flight > 0 || server.line_size > 0) return;
  if (server.ready_at > clock_.Now()) {
    ScheduleServer(number);
    return;
  }
  for (TimedHeap& heap : server_heaps_) heap.Remove(number);
  for (LatestHeap& lines : late_lines_) lines.Remove(number);
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
  const HostClass host_class = ClassOf(hosts_[number]);
  if (LinesAreFull(host_class)) {
    SendAway(number, ComeAgain(now));
    Leave(number);
    return;
  }
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
  host.line_class = static_cast<uint8_t>(host_class);
  ++in_lines_.at(host.line_class);
  host.line_server = best;
  host.line_next = kNone;
  host.line_previous = server.line_last;
  if (server.line_size++ == 0) {
    server.line_first = number;
  } else {
    hosts_[server.line_last].line_next = number;
  }
  server.line_last = number;
  ScheduleServer(best);
  ScheduleTail(number);
}

void Politeness::Impl::LeaveLine(uint32_t number) {
  Host& host = hosts_[number];
  Server& server = servers_[host.line_server];
  --in_lines_.at(host.line_class);
  const uint32_t next = std::exchange(host.line_next, kNone);
  const uint32_t previous = std::exchange(host.line_previous, kNone);
  (next == kNone ? server.line_last : hosts_[next].line_previous) = previous;
  (previous == kNone ? server.line_first : hosts_[previous].line_next) = next;
  --server.line_size;
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
  LeaveLine(host_number);
  host.place = Place::kHeap;
  host.line_server = kNone;
  ScheduleHost(host_number);
  ScheduleTail(host_number);
  ScheduleServer(number);
  return false;
}

Lease Politeness::Impl::GiveLease(uint32_t number, MonoTime now) {
  Server& server = servers_[number];
  const uint32_t host_number = server.line_first;
  Host& host = hosts_[host_number];
  LeaveLine(host_number);
  Lane& lane = NextLane(host, now);
  Item item = lane.urls.Pop();
  lane.in_flight = true;
  lane.turn = ++host.turns;
  host.tried = !lane.answered;
  host.place = Place::kFlight;
  host.hopped = host.hopped || item.kind == Kind::kHop;
  host.domain_turn = {};
  ScheduleTail(host_number);
  --waiting_;
  ++leased_;
  const uint64_t id = next_lease_++;
  leases_.emplace(id, LeaseInfo{host_number, number, lane.authority});
  server.pending_lease = id;
  server.leased_at = now;
  ++server.in_flight;
  ScheduleServer(number);
  return {id,
          host.key,
          server.key,
          item.kind,
          std::move(item.payload),
          rules_.HostDelay(host.pace).length,
          ClassOf(host)};
}

void Politeness::Impl::Take(const LeaseLimits& limits,
                            std::vector<Lease>& leases) {
  const MonoTime now = clock_.Now();
  while (!host_heap_.empty() && host_heap_.time() <= now) {
    const uint32_t number = host_heap_.Take();
    late_hosts_.Remove(number);
    if (hosts_[number].has_urls()) {
      EnterLine(number, now);
    } else {
      Leave(number);
    }
  }
  LeaseLimits left = limits;
  const size_t before = leases.size();
  while (TimedHeap* heap = NextHeap(left, now)) {
    const uint32_t number = heap->Take();
    if (servers_[number].line_size == 0) {
      DropServerIfDone(number);
      continue;
    }
    if (!HeadIsDue(number, now)) continue;
    leases.push_back(GiveLease(number, now));
    TakeOff(leases.back().host_class, left);
  }
  if (limits.all == 0) return;
  starved_ = left.all > 0;
  NoteLeases(leases.size() - before, now);
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
