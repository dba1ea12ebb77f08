// The part of Dispatcher that is about memory: which visits stay when there is
// no room for all of them.
#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "crawl/dispatcher.h"

namespace nephila::crawl {
namespace {

using politeness::Kind;

// Visits that are tried again at a time, when nothing says that there is room.
constexpr size_t kTriesForRoom = 4;
// When a visit comes again that found no room.
constexpr std::chrono::seconds kRoomAgain{5};
// Visits that are on their way to the heaps, in part of `max_urls`.
constexpr size_t kOnTheirWay = 4;
// Some are always allowed.
constexpr size_t kAlways = 16;

}  // namespace

size_t Dispatcher::MostVisits() const {
  const auto urls = static_cast<size_t>(parts_.settings.politeness.max_urls);
  return urls + std::max(urls / kOnTheirWay, kAlways);
}

bool Dispatcher::AddWhatHadNoRoom() {
  bool added = false;
  size_t tries = std::min(kTriesForRoom, full_.size());
  while (tries > 0 && !full_.empty()) {
    const uint64_t id = full_.front();
    full_.pop_front();
    if (Add(id)) {
      added = true;
    } else {
      full_.push_back(id);
      --tries;
    }
  }
  return added;
}

void Dispatcher::WaitForRoom(uint64_t id) {
  const Kind kind = KindOf(*visits_.at(id));
  const size_t most =
      (MostVisits() -
       static_cast<size_t>(parts_.settings.politeness.max_urls)) /
      2;
  if (full_.size() >= most) {
    return Park(id, clock_.Now() + kRoomAgain);
  }
  full_.insert(kind == Kind::kPage ? full_.end() : full_.begin(), id);
}

bool Dispatcher::MayBeNoted(uint64_t host_key) const {
  const politeness::Explanation why = politeness_.Why(host_key);
  return why.what != politeness::WaitsFor::kParked &&
         why.not_before > clock_.Now();
}

void Dispatcher::TidyKept() {
  const size_t before = hosts_.size();
  std::erase_if(hosts_, [this](const auto& entry) {
    const auto& [key, host] = entry;
    return host.kept && !host.changed && !MayBeNoted(key);
  });
  kept_ -= before - hosts_.size();
  // Twice what is left: so looking at all costs a constant for each new one.
  tidy_at_ = std::max<size_t>(1024, 2 * kept_);
}

void Dispatcher::ParkLast() {
  const size_t most =
      (MostVisits() -
       static_cast<size_t>(parts_.settings.politeness.max_urls)) /
      2;
  auto last = later_.end();
  while (later_.size() > most && last != later_.begin()) {
    --last;
    const auto [due, id] = *last;
    if (due <= clock_.Now()) return;
    last = later_.erase(last);
    Park(id, due);
  }
}

}  // namespace nephila::crawl
