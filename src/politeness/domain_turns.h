// DomainTurns: hosts of one domain take turns (Polybot, domain throttling). A
// university has a thousand hosts on a thousand addresses behind one line and
// one alarm; budgets bound what a domain gets in all, this bounds how fast.
//
// Leases of different hosts of a domain are `delay` apart. A host that is alone
// is never slowed: it has a delay of its own.
//   Threads: one.   Cost: a hash lookup for a turn; an entry for each domain
//   that had one within its delay, or has hosts that were sent away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "base/clock.h"
#include "politeness/delays.h"

namespace nephila::politeness {

struct DomainTurn {
  MonoTime at{};
  bool taken = false;
};

class DomainTurns {
 public:
  // `delay` zero: there are no turns to wait for. `last`: when all domains may
  // have had one; 0: never.
  explicit DomainTurns(Length delay, MonoTime last = {})
      : delay_(delay), first_(last == MonoTime() ? last : After(last, delay)) {}

  // The next turn of the domain, for this host, which has it if that is not
  // after `latest`; else when it should ask again, behind others who do.
  DomainTurn Take(uint64_t domain, uint64_t host, MonoTime now,
                  MonoTime latest);
  size_t size() const { return domains_.size(); }

 private:
  struct Domain {
    MonoTime next{};        // the first turn that nobody has
    MonoTime away_until{};  // when the last one who was sent away asks again
    uint64_t last_host = 0;
  };

  void Tidy(MonoTime now);

  const Length delay_;
  const MonoTime first_;  // turn of a domain that is not known
  std::unordered_map<uint64_t, Domain> domains_;
  size_t tidy_at_ = 1024;
};

}  // namespace nephila::politeness
