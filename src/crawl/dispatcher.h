// Dispatcher: from URLs that may be fetched to leases, each when its host and
// its server may be contacted (politeness/politeness.h). Names are resolved
// here, just before their hosts come into the heaps, so that every contact is
// counted at the address that it goes to.
//
//   In: visits of the frontier; hops of redirects, contacts and ends from the
//       downloaders
//   Out: visits with a lease, to the downloader that has the fewest; visits
//   that
//       wait for long, back to the frontier; requests for more
//   Drop: nothing: a name that cannot be resolved is a visit with a failure, as
//   is a page of an authority that was silent too often
//   (`politeness.give_up_after`),
//   and what a black list names, by its URL or by its address: that is looked
//   up before a name is resolved, when it is, and when a lease is there
//   Threads: that of its loop   Memory: visits, a quarter more than
//   `politeness.max_urls`; `max_hosts`
//
// Hosts are held here from their first visit to their last one's end; the
// clocks are politeness's alone.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"
#include "config/settings.h"
#include "crawl/transfer_classes.h"
#include "crawl/visit.h"
#include "dns/resolver.h"
#include "net/event_loop.h"
#include "net/port_guard.h"
#include "politeness/politeness.h"
#include "scope/block_list.h"
#include "url/public_suffix.h"

namespace nephila::crawl {

// A page, or a robots.txt, that waits for longer than memory is for, and until
// when.
struct ParkedVisit {
  VisitPtr visit;
  WallTime due{};
};

// A host and one of its authorities whose next time is to stand in their
// records: they are left alone for long, or are well again. When it does, and
// what was checked before is read: Noted.
struct HostNote {
  uint64_t host = 0;
  uint64_t epoch = 0;
  std::string origin;  // the root of the authority, as a URL
  WallTime not_before{};
  uint32_t overloads = 0;
  WallTime authority_not_before{};
  uint32_t failures = 0;
};

// For whoever looks at a crawl.
struct DispatcherFacts {
  politeness::PolitenessStats politeness;
  politeness::HostCounts hosts;
  size_t in_flight = 0;
  size_t max_in_flight = 0;
  size_t waiting = 0;    // visits without a lease
  size_t resolving = 0;  // of them, those that wait for their name
  size_t no_room = 0;    // of them, those for which memory has no room
};

// What is known of a host, and of one URL of it.
struct HostLook {
  politeness::Explanation why;
  bool resolving = false;  // its name
  bool has_url = false;    // without a lease
  bool in_flight = false;  // the URL, at a downloader
  MonoTime now{};
};

class Dispatcher {
 public:
  // All of it outlives this. The functions are called by the dispatcher's
  // thread.
  struct Parts {
    net::EventLoop& loop;
    dns::Resolver& resolver;
    const config::Settings& settings;
    const url::PublicSuffixList& suffixes;
    uint64_t seed = 0;  // of the job's keys
    size_t max_in_flight = 500;
    // Requests for robots.txt that the frontier hands on at a time.
    size_t max_robots = 200'000;
    size_t downloaders = 1;
    bool restarted = false;
    // Before leases are given (ContactLog). An error: they are not, and
    // nobody is asked for anything any more. May be null.
    std::function<Status(const std::vector<politeness::Lease>&)> before_leases =
        nullptr;
    std::function<void(size_t downloader, VisitPtr)> start = nullptr;
    // The answer to an End that had a lease and no `next`.
    std::function<void(size_t downloader, uint64_t lease, Waits)> released =
        nullptr;
    // Ends a transfer for the sake of others (transfer_classes.h).
    std::function<void(size_t downloader, uint64_t lease)> end_slow = nullptr;
    std::function<void(ParkedVisit)> park = nullptr;
    std::function<void(HostNote)> note = nullptr;
    // More pages are wanted: so many, at most. Asked again only when all of
    // those have come or will not (Wanted): who has none keeps the request
    // until there are some.
    std::function<void(size_t count)> want = nullptr;
    // The delay that the settings of a site give its host; may be null.
    std::function<std::optional<std::chrono::nanoseconds>(
        std::string_view host)>
        site_delay = nullptr;
  };

  explicit Dispatcher(const Parts& parts);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // From the frontier: an answer to `want`, or a robots.txt.
  void Take(std::vector<VisitPtr> visits);
  // So many of what was asked for with `want` have come or will not come.
  void Wanted(size_t count);

