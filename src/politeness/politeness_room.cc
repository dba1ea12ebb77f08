// The part of Politeness::Impl that makes room when memory is full. Memory is
// for what is due: whatever is due last leaves, however soon that is. Hosts
// leave with a note, like parked ones, so that no clock is lost; hosts at the
// end of a long line and single URLs leave without one.
#include <algorithm>
#include <chrono>
#include <utility>

#include "politeness/politeness_impl.h"

namespace nephila::politeness {
namespace {

// A URL that leaves memory costs a few disk operations: nothing leaves for
// something that is due only this much earlier.
constexpr Length kMargin = std::chrono::seconds(5);
// A URL of an unknown host comes again after this when the clocks of no more
// hosts can be kept. Meanwhile others are read, so that some are forgotten.
constexpr Length kComeAgain = std::chrono::seconds(10);

}  // namespace

Length Politeness::Impl::Margin() const {
  return std::min<Length>(kMargin, options_.settings.park_after / 4);
}

bool Politeness::Impl::HasUrlRoom() const {
  return waiting_ < static_cast<uint64_t>(options_.settings.max_urls);
}

bool Politeness::Impl::CanMakeRoom(MonoTime now) const {
  const MonoTime soon = After(now, Margin());
  if (!HasUrlRoom() && (late_urls_.empty() || late_urls_.time() <= soon)) {
    return false;
  }
  if (hosts_.size() < static_cast<uint64_t>(options_.settings.max_hosts)) {
    return true;
  }
  return (!late_hosts_.empty() && late_hosts_.time() > soon) ||
         std::any_of(late_lines_.begin(), late_lines_.end(),
                     [soon](const LatestHeap& lines) {
                       return !lines.empty() && lines.time() > soon;
                     });
}

Added Politeness::Impl::NoRoom(Lane& lane, const Host& host, Kind kind,
                               MonoTime turn, MonoTime now) const {
  if (turn <= After(now, Margin())) return {AddOutcome::kFull, {}};
  if (kind != Kind::kPage) return {AddOutcome::kLater, turn};
  const Length delay = rules_.HostDelay(host.pace).length;
  return {AddOutcome::kLater, NextAway(turn, lane.later_until, delay)};
}

MonoTime Politeness::Impl::ComeAgain(MonoTime now) const {
  return After(now, std::min<Length>(kComeAgain, options_.settings.park_after));
}

const Lane* Politeness::Impl::TailLane(const Host& host) {
  const Lane* longest = nullptr;
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    const Lane& lane = host.lanes[i];
    if (lane.urls.size() == lane.urls.urgent()) continue;
    if (longest == nullptr || lane.urls.size() > longest->urls.size()) {
      longest = &lane;
    }
  }
  return longest;
}

void Politeness::Impl::ScheduleTail(uint32_t number) {
  const Host& host = hosts_[number];
  const bool waits = host.place == Place::kHeap;
  const size_t urls = host.urls();
  if (TailLane(host) == nullptr || urls < (waits ? 1U : 2U)) {
    late_urls_.Remove(number);
    return;
  }
  size_t before = urls - 1;
  if (host.place == Place::kFlight) ++before;
  const Length delay = rules_.HostDelay(host.pace).length;
  late_urls_.Put(
      number, After(std::max(DueOf(host), clock_.Now()), Times(delay, before)));
}

void Politeness::Impl::SendTailAway(uint32_t number) {
  Host& host = hosts_[number];
  const MonoTime due = late_urls_.time();
  if (host.urls() == 1) {
    // The host keeps its clock here until its wait is over.
    SendAway(number, due);
    ScheduleHost(number);
    return;
  }
  Lane& lane = const_cast<Lane&>(*TailLane(host));
  Item item = lane.urls.PopBack();
  parked_.push_back({host.key, item.kind, std::move(item.payload), due});
  lane.later_until = std::max(lane.later_until, due);
  --waiting_;
  ++parked_urls_;
  ScheduleTail(number);
}

bool Politeness::Impl::MakeUrlRoom(MonoTime turn, MonoTime now) {
  const MonoTime latest = After(std::max(turn, now), Margin());
  while (!HasUrlRoom()) {
    if (late_urls_.empty() || late_urls_.time() <= latest) return false;
    SendTailAway(late_urls_.front());
  }
  return true;
}

void Politeness::Impl::Evict(uint32_t number) {
  Host& host = hosts_[number];
  const MonoTime due = DueOf(host);
  if (host.has_urls()) {
    SendAway(number, due);
  } else {
    // The host of a hop is known for longer than its wait; its record cannot
    // say why.
    WaitUntil(host, StaysUntil(host), DelayReason::kNotBefore);
  }
  Leave(number);
}

void Politeness::Impl::EvictFromLine(uint32_t number, MonoTime turn,
                                     MonoTime now) {
  Server& server = servers_[number];
  const uint32_t last = server.line_last;
  LeaveLine(last);
  hosts_[last].place = Place::kHeap;
  hosts_[last].line_server = kNone;
  SendAway(last, NextAwayAt(server, turn, now));
  ScheduleServer(number);
  Leave(last);
}

bool Politeness::Impl::MakeHostRoom(MonoTime turn, MonoTime now) {
  const auto most = static_cast<uint64_t>(options_.settings.max_hosts);
  const MonoTime latest = After(std::max(turn, now), Margin());
  while (hosts_.size() > most) {
    LatestHeap* lines = nullptr;
    for (LatestHeap& some : late_lines_) {
      if (some.empty()) continue;
      if (lines == nullptr || some.time() > lines->time()) lines = &some;
    }
    const MonoTime line = lines == nullptr ? MonoTime::min() : lines->time();
    const MonoTime host =
        late_hosts_.empty() ? MonoTime::min() : late_hosts_.time();
    if (std::max(host, line) <= latest) return false;
    if (host >= line) {
      Evict(late_hosts_.front());
      continue;
    }
    const uint32_t number = lines->front();
    const Server& server = servers_[number];
    const MonoTime its_turn = TurnAt(server, server.line_size - 1, now);
    if (its_turn <= latest) {
      // The line is shorter than when it was looked at last.
      lines->Put(number, its_turn);
    } else {
      EvictFromLine(number, its_turn, now);
    }
  }
  return true;
}

bool Politeness::Impl::MakeProvenRoom(MonoTime now) {
  const auto most = static_cast<uint64_t>(options_.settings.max_hosts);
  LatestHeap& lines = late_lines_[1];
  while (hosts_.size() > most) {
    if (hosts_.size() - proven_in_memory_ <= most / 2 || lines.empty()) {
      return false;
    }
    const uint32_t number = lines.front();
    const Server& server = servers_[number];
    EvictFromLine(
        number,
        std::max(TurnAt(server, server.line_size - 1, now), ComeAgain(now)),
        now);
  }
  return true;
}

}  // namespace nephila::politeness
