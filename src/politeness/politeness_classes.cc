// The part of Politeness::Impl that is about the classes of hosts: slow ones,
// and those that have not proved to be otherwise, leave leases to the others.
#include <algorithm>

#include "politeness/politeness_impl.h"

namespace nephila::politeness {
namespace {

constexpr size_t IndexOf(HostClass host) { return static_cast<size_t>(host); }

bool Allows(const LeaseLimits& left, HostClass host) {
  if (left.all == 0) return false;
  if (host == HostClass::kProven) return true;
  return left.not_proven > 0 && (host != HostClass::kSlow || left.slow > 0);
}

// Some authority did not answer, and none did.
bool IsSilent(const Host& host) {
  bool is_silent = false;
  for (size_t i = 0; i < host.lanes.size(); ++i) {
    if (host.lanes[i].answered) return false;
    is_silent = is_silent || host.lanes[i].failures > 0;
  }
  return is_silent;
}

void TakeOff(size_t& left) {
  if (left > 0 && left != SIZE_MAX) --left;
}

}  // namespace

HostClass Politeness::Impl::ClassOf(const Host& host) {
  if (host.slow || (!host.proven && IsSilent(host))) return HostClass::kSlow;
  return host.proven ? HostClass::kProven : HostClass::kUnproven;
}

bool Politeness::Impl::LinesAreFull(HostClass host_class) const {
  if (host_class == HostClass::kProven) return false;
  const auto most = static_cast<size_t>(options_.settings.max_hosts);
  const size_t slow = in_lines_[IndexOf(HostClass::kSlow)];
  if (host_class == HostClass::kSlow) return slow >= most / 4 + 1;
  return slow + in_lines_[IndexOf(HostClass::kUnproven)] >= most / 2 + 1;
}

void Politeness::Impl::NoteClass(Host& host, const Outcome& outcome) {
  if (host.proven) --proven_in_memory_;
  // One silent port says nothing about those that answer.
  const bool failed = (outcome.host == item::HostStep::kTrouble ||
                       outcome.host == item::HostStep::kDead) &&
                      IsSilent(host);
  if (outcome.host == item::HostStep::kWell && !outcome.slow) {
    host.proven = true;
    host.slow = false;
    proven_hosts_.Insert(host.key);
  } else if (outcome.slow || failed) {
    host.proven = false;
    host.slow = host.slow || outcome.slow;
    proven_hosts_.Erase(host.key);
  }
  if (host.proven) ++proven_in_memory_;
}

TimedHeap& Politeness::Impl::HeapOf(const Server& server) {
  if (server.line_size == 0) return server_heaps_[kHostClasses];
  return server_heaps_[IndexOf(ClassOf(hosts_[server.line_first]))];
}

void Politeness::Impl::TakeOff(HostClass host, LeaseLimits& left) {
  politeness::TakeOff(left.all);
  if (host == HostClass::kProven) return;
  politeness::TakeOff(left.not_proven);
  politeness::TakeOff(left.not_proven_if_free);
  if (host == HostClass::kSlow) politeness::TakeOff(left.slow);
}

TimedHeap* Politeness::Impl::NextHeap(LeaseLimits& left, MonoTime now) {
  const auto first = [&]() -> TimedHeap* {
    TimedHeap* best = nullptr;
    for (size_t n = 0; n < server_heaps_.size(); ++n) {
      const size_t i = (first_class_ + n) % server_heaps_.size();
      TimedHeap& heap = server_heaps_[i];
      if (heap.empty() || heap.time() > now) continue;
      if (i < kHostClasses && !Allows(left, static_cast<HostClass>(i))) {
        continue;
      }
      if (best == nullptr || heap.time() < best->time()) best = &heap;
    }
    return best;
  };
  // Those who are due at the same time take turns.
  first_class_ = (first_class_ + 1) % kHostClasses;
  TimedHeap* best = first();
  if (best != nullptr || left.all == 0) return best;
  // No proven host is due: the others have what is left.
  left.not_proven = std::max(left.not_proven, left.not_proven_if_free);
  return first();
}

MonoTime Politeness::Impl::NextDue(const LeaseLimits& limits) const {
  LeaseLimits left = limits;
  left.not_proven = std::max(left.not_proven, left.not_proven_if_free);
  MonoTime due = MonoTime::max();
  if (!host_heap_.empty()) due = host_heap_.time();
  for (size_t i = 0; i < server_heaps_.size(); ++i) {
    const TimedHeap& heap = server_heaps_[i];
    if (heap.empty()) continue;
    if (i < kHostClasses && !Allows(left, static_cast<HostClass>(i))) continue;
    due = std::min(due, heap.time());
  }
  return due;
}

bool Politeness::Impl::OthersWait() const {
  const MonoTime now = clock_.Now();
  for (const HostClass host : {HostClass::kProven, HostClass::kUnproven}) {
    const TimedHeap& heap = server_heaps_[IndexOf(host)];
    if (!heap.empty() && heap.time() <= now) return true;
  }
  return false;
}

}  // namespace nephila::politeness
