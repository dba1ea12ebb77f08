// Behaviour: the named ways in which a simulated host can behave, and which
// keys of a rule each of them reads (docs/sim.md has an example of each).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace nephila::sim {

enum class Behaviour : uint8_t {
  // What a request is answered with.
  kPage,
  kStatus,
  kRedirect,
  kRedirectChain,
  kRedirectLoop,
  kSlowFirstByte,
  kSlowDrip,
  kEndlessBody,
  kHang,
  kDrop,
  kReset,
  kCutBody,
  kHalfClose,
  kBrokenChunking,
  kWrongLength,
  kContentType,
  kGzipBomb,
  kBrokenGzip,
  kHeaderFlood,
  kRetryAfter,
  kBurst,
  kClose,
  kRobots,
  kHugeRobots,
  kTarpit,
  kRedirectWeb,
  kLinkFlood,
  kHeavyPage,
  kPortLinks,
  // What is found on a host.
  kFarm,
  kCalendar,
  kSessionIds,
  kGrowingPath,
  kReorder,
  kMirror,
  kSoft404,
  kSmallSite,
  // What its name resolves to.
  kDnsNxdomain,
  kDnsServfail,
  kDnsTimeout,
  kDnsWildcard,
  kDnsAddress,
  kDnsRebind,
  kDnsTruncate,
  kDnsSlow,
  kDnsDrip,
};

// Rules of different layers apply side by side: a host can have a calendar,
// answer slowly and resolve to two addresses.
enum class Layer : uint8_t { kHttp, kSpace, kDns };

struct BehaviourInfo {
  std::string_view name;  // as in a scenario: "slow-drip"
  Layer layer = Layer::kHttp;
  // The keys that it reads besides host, path and share, between spaces.
  std::string_view keys;
  // Of those, the ones it cannot do without.
  std::string_view required;
};

// By the number of the behaviour.
const BehaviourInfo& InfoOf(Behaviour behaviour);

// For config/table.h.
std::span<const std::string_view> ChoiceNames(Behaviour /*any*/);

}  // namespace nephila::sim
