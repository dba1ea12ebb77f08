// The part of Dispatcher that keeps slow servers and slow names from holding
// what others wait for.
#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "crawl/dispatcher.h"

namespace nephila::crawl {
namespace {

using politeness::Kind;

// While so many visits for each that may be in flight wait for names, more
// would wait for the resolver, not for their hosts.
constexpr size_t kNamelessPerTransfer = 4;
// A name that is not resolved after this is slow.
constexpr std::chrono::seconds kSlowName{1};
// Visits of a slow name come again after this, and after twice as long each
// further time.
constexpr std::chrono::seconds kNameAgain{2};
constexpr uint32_t kMostDoublings = 5;

}  // namespace

politeness::LeaseLimits Dispatcher::Limits() const {
  const size_t most = MostLeases();
  return classes_.Limits(max_in_flight_, most - std::min(most, in_flight_));
}

void Dispatcher::EndSlowTransfers() {
  const auto ended =
      classes_.EndSlow(max_in_flight_, politeness_.OthersWait(), clock_.Now());
  for (const TransferClasses::Ended& one : ended) {
    parts_.end_slow(one.downloader, one.lease);
  }
}

MonoTime Dispatcher::NextSlowTransfer() const {
  const MonoTime slow = classes_.NextSlow();
  if (slow == MonoTime::max()) return slow;
  // Slow hosts wait for places of their own.
  return std::max(slow, politeness_.NextDue({.slow = 0}));
}

size_t Dispatcher::MostNameless() const {
  const auto urls = static_cast<size_t>(parts_.settings.politeness.max_urls);
  // Requests of robots.txt that wait for something else need places too.
  return std::min({kNamelessPerTransfer * max_in_flight_,
                   std::max<size_t>(parts_.max_robots / 2, 1), urls});
}

MonoTime Dispatcher::NextSlowName() const {
  if (names_.empty() || nameless_ < MostSlowNames()) return MonoTime::max();
  return names_.front().first + kSlowName;
}

MonoTime Dispatcher::NameAgain(Host* host) const {
  const uint32_t doublings = std::min(host->name_parks++, kMostDoublings);
  return clock_.Now() + kNameAgain * (1 << doublings);
}

void Dispatcher::ParkSlowNames() {
  const MonoTime now = clock_.Now();
  while (!names_.empty() && names_.front().first + kSlowName <= now) {
    const auto [asked_at, key] = names_.front();
    names_.pop_front();
    const auto found = hosts_.find(key);
    if (found == hosts_.end() || !found->second.resolving ||
        found->second.asked_at != asked_at) {
      continue;
    }
    Host& host = found->second;
    host.slow_name = true;
    slow_nameless_ += host.nameless.size();
    if (slow_nameless_ > MostSlowNames()) ParkNameless(&host);
  }
}

void Dispatcher::ParkNameless(Host* host) {
  const MonoTime due = NameAgain(host);
  const std::vector<uint64_t> gone = std::exchange(host->nameless, {});
  nameless_ -= gone.size();
  slow_nameless_ -= gone.size();
  for (const uint64_t id : gone) Park(id, due);
}

}  // namespace nephila::crawl
