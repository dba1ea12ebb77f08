// DnsZone: what the simulated name server knows of a name: the addresses of the
// hosts of a Site, and what the scenario makes of them.
//   Threads: any. The only state is how often a rebinding rule has answered.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "sim/dns_message.h"
#include "sim/site.h"

namespace nephila::sim {

class DnsZone {
 public:
  // `site` outlives this.
  explicit DnsZone(const Site& site);

  // A rule "rebind" gives the host's own address for its first `count` answers
  // (1 by default), with a TTL of 0, and its `addresses` from then on.
  DnsAnswer Find(std::string_view name);

 private:
  void AddOwn(const HostFacts& host, std::string_view name,
              DnsAnswer* answer) const;
  void AddRebound(const Rule& rule, const HostFacts& host,
                  std::string_view name, DnsAnswer* answer);

  const Site& site_;
  std::unique_ptr<std::atomic<int64_t>[]> answers_;  // by rule
};

}  // namespace nephila::sim
