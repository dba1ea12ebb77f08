// AdversaryPlan: a small web of well-behaved hosts beside hostile hosts that
// are ten times as many as the tables of the crawl hold, from one number. For
// tests only.
//
//   In: a seed, kinds of adversaries   Out: a TwinPlan with the hostile hosts,
//   the same without them, and the pages of the well-behaved hosts
//   Threads: any.
//
// All waits that hostile hosts cause are far longer than a crawl without them
// takes, and all of them end: so a crawl with them finishes, and all promises
// of a Twin can be checked.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "crawl/twin_plan.h"

namespace nephila::crawl {

enum class AdversaryKind : uint8_t {
  kRobotsSlow,   // robots.txt is on a second host with a long Crawl-delay
  kRobotsDead,   // on a second host that does not respond
  kRobotsBusy,   // on a second host that responds 429 with Retry-After
  kRobotsLoop,   // on a second host that redirects back
  kRobotsFanIn,  // all on one host with a long Crawl-delay
  kPorts,        // closed ports of one host
  kCrawlDelay,   // just below politeness.park_after
  kTarpit,       // a transfer that takes a minute, and fails
  kSlowName,     // a name that is resolved after a long time
  kRetryAfter,   // 429 with a long Retry-After, then the page
};
inline constexpr size_t kAdversaryKinds = 10;

std::string_view AdversaryName(AdversaryKind kind);

struct AdversaryPlan {
  TwinPlan hostile;
  TwinPlan alone;              // the same without hostile hosts
  std::set<std::string> good;  // URLs of the pages of well-behaved hosts
};

// Each hostile host is of one of `kinds`, drawn by the seed.
AdversaryPlan MakeAdversaryPlan(uint64_t seed,
                                std::span<const AdversaryKind> kinds);

}  // namespace nephila::crawl
