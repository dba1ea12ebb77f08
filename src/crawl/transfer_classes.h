// TransferClasses: which transfers are slow, and how many of each class may be
// in flight, so that slow servers leave transfers to the others.
//
// A transfer is slow once it lasts kSlowTimes as long as transfers of proven
// hosts took lately, and at least kSlowLeast. Slow transfers have a quarter of
// all transfers; a transfer that becomes slow moves there if there is room.
// Otherwise it is ended as soon as another host is due and finds no transfer;
// its host is slow from then on, so that its next transfer has a place in the
// quarter from the start and runs for as long as `fetch` lets it.
//
// Hosts that are not proven (politeness/host_class.h) have, with the slow ones,
// half of the transfers while proven hosts are due, and seven eighths else: a
// crawl of new hosts is not halved, and since no transfer of theirs outlasts
// kSlowMost while others wait, proven hosts have their half again by then.
//
//   In: starts and ends of transfers   Out: limits, and transfers to be ended
//   Threads: one   Cost: O(log n) a transfer
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "politeness/host_class.h"
#include "politeness/politeness.h"

namespace nephila::crawl {

class TransferClasses {
 public:
  using HostClass = politeness::HostClass;

  static constexpr int kSlowTimes = 4;
  static constexpr std::chrono::seconds kSlowLeast{1};
  static constexpr std::chrono::seconds kSlowMost{10};

  // A transfer that is to be ended for the sake of others.
  struct Ended {
    uint64_t lease = 0;
    size_t downloader = 0;
  };

  void Start(uint64_t lease, HostClass host, size_t downloader, MonoTime now);
  // Returns whether it was slow. `is_whole`: a response came, and all of it.
  // REQUIRES: it was started and not ended before.
  bool End(uint64_t lease, bool is_whole, MonoTime now);

  // How many more leases may be given if `most` transfers may be in flight and
  // `free` more may be started.
  politeness::LeaseLimits Limits(size_t most, size_t free) const;

  // Moves transfers that are slow by now to the slow class, and takes out those
  // for which it has no room, if others wait: each once.
  std::vector<Ended> EndSlow(size_t most, bool others_wait, MonoTime now);
  // When the next transfer becomes slow; max() if none does.
  MonoTime NextSlow() const;

  size_t count(HostClass host) const {
    return counts_[static_cast<size_t>(host)];
  }
  std::chrono::nanoseconds slow_after() const;

 private:
  struct Transfer {
    HostClass host = HostClass::kUnproven;
    size_t downloader = 0;
    MonoTime start{};
  };

  static size_t MostSlow(size_t most) { return most < 8 ? 1 : most / 4; }
  size_t& CountOf(HostClass host) { return counts_[static_cast<size_t>(host)]; }

  std::unordered_map<uint64_t, Transfer> transfers_;
  // Those that are not slow yet, nor to be ended, by their start.
  std::set<std::pair<MonoTime, uint64_t>> watched_;
  std::array<size_t, politeness::kHostClasses> counts_{};
  std::chrono::nanoseconds mean_{0};
};

}  // namespace nephila::crawl
