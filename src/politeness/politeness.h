// Politeness: the only place that decides WHEN a host or a server is contacted
// (thesis ch. VII.1; Polybot's crawl manager).
//
// In: URLs, each with its host, what is known of that host and the addresses
// it has. Out: leases. A lease is the right to make one contact: of one host,
// at one address, now. Whoever has it reports back the contact, as soon as it
// is known, and the end of the transfer. Pages, retries, robots.txt and each
// hop of a redirect take a lease of their own.
//
// What holds, always:
//   - one lease a host at a time, and the next no sooner than tau_h after the
//     END of the last transfer; only a host's first robots.txt does not wait;
//   - an authority of a host (authority.h) that does not answer backs off
//   alone:
//     the other ports of the host keep their turns;
//   - contacts of one address are tau_s apart: the next lease is given tau_s
//     after the contact of the last one was reported, so it holds at the server
//     whatever the network does in between; and there is a bound on how many
//     are in flight;
//   - hosts of one domain take turns, if `domain_delay` says so
//     (domain_turns.h);
//   - after a restart whoever may have been contacted by the process before
//     counts as contacted when this one began: those who waited when its state
//     was saved, and all leases since (Restore). If these are not known, or the
//     machine was started anew, or the delays are others, that is everyone.
// delays.h has the lengths.
//
// The URLs of an authority are taken in order, urgent ones (robots.txt, hops)
// first. Authorities of a host that are due take turns; those whose last
// request was answered have at least every second turn together, however many
// others there are. A host is in the host heap until it is due, then in the
// line of the address that is free first, whose place is in the heap of
// addresses.
//
// Memory is bounded: hosts and URLs by settings; and what would not be leased
// within `park_after` is not kept: Add says so at once (kLater), or it comes
// back by TakeParked, with the time when it is due. A host without URLs stays
// until its wait is over. One that waits longer is parked: its clock alone
// stays, and a note (TakeNotes) says what the host's record has to say from now
// on. URLs that were checked before the record said so come without that time;
// when the last of them has been read, Forget. So no host comes back without
// its clock. A note that came later makes Forget do nothing, as a note is as
// good as its epoch; a host that is back is forgotten when it leaves again.
//
// An authority that waits longer sends its URLs away alone, with a note. At
// most kMostAuthorities of a host are known at a time; URLs of others are sent
// away (kLater), but those of the default ports never.
//
// When memory is full, it is for what is due: the host or URL that is due last
// is parked, however soon it is due, if what comes is due before it. Add says
// kFull only if all that is in memory is due within seconds, like what comes.
//
// Parked hosts take no place of others, and have a bound of their own
// (`max_parked`); hosts in memory have a claim to a parked place each. When no
// more can be known the URLs of unknown hosts are sent away for seconds
// (kLater), not refused: what is to be read before hosts can be forgotten can
// be read.
//
// WantsMore: whether URLs of more hosts should be added. Polybot's rule: there
// are to be as many hosts in memory as keep the crawl at its speed, `refill` *
// speed * the time from one lease of a host to its next. Speed is that of the
// last leases, or what SetSpeed says; and a Take that found too little asks
// for more, whatever the numbers.
//
// Accounts: added = leased + parked + waiting (stats). Nothing is dropped.
// Threads: one. Cost: O(log n) for a lease, 0.6 us with a thousand hosts in
// memory and 1.7 us with 100 000; a host with a URL of 80 bytes and a fifth of
// an address takes 530 bytes, a parked one about 110 (`nephila bench
// politeness`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/settings.h"
#include "net/server_group.h"
#include "politeness/authority.h"
#include "politeness/delays.h"
#include "politeness/host_class.h"
#include "politeness/saved_waits.h"
#include "politeness/server_key.h"

