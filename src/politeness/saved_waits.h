// HostWait, ServerWait: what is left of a wait, as journal and manifests have
// it. SavedWaits: those of a manifest.
//
// Lengths that are left, not times: monotonic times mean nothing after the
// machine has started anew. With those of a manifest stands when that was, by
// which boot, and who was contacted lately, for a restart under the same boot.
// One version byte; what cannot be read is refused as a whole. Version 2 has no
// names: under no boot does it say who was left alone. Versions 2 and 3 have
// failures of hosts: the wait is that of the host still, and each of the
// default authorities has the failures.
//
// Threads: any. Cost: linear.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "politeness/authority.h"
#include "politeness/delays.h"
#include "politeness/server_key.h"

namespace nephila::politeness {

// The wait of a host, and that of one of its authorities.
struct HostWait {
  bool operator==(const HostWait&) const = default;

  uint64_t host = 0;
  Length left{0};
  DelayReason reason = DelayReason::kHostDelay;
  uint32_t overloads = 0;  // of the host in a row, as of HostFacts
  uint32_t authority = kNoAuthority;
  Length authority_left{0};
  DelayReason authority_reason = DelayReason::kBackOff;
  uint32_t failures = 0;  // of the authority in a row
};

struct ServerWait {
  bool operator==(const ServerWait&) const = default;

  ServerKey address;
  Length left{0};
};

// One that may have been contacted.
struct RecentHost {
  bool operator==(const RecentHost&) const = default;

  uint64_t host = 0;
  // If that is known to be longer than all hosts wait; else 0.
  Length delay{0};
};

struct SavedWaits {
  bool operator==(const SavedWaits&) const = default;

  std::string boot_id;  // empty: not known
  MonoTime when{};
  std::vector<HostWait> hosts;  // a host stands there once for an authority
  std::vector<ServerWait> servers;
  // Of the delays that they come from.
  uint64_t delays_mark = 0;
  // Everyone else counts as contacted then; 0: never.
  MonoTime everyone_at{};
  // Those whose wait was not over, without those in flight; in order.
  std::vector<RecentHost> recent_hosts;
  std::vector<ServerKey> recent_servers;
};

std::string FormatWaits(const SavedWaits& waits);
std::optional<SavedWaits> ParseWaits(std::string_view bytes);

}  // namespace nephila::politeness
