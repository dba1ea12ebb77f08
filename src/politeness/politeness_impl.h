// Politeness::Impl: both heaps and what is in them. For politeness.cc; the
// contract is that of Politeness.
//
// A host is in the host heap while it waits and has URLs, or to be dropped
// when its wait is over; in the line of a server when it is due; or in flight.
// A server is in the server heap if it may be contacted at a time that is
// known and somebody is in its line, or to be dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "politeness/delays.h"
#include "politeness/politeness.h"
#include "politeness/slots.h"
#include "politeness/tables.h"
#include "politeness/timed_heap.h"

namespace nephila::politeness {

class Politeness::Impl {
 public:
  Impl(const Clock& clock, PolitenessOptions options);

  Added Add(const HostFacts& facts, Kind kind, std::string payload);
  void Update(const HostFacts& facts);
  void Take(size_t max, std::vector<Lease>& leases);
  MonoTime NextDue() const;
  void Contacted(uint64_t lease, MonoTime when);
  void Done(uint64_t lease, const Outcome& outcome);
  bool WantsMore() const;
  void SetSpeed(double speed) { speed_ = speed; }
  void TakeParked(std::vector<Parked>& parked);
  void Forget(uint64_t key);
  Explanation Why(uint64_t key) const;
  PolitenessStats Stats() const;
  std::string Save() const;
  Status Restore(std::string_view saved);

 private:
  struct LeaseInfo {
    uint32_t host;
    uint32_t server;
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
    size_t operator()(const ServerKey& key) const;
  };

  // Hosts.
  uint32_t FindHost(uint64_t key) const;
  uint32_t MakeHost(const HostFacts& facts);
  void DropHost(uint32_t host);
  void TakeFacts(uint32_t host, const HostFacts& facts);
  void SetAddresses(Host& host, std::span<const ServerKey> addresses);
  void ClearAddresses(Host& host);
  // Makes its wait last until `time` at least.
  static void WaitUntil(Host& host, MonoTime time, DelayReason reason);
  // When its next URL may be leased, as far as the host is concerned.
  MonoTime DueOf(const Host& host) const;
  MonoTime FirstRobotsDue(const Host& host) const;
  // When a URL that is added now would have its turn.
  MonoTime TurnOf(const Host& host, Kind kind, MonoTime now) const;
  void ScheduleHost(uint32_t host);
  void Park(uint32_t host, MonoTime from);
  void SetPace(Host& host, const Outcome& outcome);

  // Servers.
  uint32_t ServerOf(const ServerKey& key);
  void AddDomain(uint32_t server, uint64_t domain, double budget);
  void RemoveDomain(uint32_t server, uint64_t domain);
  void ScheduleServer(uint32_t server);
  void DropServerIfDone(uint32_t server);
  // When one more in its line would have its turn.
  MonoTime TurnAt(const Server& server, MonoTime now) const;
  void EnterLine(uint32_t host, MonoTime now);
  bool HeadIsDue(uint32_t server, MonoTime now);
  Lease GiveLease(uint32_t server);
  void NoteContact(Server& server, uint64_t lease, MonoTime when);

  void NoteLeases(size_t count, MonoTime now);
  uint64_t WantedHosts() const;

  const Clock& clock_;
  const PolitenessOptions options_;
  const DelayRules rules_;
  const MonoTime start_;

  Slots<Host> hosts_;
  Slots<Server> servers_;
  std::unordered_map<uint64_t, uint32_t> host_by_key_;
  std::unordered_map<ServerKey, uint32_t, ServerKeyHash> server_by_key_;
  std::unordered_map<DomainAt, DomainHosts, DomainAtHash> domains_;
  std::unordered_map<uint64_t, LeaseInfo> leases_;
  TimedHeap host_heap_;
  TimedHeap server_heap_;
  std::vector<Parked> parked_;
  uint64_t next_lease_ = 1;
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