namespace nephila::politeness {

// More addresses of a host are not looked at.
inline constexpr size_t kMostAddresses = 8;
// Authorities of a host in memory, besides the default ports.
inline constexpr size_t kMostAuthorities = 40;

struct HostFacts {
  uint64_t host = 0;    // HostKey
  uint64_t domain = 0;  // PldKey
  // Its addresses. REQUIRES: at least one.
  std::span<const ServerKey> addresses;
  // What is not known, with the URL of another site that is redirected here,
  // stays as it was.
  double budget = 0;  // of the domain; 0: not known
  // As its robots.txt says; 0 if that says nothing. A host has more than one,
  // by scheme and port, and one clock: the longest of an hour counts.
  std::optional<Length> crawl_delay;
  // What its record says, if it was parked and forgotten: it is not contacted
  // before, and how often in a row it said that it is overloaded.
  MonoTime not_before{};
  uint32_t overloads = 0;
  // The authority of the URL, and what the record says of it: it is not
  // contacted before, and how often in a row it did not answer.
  uint32_t authority = kHttpAuthority;
  MonoTime authority_not_before{};
  uint32_t failures = 0;
  std::string_view name;  // for site_delay
};

enum class Kind : uint8_t {
  kPage,
  kRobots,       // urgent
  kFirstRobots,  // urgent, and does not wait for the host if that was never
                 // contacted
  kHop,          // of a redirect that is being followed: urgent
};

enum class AddOutcome : uint8_t {
  kTaken,
  kLater,  // not before `due`; nothing was taken
  kFull,   // no room, and all others are due too; nothing was taken
};

struct Added {
  AddOutcome outcome = AddOutcome::kTaken;
  MonoTime due{};  // with kLater
};

struct Lease {
  uint64_t id = 0;  // never used twice
  uint64_t host = 0;
  // ClockOf the address to connect to: the caller picks one of the host's
  // addresses that has this clock.
  ServerKey address;
  Kind kind = Kind::kPage;
  std::string payload;
  Length host_delay{0};  // as far as it is known now
  HostClass host_class = HostClass::kUnproven;
};

// How many leases a Take may give.
struct LeaseLimits {
  size_t all = SIZE_MAX;
  size_t slow = SIZE_MAX;  // to slow hosts
  // To hosts that are not proven, slow ones included; and in all if proven
  // hosts leave room.
  size_t not_proven = SIZE_MAX;
  size_t not_proven_if_free = SIZE_MAX;
};

// Who may have been contacted: that of a lease, for the next process.
struct Contact {
  bool operator==(const Contact&) const = default;

  uint64_t host = 0;
  ServerKey address;
  Length delay{0};  // of the host
};

struct Outcome {
  // When the server was contacted: a fresh connection stood, else the first
  // byte of the answer was there. Nothing if it was not (no socket was opened);
  // a connection that failed was a contact at its end.
  std::optional<MonoTime> contact;
  MonoTime end{};  // of the transfer
  // What it says about the host, by the table of item/outcome_policy.h.
  item::HostStep host = item::HostStep::kNone;
  Length download{0};  // how long the transfer took
  Length retry_after{0};
  bool slow = false;  // it took longer than transfers usually take
};

// What is left to wait after a transfer, for its entry in the journal.
struct Waits {
  HostWait host;
  ServerWait address;
};

// A URL that came back, and when it may come again.
struct Parked {
  uint64_t host = 0;
  Kind kind = Kind::kPage;
  std::string payload;
  MonoTime due{};
};

// What the record of a host, and that of one of its authorities, has to say
// from now on.
struct HostNote {
  uint64_t host = 0;
  uint64_t epoch = 0;     // of this note, for Forget; only in this process
  MonoTime not_before{};  // no contact of the host
  uint32_t overloads = 0;
  // kNoAuthority: of none more is known than its record says.
  uint32_t authority = kNoAuthority;
  MonoTime authority_not_before{};  // no contact of the authority
  uint32_t failures = 0;
};

enum class WaitsFor : uint8_t {
  kNothing,      // it is not known here, or has no URL: nothing waits
  kHost,         // its delay
  kDomain,       // the turn of another host of its domain
  kServerDelay,  // the delay of its address
  kServerLine,   // others at its address
  kTransfer,     // the transfer in flight
  kParked,       // a time far away
  kNextTake,     // it is due
  kAuthority,    // the back-off of its authority, which did not answer
};
std::string_view WaitsForName(WaitsFor what);

struct Explanation {
  WaitsFor what = WaitsFor::kNothing;
  MonoTime until{};  // the earliest
  // Which authority this is about: the one that was named if it is known, else
  // the one that is due first, or has failed most often.
  uint32_t authority = kNoAuthority;
  // Why the host, or the authority if that waits longer, waits until
  // `not_before`.
  DelayReason reason = DelayReason::kHostDelay;
  MonoTime not_before{};
  Length delay{0};   // of the host, as it is now
  size_t urls = 0;   // that wait, of all authorities
  Trouble trouble;   // the failures are those of the authority
  size_t ahead = 0;  // hosts before it in the line of its address
};

struct PolitenessOptions {
  PolitenessSettings settings;
  double reference_budget = 10;  // B_0
  // Whether there was a process before this one that may have contacted
  // anyone.
  bool restarted = false;
  // Which addresses share a clock.
  net::ServerGroups groups;
  // Of the tables by address, which DNS servers choose.
  uint64_t table_seed = 0;
  // In place of `site_delays` of the settings, which are to be right
  // (site_delays.h). Asked when a host comes into memory.
  std::function<std::optional<Length>(const HostFacts&)> site_delay = nullptr;
};

struct PolitenessStats {
  uint64_t added = 0;
  uint64_t leased = 0;
  uint64_t parked = 0;   // came back by TakeParked, or will
  uint64_t waiting = 0;  // URLs in memory that are not leased
  uint64_t in_flight = 0;
  uint64_t hosts = 0;
  uint64_t parked_hosts = 0;  // which are none of `hosts`
  uint64_t busy_hosts = 0;    // with URLs, or in flight
  uint64_t addresses = 0;
  uint64_t wanted_hosts = 0;  // by the rule of WantsMore
};

// Hosts in memory, each counted once; and of these and the parked ones those
// that are dead.
struct HostCounts {
  uint64_t idle = 0;     // without URLs, until their wait is over
  uint64_t waiting = 0;  // for their delay, or their domain's turn
  uint64_t due = 0;      // in the line of an address
  uint64_t in_flight = 0;
  uint64_t dead = 0;
  std::optional<MonoTime> next_due;  // of those that wait
};

class Politeness {
 public:
  // `clock` outlives this.
  Politeness(const Clock& clock, PolitenessOptions options);
  ~Politeness();
  Politeness(const Politeness&) = delete;
  Politeness& operator=(const Politeness&) = delete;

