// Politeness::Impl: both heaps and what is in them. For politeness.cc; the
// contract is that of Politeness.
//
// A host is in the host heap while it waits and has URLs, or to leave when its
// wait is over; in the line of a server when it is due; or in flight. Its URLs
// are in lanes, one for each authority (politeness_lanes.cc). Parked hosts are
// apart (politeness_parking.cc).
// A server is in the server heap if it may be contacted at a time that is
// known and somebody is in its line, or to be dropped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "politeness/delays.h"
#include "politeness/domain_turns.h"
#include "politeness/politeness.h"
#include "politeness/site_delays.h"
#include "politeness/slots.h"
#include "politeness/tables.h"
#include "politeness/timed_heap.h"

namespace nephila::politeness {

class Politeness::Impl {
 public:
  Impl(const Clock& clock, PolitenessOptions options);

  Added Add(const HostFacts& facts, Kind kind, std::string payload);
  void Update(const HostFacts& facts);
  void Take(const LeaseLimits& limits, std::vector<Lease>& leases);
  MonoTime NextDue(const LeaseLimits& limits) const;
  bool OthersWait() const;
  void Contacted(uint64_t lease, MonoTime when);
  Waits Done(uint64_t lease, const Outcome& outcome);
  HostWait Failed(const HostFacts& facts, item::HostStep step);
  std::optional<MonoTime> NotYet(const HostFacts& facts, Kind kind);
  bool WantsMore() const;
  void SetSpeed(double speed) { speed_ = speed; }
  void TakeParked(std::vector<Parked>& parked);
  void TakeNotes(std::vector<HostNote>& notes);
  void Forget(uint64_t key, uint64_t epoch);
  Explanation Why(uint64_t key, uint32_t authority) const;
  uint32_t Failures(uint64_t key, uint32_t authority) const;
  bool HasNews(uint64_t key) const;
  PolitenessStats Stats() const;
  HostCounts CountHosts() const;
  void SetDelays(const PolitenessSettings& settings,
                 const std::function<std::string_view(uint64_t)>& name_of);
  std::string Save() const;
  Status Restore(std::string_view saved,
                 const std::optional<std::vector<Contact>>& since);
  std::vector<Contact> InFlight() const;
  void Hold(const HostWait& wait);
  void Hold(const ServerWait& wait);
  ServerKey ClockOf(const ServerKey& address) const;

 private:
  struct LeaseInfo {
    uint32_t host;
    uint32_t server;
    uint32_t authority;
    bool contacted = false;  // it was said before it was done
  };
  // A domain at an address.
  struct DomainAt {
    bool operator==(const DomainAt&) const = default;

    uint64_t domain;
    uint32_t server;
  };
  struct DomainAtHash {
    size_t operator()(const DomainAt& at) const;
  };
  struct DomainHosts {
    uint32_t hosts = 0;
    double budget = 0;
  };
  struct ServerKeyHash {
    uint64_t seed;
    size_t operator()(const ServerKey& key) const;
  };

  // Hosts.
  uint32_t FindHost(uint64_t key) const;
  uint32_t MakeHost(uint64_t key);
  uint32_t MakeHost(const HostFacts& facts);
  void DropHost(uint32_t host);
  Added AddTo(uint32_t host, uint32_t authority, Kind kind,
              std::string payload);
  // When a page that is sent away now should come again: behind those before.
  static MonoTime NextAway(MonoTime from, MonoTime& later_until, Length delay);
  void TakeFacts(uint32_t host, const HostFacts& facts);
  void SetAddresses(Host& host, std::span<const ServerKey> addresses);
  void ClearAddresses(Host& host);
  // Makes its wait last until `time` at least.
  static void WaitUntil(Host& host, MonoTime time, DelayReason reason);
  // When its next URL may be leased, as far as the host is concerned.
  MonoTime DueOf(const Host& host) const;
  MonoTime FirstRobotsDue(const Host& host) const;
  // When a URL that is added now would have its turn.
  MonoTime TurnOf(const Host& host, const Lane& lane, Kind kind,
                  MonoTime now) const;
  void ScheduleHost(uint32_t host);
  // How long a host without URLs is to be known here.
  MonoTime StaysUntil(const Host& host) const;
  // Without a contact the host has nothing to wait for.
  void SetPace(Host& host, Lane& lane, const Outcome& outcome, bool contacted);
  // After an end of `authority`: sends away what is not due for long, and lets
  // the record know.
  void Settle(uint32_t host, uint32_t authority, MonoTime now);
  Length SiteDelay(const HostFacts& facts) const;
  // Of all that is known: it may be longer than what was known at its end.
  void WaitAsSettingsSay(Host& host) const;
  void SetCrawlDelay(Host& host, Length asked) const;

