// The part of Politeness::Impl that is about the authorities of a host: each
// has its URLs, and a back-off of its own when it does not answer.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "politeness/politeness_impl.h"

namespace nephila::politeness {

Lane* Politeness::Impl::FindLane(Host& host, uint32_t authority) {
  return const_cast<Lane*>(FindLane(std::as_const(host), authority));
}

const Lane* Politeness::Impl::FindLane(const Host& host, uint32_t authority) {
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    if (host.lanes[i].authority == authority) return &host.lanes[i];
  }
  return nullptr;
}

const LaneState* Politeness::Impl::FindLane(const ParkedHost& host,
                                            uint32_t authority) {
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    if (host.lanes[i].authority == authority) return &host.lanes[i];
  }
  return nullptr;
}

Lane& Politeness::Impl::AddLane(Host& host, uint32_t authority) {
  Lane& lane = host.lanes.Add();
  lane.authority = authority;
  lane.later_until = host.later_until;
  return lane;
}

bool Politeness::Impl::MakeRoomForLane(Host& host, uint32_t authority) const {
  if (host.lanes.size() < kMostAuthorities || IsDefaultAuthority(authority) ||
      FindLane(host, authority) != nullptr) {
    return true;
  }
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    const Lane& lane = host.lanes[i];
    if (!lane.urls.empty() || lane.in_flight) continue;
    // What its record says comes back with its next URL, once those that were
    // checked before are read.
    if (!IsBlank(lane) && (host.noted != 0 || HasNews(lane))) continue;
    host.lanes.Remove(i);
    return true;
  }
  return false;
}

bool Politeness::Impl::IsBlank(const LaneState& lane) const {
  return lane.failures == 0 && lane.recorded == 0 &&
         lane.ready_at <= clock_.Now();
}

bool Politeness::Impl::HasNews(const LaneState& lane) const {
  return lane.failures != lane.recorded ||
         (!lane.told && lane.ready_at > clock_.Now());
}

bool Politeness::Impl::HasNews(const Host& host) const {
  if (host.overloads != host.recorded) return true;
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    if (HasNews(host.lanes[i])) return true;
  }
  return false;
}

bool Politeness::Impl::HasNews(uint64_t key) const {
  const uint32_t number = FindHost(key);
  return number != kNone && HasNews(hosts_[number]);
}

uint32_t Politeness::Impl::Failures(uint64_t key, uint32_t authority) const {
  const LaneState* lane = nullptr;
  if (const uint32_t number = FindHost(key); number != kNone) {
    lane = FindLane(hosts_[number], authority);
  } else if (const auto parked = parked_hosts_.find(key);
             parked != parked_hosts_.end()) {
    lane = FindLane(parked->second, authority);
  }
  return lane == nullptr ? 0 : lane->failures;
}

void Politeness::Impl::TakeLaneFacts(Host& host, const HostFacts& facts) {
  Lane* lane = FindLane(host, facts.authority);
  if (lane == nullptr) {
    lane = &AddLane(host, facts.authority);
    lane->failures = lane->recorded = facts.failures;
    lane->told = true;
  } else if (lane->held) {
    lane->recorded = facts.failures;
  }
  lane->held = false;
  const MonoTime not_before = std::min(facts.authority_not_before, kFarthest);
  if (not_before <= lane->ready_at) return;
  // The record has it.
  lane->ready_at = not_before;
  lane->reason = DelayReason::kNotBefore;
  lane->told = true;
}

void Politeness::Impl::LaneWaitsUntil(Lane& lane, MonoTime time,
                                      DelayReason reason) {
  lane.told = false;
  if (time <= lane.ready_at) return;
  lane.ready_at = time;
  lane.reason = reason;
}

MonoTime Politeness::Impl::LaneDue(const Host& host, const Lane& lane) const {
  const bool is_first = lane.urls.front().kind == Kind::kFirstRobots;
  return std::max(is_first ? FirstRobotsDue(host) : host.ready_at,
                  lane.ready_at);
}

bool Politeness::Impl::MayLeave(const Host& host, const Lane& lane,
                                MonoTime now) const {
  const MonoTime limit = After(now, options_.settings.park_after);
  return host.ready_at > limit ||
         (lane.ready_at > limit && host.ready_at <= now);
}

Lane& Politeness::Impl::NextLane(Host& host, MonoTime now) const {
  if (host.lanes.size() == 1) return host.lanes[0];
  Lane* next = nullptr;
  // Those that answered and those of which nobody knows it take turns: so the
  // former do not wait for each of the latter, of which there can be many. Of
  // equals the one that waits longest is next, a default port first.
  const auto comes_before = [&host](const Lane& a, const Lane& b) {
    if (a.answered != b.answered) return a.answered == host.tried;
    if (a.turn != b.turn) return a.turn < b.turn;
    return IsDefaultAuthority(a.authority) && !IsDefaultAuthority(b.authority);
  };
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    Lane& lane = host.lanes[i];
    if (lane.urls.empty() || LaneDue(host, lane) > now) continue;
    if (next == nullptr || comes_before(lane, *next)) next = &lane;
  }
  NEPHILA_CHECK(next != nullptr);
  return *next;
}

void Politeness::Impl::SendAway(Host& host, Lane& lane, MonoTime from,
                                Length step) {
  MonoTime due = from;
  while (!lane.urls.empty()) {
    Item item = lane.urls.Pop();
    parked_.push_back({host.key, item.kind, std::move(item.payload), due});
    lane.later_until = std::max(lane.later_until, due);
    due = After(due, step);
    --waiting_;
    ++parked_urls_;
  }
}

void Politeness::Impl::SendAwayLate(Host& host, MonoTime limit) {
  const bool had_urls = host.has_urls();
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    Lane& lane = host.lanes[i];
    if (lane.ready_at <= limit) continue;
    SendAway(host, lane, std::max(host.ready_at, lane.ready_at),
             rules_.HostDelay(host.pace).length);
  }
  if (had_urls && !host.has_urls()) --busy_hosts_;
}

}  // namespace nephila::politeness