  Added Add(const HostFacts& facts, Kind kind, std::string payload);
  // What was learnt of a host since it was added: addresses, crawl delay,
  // budget. Nothing if it is not in memory.
  void Update(const HostFacts& facts);

  // Up to `max` leases that are due now, appended to `leases`.
  void Take(size_t max, std::vector<Lease>& leases) {
    Take(LeaseLimits{.all = max}, leases);
  }
  void Take(const LeaseLimits& limits, std::vector<Lease>& leases);
  // When Take may have one within these limits; max() if that depends on a
  // report.
  MonoTime NextDue(const LeaseLimits& limits = {}) const;
  // Whether a host that is not slow was due at the last Take and got no lease.
  bool OthersWait() const;
  // The contact of a lease, once it is known. It lets the next one of its
  // address go tau_s later; without it that waits for Done. Nothing if it is
  // done already.
  void Contacted(uint64_t lease, MonoTime when);
  // REQUIRES: the lease was given and not done before.
  Waits Done(uint64_t lease, const Outcome& outcome);

  // The host could not be tried at all: its name was not resolved. Its
  // authority waits as after a transfer that ended like this, and nobody was
  // contacted. Of the facts addresses are not needed.
  HostWait Failed(const HostFacts& facts, item::HostStep step);
  // When its name should be resolved: nothing if now. An authority that does
  // not answer, or whose name does not, is left alone first. Addresses are not
  // needed.
  std::optional<MonoTime> NotYet(const HostFacts& facts, Kind kind);

  // The key of the server that the address belongs to.
  ServerKey ClockOf(const ServerKey& address) const;

  bool WantsMore() const;
  // Leases a second that the crawl aims at; 0: as many as there are.
  void SetSpeed(double leases_per_second);

  // URLs that are not due for long, appended to `parked`.
  void TakeParked(std::vector<Parked>& parked);
  // Notes for records, appended to `notes`; of one host in order, one for each
  // authority. They come when a host is parked, an authority waits for long, a
  // host leaves memory in more or less trouble than its record says, is well
  // again, or had a long wait that was restored. The last of them is the one to
  // Forget by.
  void TakeNotes(std::vector<HostNote>& notes);
  // The record of the host says what the note with this epoch says, and
  // nothing will come that was checked before it did.
  void Forget(uint64_t host, uint64_t epoch);

  // Host and server delays, floors and site delays of `settings`, from now on;
  // the rest of it is not looked at. What is longer holds for the waits that
  // are running too; what is shorter from the next lease on. `name_of` a host,
  // where the caller knows it: others are looked up with their next URL.
  // REQUIRES: site delays that are right (site_delays.h).
  // Cost: that of all hosts and addresses in memory.
  void SetDelays(const PolitenessSettings& settings,
                 const std::function<std::string_view(uint64_t host)>& name_of);

  Explanation Why(uint64_t host, uint32_t authority = kNoAuthority) const;
  // How often in a row the authority did not answer, as far as is known here.
  uint32_t Failures(uint64_t host, uint32_t authority) const;
  // Whether the record of the host, or of one of its authorities, does not say
  // what is known here: a note will come.
  bool HasNews(uint64_t host) const;
  // Cost: that of all hosts in memory.
  HostCounts CountHosts() const;
  PolitenessStats stats() const;

  // For a manifest: who waits, and the waits that last longer than those of a
  // restart; and again, into an object that is new. `since`: all leases that
  // were in flight when it was saved, and all since; nothing if that is not
  // known. The time since Save counts only if the machine did not start anew.
  // kCorruption for what was not saved.
  std::string Save() const;
  Status Restore(std::string_view saved,
                 const std::optional<std::vector<Contact>>& since = {});
  // Leases that are not done.
  std::vector<Contact> InFlight() const;
  // Waits from the journal, in its order, after Restore and before any Add:
  // from now on, so what has passed since is the caller's to take off. The
  // longest wait holds, and what the last says of failures.
  void Hold(const HostWait& wait);
  void Hold(const ServerWait& wait);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace nephila::politeness