  // Authorities (politeness_lanes.cc).
  static Lane* FindLane(Host& host, uint32_t authority);
  static const Lane* FindLane(const Host& host, uint32_t authority);
  static const LaneState* FindLane(const ParkedHost& host, uint32_t authority);
  static Lane& AddLane(Host& host, uint32_t authority);
  // Whether there is one, or room for one.
  bool MakeRoomForLane(Host& host, uint32_t authority) const;
  // Nothing is to be known of it, as far as its wait is concerned.
  bool IsBlank(const LaneState& lane) const;
  // Its record says something else.
  bool HasNews(const LaneState& lane) const;
  bool HasNews(const Host& host) const;
  void TakeLaneFacts(Host& host, const HostFacts& facts);
  static void LaneWaitsUntil(Lane& lane, MonoTime time, DelayReason reason);
  // When its first URL may be leased, as far as host and authority are
  // concerned.
  MonoTime LaneDue(const Host& host, const Lane& lane) const;
  // Whether a host without URLs goes at once, because it, or its authority,
  // waits for long. A short wait of the host is waited for here: it holds for
  // ports whose records may not know it.
  bool MayLeave(const Host& host, const Lane& lane, MonoTime now) const;
  // Whose turn it is. REQUIRES: one is due.
  Lane& NextLane(Host& host, MonoTime now) const;
  // Its URLs, the first of which is due at `from`, `step` apart.
  void SendAway(Host& host, Lane& lane, MonoTime from, Length step);
  // Those of authorities that are not due for long.
  void SendAwayLate(Host& host, MonoTime limit);

  // Parking.
  using ParkedHosts = std::unordered_map<uint64_t, ParkedHost>;
  // A URL of a parked host that is not due for long; nothing if it may be.
  std::optional<Added> AddParked(ParkedHost& host, const HostFacts& facts,
                                 Kind kind, MonoTime now) const;
  // Its URLs, the first of each authority not due before `from`.
  void SendAway(uint32_t host, MonoTime from);
  // It has no URLs and goes: to the parked ones if anything is to be known of
  // it later.
  void Leave(uint32_t host);
  // Returns whether no other host may be known: those whose time is long over
  // make room. Each host in memory has a claim to a parked place.
  bool KnownIsFull(MonoTime now);
  // Among the parked ones, with the note that it had last.
  ParkedHost& MoveToParked(uint32_t host);
  uint32_t Unpark(ParkedHosts::iterator parked);
  uint64_t Note(uint64_t key, MonoTime not_before, uint32_t overloads,
                const LaneState* lane);
  HostWait WaitOf(const Host& host, const LaneState* lane, MonoTime now) const;
  void SaveRecent(SavedWaits* waits) const;
  // All others are free.
  void OnlyContacted(const SavedWaits& saved,
                     const std::vector<Contact>& since);
  // What waits are made of; two processes that differ in it have other waits.
  uint64_t DelaysMark() const;
  // Until when a host is left alone for what a process before may have asked
  // of it; 0: for nothing.
  MonoTime LeftAloneUntil(const Host& host) const;
  // When a process before may have contacted it last; 0: never.
  MonoTime ContactBefore(const ServerKey& server) const;

  // Classes (politeness_classes.cc).
  static HostClass ClassOf(const Host& host);
  // Takes note of how a transfer ended, or of a name that was not resolved.
  void NoteClass(Host& host, const Outcome& outcome);
  // The heap that the server is in: that of the class of the host whose turn it
  // is, or that of servers which only wait to be dropped.
  TimedHeap& HeapOf(const Server& server);
  // The heap whose first server may have the next lease within these limits;
  // null if none is due. When no proven host is due the others get its part.
  TimedHeap* NextHeap(LeaseLimits& left, MonoTime now);
  static void TakeOff(HostClass host, LeaseLimits& left);

  // Room (politeness_room.cc).
  bool HasUrlRoom() const;
  // Make room for a URL, or for the host that was made last, whose turn comes
  // at `turn`: what is due last, and later than that, leaves memory. Return
  // false if nothing is.
  bool MakeUrlRoom(MonoTime turn, MonoTime now);
  bool MakeHostRoom(MonoTime turn, MonoTime now);
  // The same for a host that is proven, while more than half of the places are
  // those of other hosts: one of these leaves, though it is due.
  bool MakeProvenRoom(MonoTime now);
  // Returns whether a host that is due now would find room.
  bool CanMakeRoom(MonoTime now) const;
  // What becomes of a URL that is not taken: it comes again when it has its
  // turn, behind those before; or waits for room if that is soon.
  Added NoRoom(Lane& lane, const Host& host, Kind kind, MonoTime turn,
               MonoTime now) const;
  // The authority with the most pages, whose last page has the last turn of
  // the host; null if there is no page.
  static const Lane* TailLane(const Host& host);
  // When a URL of a host comes again whose clock cannot be kept.
  MonoTime ComeAgain(MonoTime now) const;
  // Whether hosts of this class have their share of the places in memory, in
  // the lines of addresses: half of them for hosts that are not proven, and of
  // that half for slow ones.
  bool LinesAreFull(HostClass host_class) const;
  // What leaves is due later than what comes by more than this.
  Length Margin() const;
  // Updates the turn of the host's last URL.
  void ScheduleTail(uint32_t host);
  // Sends the URL away that is the last in late_urls_.
  void SendTailAway(uint32_t host);
  void Evict(uint32_t host);
  // Sends the last host in the line away, to come again when it has its turn
  // there.
  void EvictFromLine(uint32_t server, MonoTime turn, MonoTime now);