  // What the note with this epoch says stands in the host's record, and
  // nothing comes any more that was checked before.
  void Noted(uint64_t host, uint64_t epoch);

  // The black lists that hold from now on; what is in flight ends.
  void SetBlocks(std::shared_ptr<const scope::BlockSet> blocks) {
    blocks_ = std::move(blocks);
  }

  // From a downloader.
  struct End {
    uint64_t lease = 0;  // 0: that was told before
    politeness::Outcome outcome;
    // The visit goes on: again after a connection that was gone.
    VisitPtr next = nullptr;
    bool is_page = false;  // that counts for SetMostPages
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
  size_t waiting() const { return visits_.size(); }
  // At most so many leases at a time.
  void SetMaxInFlight(size_t max);
  // So many pages may come, counted from the beginning; nobody is asked for
  // one more.
  void SetMostPages(uint64_t pages);
  // From now on (Politeness::SetDelays).
  void SetDelays(const config::PolitenessSettings& settings);

  std::string SaveWaits() const { return politeness_.Save(); }
  std::vector<politeness::Contact> InFlight() const {
    return politeness_.InFlight();
  }
  // As politeness.h has it.
  Status RestoreWaits(
      std::string_view saved,
      const std::optional<std::vector<politeness::Contact>>& since = {}) {
    return politeness_.Restore(saved, since);
  }
  // Of the journal, as politeness.h has it.
  void Hold(const politeness::HostWait& host,
            const std::optional<politeness::ServerWait>& address) {
    politeness_.Hold(host);
    if (address) politeness_.Hold(*address);
  }
  politeness::PolitenessStats stats() const { return politeness_.stats(); }
  DispatcherFacts facts() const;
  politeness::Explanation Why(uint64_t host) const {
    return politeness_.Why(host);
  }
  // Without `in_flight`. Cost: a look at each visit here.
  HostLook Look(uint64_t host, std::string_view url) const;

 private:
  // From its first visit here to its last one's end, or until a note of its
  // trouble was passed on.
  struct Host {
    std::string name;
    size_t visits = 0;  // here, or with a lease
    bool resolving = false;
    std::vector<uint64_t> nameless;  // visits that wait for its name
    MonoTime asked_at{};             // for its name, while that is resolved
    bool slow_name = false;          // it is not resolved for long
    uint32_t name_parks = 0;         // how often visits were parked for that
    std::vector<politeness::ServerKey> addresses;
    // Its records do not say what politeness knows of it: a note will come.
    bool changed = false;
    bool kept = false;  // for that alone
    // Of a note that stands in its record, while visits are here that were
    // checked before it did.
    std::optional<uint64_t> noted;
  };

  static politeness::Kind KindOf(const Visit& visit);
  // Where the visit goes, from its record.
  void Aim(Visit* visit) const;
  void Begin(VisitPtr visit);
  // To its name, if its host is not left alone.
  void Prepare(uint64_t id);
  void WaitForName(uint64_t id);
  void OnAnswer(uint64_t host_key, const dns::Answer& answer);
  // Into the heaps; false if they are full.
  bool Add(uint64_t id);
  politeness::HostFacts FactsOf(const Visit& visit, const Host& host) const;
  // Why nobody may be asked for it; nothing if somebody may.
  std::optional<std::string> WhyBlocked(const Visit& visit);
  // Without the addresses that are blocked. Nothing if there are others, else
  // why.
  std::optional<std::string> RemoveBlocked(
      std::vector<net::IpAddress>* addresses) const;
  // The answer is none: of those that waited for it one was an attempt, of each
  // authority, unless it is the last word for all of them.
  void FailAll(const std::vector<uint64_t>& ids, const dns::Answer& answer);
  void Fail(uint64_t id, item::FetchOutcome outcome, std::string why);
  // What politeness makes of a name that was not resolved.
  Waits NoteFailure(const Visit& visit, item::HostStep step);
  bool IsGivenUp(const Visit& visit) const;
  // When a robots.txt goes back to disk, because it is not due soon and many
  // such requests are here; nullopt if it may stay.
  std::optional<MonoTime> RobotsGoesBack(const Visit& visit) const;
  void Park(uint64_t id, MonoTime due);
  void AtTime(uint64_t id, MonoTime due) { later_.emplace(due, id); }

