// Dispatcher: from URLs that may be fetched to leases, each when its host and
// its server may be contacted (politeness/politeness.h). Names are resolved
// here, just before their hosts come into the heaps, so that every contact is
// counted at the address that it goes to.
//
//   In: visits of the frontier; hops of redirects, contacts and ends from the
//       downloaders
//   Out: visits with a lease, to the downloader that has the fewest; visits that
//       wait for long, back to the frontier; requests for more
//   Drop: nothing: a name that cannot be resolved is a visit with a failure
//   Threads: that of its loop   Memory: `politeness.max_urls`, `max_hosts`
//
// Hosts are held here from their first visit to their last one's end; the
// clocks are politeness's alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"
#include "config/settings.h"
#include "crawl/visit.h"
#include "dns/resolver.h"
#include "net/event_loop.h"
#include "politeness/politeness.h"

namespace nephila::crawl {

// A page that waits for longer than memory is for, and until when.
struct ParkedVisit {
  VisitPtr visit;
  WallTime due{};
  uint32_t failures = 0;
  uint32_t overloads = 0;
};

// A host whose next time is to stand in its record: it is left alone for long,
// or is well again.
struct HostNote {
  std::string origin;  // the root of a site of it, as a URL
  WallTime not_before{};
  uint32_t failures = 0;
  uint32_t overloads = 0;
};

class Dispatcher {
 public:
  // All of it outlives this. The functions are called by the dispatcher's
  // thread.
  struct Parts {
    net::EventLoop& loop;
    dns::Resolver& resolver;
    const config::Settings& settings;
    uint64_t seed = 0;  // of the job's keys
    size_t max_in_flight = 500;
    size_t downloaders = 1;
    bool restarted = false;
    std::function<void(size_t downloader, VisitPtr)> start;
    std::function<void(ParkedVisit)> park;
    std::function<void(HostNote)> note;
    // More pages are wanted: so many, at most. Asked again only when those
    // have come, or `None` was said.
    std::function<void(size_t count)> want;
  };

  explicit Dispatcher(const Parts& parts);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // From the frontier; an answer to `want`, or a robots.txt. `complete`: all
  // that there was for the last `want` has come.
  void Take(std::vector<VisitPtr> visits);
  // So many of what was asked for with `want` have come or will not come.
  void Wanted(size_t count);

  // From a downloader.
  struct End {
    uint64_t lease = 0;
    politeness::Outcome outcome;
    // The visit goes on: a hop, or again after a connection that was gone.
    VisitPtr next;
    bool is_hop = false;
  };
  void Contacted(uint64_t lease, MonoTime when);
  void Ended(size_t downloader, End end);

  // No lease is given any more; what was resolved waits. For the end of a
  // crawl, for a full disk, and for whoever asks for it.
  void Pause();
  void Resume();
  // In flight, at downloaders.
  size_t in_flight() const { return in_flight_; }
  // Visits here that have no lease: to be resolved, or in the heaps.
  size_t waiting() const { return waiting_; }
  // At most so many leases at a time.
  void SetMaxInFlight(size_t max);
  void SetSpeed(double leases_per_second);

  std::string SaveWaits() const { return politeness_.Save(); }
  Status RestoreWaits(std::string_view saved) {
    return politeness_.Restore(saved);
  }
  politeness::PolitenessStats stats() const { return politeness_.stats(); }
  politeness::Explanation Why(uint64_t host) const {
    return politeness_.Why(host);
  }

 private:
  struct Host;

  const Parts parts_;
  politeness::Politeness politeness_;
  size_t in_flight_ = 0;
  size_t waiting_ = 0;
};

}  // namespace nephila::crawl