  // Servers.
  // By ClockOf an address.
  uint32_t ServerOf(const ServerKey& key);
  void AddDomain(uint32_t server, uint64_t domain, double budget);
  void RemoveDomain(uint32_t server, uint64_t domain);
  void ScheduleServer(uint32_t server);
  void DropServerIfDone(uint32_t server);
  // Whether a lease may be given when its wait is over.
  bool IsOpen(const Server& server) const;
  // It was closed before a report and may be open since.
  void NoteInterval(Server& server, bool was_open, MonoTime now);
  // From one lease there to the next, as far as is known: the delay, or as long
  // as it takes until its contact is reported.
  Length IntervalAt(const Server& server, MonoTime now) const;
  // When somebody with so many before in its line has the turn.
  MonoTime TurnAt(const Server& server, uint64_t before, MonoTime now) const;
  // Of its addresses the one whose turn comes first.
  uint32_t BestServer(const Host& host, MonoTime now, MonoTime& turn) const;
  // When a host that is sent away from a long line should come again: one
  // behind the other, so that they do not come back all at once.
  MonoTime NextAwayAt(Server& server, MonoTime turn, MonoTime now) const;
  // Whether its domain lets it: else it waits for its turn, or is sent away.
  bool HasDomainTurn(uint32_t host, MonoTime now);
  void EnterLine(uint32_t host, MonoTime now);
  // Takes the host out of the line that it is in.
  void LeaveLine(uint32_t host);
  bool HeadIsDue(uint32_t server, MonoTime now);
  Lease GiveLease(uint32_t server, MonoTime now);
  void NoteContact(Server& server, uint64_t lease, MonoTime when);

  void NoteLeases(size_t count, MonoTime now);
  uint64_t WantedHosts() const;

  const Clock& clock_;
  PolitenessOptions options_;
  DelayRules rules_;
  SiteDelays site_delays_;
  uint32_t site_delays_changes_ = 0;
  DomainTurns domain_turns_;
  const MonoTime start_;
  // When everyone counts as contacted who is not one of the following, and who
  // counts as contacted when this process began.
  MonoTime everyone_at_;
  std::unordered_map<uint64_t, Length> recent_hosts_;  // RecentHost::delay
  std::unordered_set<ServerKey, ServerKeyHash> recent_servers_;

  Slots<Host> hosts_;
  Slots<Server> servers_;
  std::unordered_map<uint64_t, uint32_t> host_by_key_;
  ParkedHosts parked_hosts_;
  MonoTime next_sweep_{};  // of them
  std::unordered_map<ServerKey, uint32_t, ServerKeyHash> server_by_key_;
  std::unordered_map<DomainAt, DomainHosts, DomainAtHash> domains_;
  std::unordered_map<uint64_t, LeaseInfo> leases_;
  TimedHeap host_heap_;
  // By HostClass of the first in line, and those without a line.
  std::array<TimedHeap, kHostClasses + 1> server_heaps_;
  size_t first_class_ = 0;  // which of them is looked at first
  ProvenHosts proven_hosts_;
  // What leaves memory first when it is full: hosts of the host heap, by the
  // same time; hosts with URLs, by the turn of their last URL; servers with a
  // line, by the turn of the last host there.
  LatestHeap late_hosts_;
  LatestHeap late_urls_;
  std::array<LatestHeap, 2> late_lines_;  // a proven host is last; another
  uint64_t proven_in_memory_ = 0;         // hosts
  std::vector<Parked> parked_;
  std::vector<HostNote> notes_;
  uint64_t next_epoch_ = 1;
  uint64_t next_lease_ = 1;
  std::array<size_t, kHostClasses> in_lines_{};  // hosts, by line_class
  uint64_t waiting_ = 0;
  uint64_t busy_hosts_ = 0;
  uint64_t added_ = 0;
  uint64_t leased_ = 0;
  uint64_t parked_urls_ = 0;

  // For WantsMore.
  bool starved_ = true;
  double speed_ = 0;
  double rate_ = 0;     // leases a second, lately
  double cycle_s_ = 0;  // from one lease of a host to its next, lately
  MonoTime rate_at_;
};

}  // namespace nephila::politeness
