// Adversaries: hosts that try to use up what a crawler has, each kind with the
// table that it aims at, beside well-behaved hosts whose pages are known. What
// `nephila bench hostile` and the tests of the program crawl.
//
//   In: kinds and numbers of hosts   Out: rules of a scenario (docs/sim.md),
//   and the URLs that a crawl begins with
//   Threads: any. Cost: linear in the number of URLs.
//
// Every host is a domain of its own, "good17.example", so that budgets of
// domains do not decide who is crawled.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/scenario.h"

namespace nephila::sim {

// What a crawler has a bounded number of.
enum class Resource : uint8_t {
  kHosts,      // politeness.max_hosts
  kTransfers,  // crawl.max_transfers
  kNames,      // names that are resolved at once
};

struct Adversary {
  std::string_view name;  // "robots-slow"
  Resource aims_at = Resource::kHosts;
  std::string_view rules;  // TOML; {all} is the number of hostile hosts
  // A URL of hostile host {n}, {port} being the server's.
  std::string_view url;
  // URLs of each host: "{page}" counts up to here.
  int pages = 1;
};

std::span<const Adversary> Adversaries();
// Returns nullptr if there is none of this name.
const Adversary* FindAdversary(std::string_view name);

struct HostileWebOptions {
  uint64_t good_hosts = 20;
  uint64_t pages = 10;  // of each good host, all linked from its home page
  uint64_t hostile_hosts = 0;
  // The kinds of hostile hosts; of several, one is drawn for each host.
  std::vector<const Adversary*> adversaries;
  uint64_t seed = 1;
};

// The scenario as text, for ParseScenario or `nephila sim --scenario`.
std::string HostileRules(const HostileWebOptions& options);

// The home pages of the good hosts and all URLs of the hostile ones, hostile
// ones first: so the crawl meets them before any good host.
std::vector<std::string> HostileSeeds(const HostileWebOptions& options,
                                      uint16_t port);

// Whether a host is one of the good ones.
inline bool IsGoodHost(std::string_view host) {
  return host.starts_with("good");
}

}  // namespace nephila::sim