  // Starts what is due, hands on what is not for long, asks for more, and sees
  // to it that the next is started.
  void Pump();
  void PumpOnce();
  void AddWhatIsDue();
  // Leases that may be given now.
  politeness::LeaseLimits Limits() const;
  // Ends slow transfers if others wait for them.
  void EndSlowTransfers();
  // When EndSlowTransfers has something to do next.
  MonoTime NextSlowTransfer() const;
  // Visits that may wait for names, and for names that are slow.
  size_t MostNameless() const;
  size_t MostSlowNames() const {
    return std::max<size_t>(MostNameless() / 2, 1);
  }
  // Parks the visits that wait for slow names if they are too many. The
  // resolver goes on with the name.
  void ParkSlowNames();
  MonoTime NextSlowName() const;
  // Parks the visits of the host that wait for its name.
  void ParkNameless(Host* host);
  // When a visit whose name is slow comes again.
  MonoTime NameAgain(Host* host) const;
  // Visits in memory at a time: those in the heaps, and some on their way.
  size_t MostVisits() const;
  // Tries some of the visits that wait for room, so that no visit holds up
  // those behind it. Returns whether there was room for one.
  bool AddWhatHadNoRoom();
  // Keeps a visit that found no room, or parks it if many such visits wait.
  void WaitForRoom(uint64_t id);
  // Parks those of `later_` that are due last if they are too many.
  void ParkLast();
  void Start(const politeness::Lease& lease);
  // Whether it is blocked by now; then the lease is given back.
  bool EndIfBlocked(const politeness::Lease& lease,
                    const std::optional<net::IpAddress>& address);
  // Nobody was contacted: no clock runs for it.
  void GiveBack(const politeness::Lease& lease);
  bool KeepsConnection(const Visit& visit, const Host& host) const;
  void PassOnParked();
  void PassOnNotes();
  void PassOn(const politeness::HostNote& note, Host* host);
  // Those of hosts whose name was not known, which this visit has.
  void PassOnUnnamed(const Visit& visit, Host* host);
  void AskForMore();
  void SetTimer();

  // So many leases at once: each may become a page.
  size_t MostLeases() const {
    const uint64_t left = most_pages_ - std::min(most_pages_, pages_ended_);
    return std::min<uint64_t>(max_in_flight_, left);
  }
  VisitPtr Extract(uint64_t id);
  void Leave(uint64_t host_key);  // one visit less
  void DropIfDone(uint64_t host_key);
  // Whether politeness has the host in memory until its wait is over: if it has
  // to leave before, a note says so.
  bool MayBeNoted(uint64_t host_key) const;
  // Drops hosts that were kept for a note that will not come.
  void TidyKept();

  const Parts parts_;
  const Clock& clock_;
  const net::PortGuard ports_;
  politeness::Politeness politeness_;
  size_t max_in_flight_;
  size_t in_flight_ = 0;
  uint64_t most_pages_ = UINT64_MAX;
  uint64_t pages_ended_ = 0;
  TransferClasses classes_;
  std::vector<size_t> load_;  // leases by downloader
  size_t next_failed_ = 0;    // the downloader that writes it down
  bool paused_ = false;

  uint64_t next_id_ = 1;
  std::unordered_map<uint64_t, VisitPtr> visits_;
  std::unordered_map<uint64_t, Host> hosts_;  // by key
  size_t kept_ = 0;                           // of them
  size_t tidy_at_ = 1024;                     // when so many are
  size_t nameless_ = 0;
  size_t robots_ = 0;         // visits here for a robots.txt
  size_t slow_nameless_ = 0;  // of them, those that wait for slow names
  // When names were asked for, in order, with their hosts.
  std::deque<std::pair<MonoTime, uint64_t>> names_;
  std::deque<uint64_t> full_;                // there was no room for them
  std::multimap<MonoTime, uint64_t> later_;  // to be begun again
  // Of hosts whose name is not known: restored, and not seen here since.
  // The last of each authority, in the order of epochs.
  std::unordered_map<uint64_t, std::vector<politeness::HostNote>> unnamed_;

  std::shared_ptr<const scope::BlockSet> blocks_;
  std::string surt_;  // for looking into it

  size_t wanted_ = 0;  // asked for, and not come
  bool came_ = false;  // some of it
  MonoTime ask_at_{};  // not before

  bool pumping_ = false;
  bool again_ = false;
  net::TimerId timer_ = net::TimerId::kNone;
  MonoTime timer_at_{};
  // Of the resolver, which may answer when this is gone.
  const std::shared_ptr<Dispatcher*> alive_;
};

}  // namespace nephila::crawl
