// Answer: how the resolving of a name ended. A name that cannot be resolved is
// data, not an error: the outcomes are a closed set, and every policy about
// them is a table over it.
//
// Threads: any; plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/ip_address.h"

namespace nephila::dns {

enum class Outcome : uint8_t {
  kFound,
  kNoSuchName,        // the name does not exist
  kNoAddress,         // it exists, but has no address of the families wanted
  kServerFailure,     // the resolver failed, or was not there
  kServerRefused,     // the resolver does not answer us
  kTimedOut,          // no resolver answered in time
  kBadAnswer,         // what came is broken
  kBadName,           // no name that DNS can know; it was not asked for
  kAddressesRefused,  // it has addresses, and the guard refuses all of them
  kOverloaded,        // too many names wait, or this machine has no socket to
                      // ask by; it was not asked for
  kCancelled,         // the resolver was told to stop
};

inline constexpr size_t kOutcomes = 11;

// "found", "no-such-name": in logs and counters.
std::string_view OutcomeName(Outcome outcome);

// Whether the name itself is at fault, so that asking again soon is no use;
// else it is the resolver, the network or we.
bool IsAboutName(Outcome outcome);

enum class Source : uint8_t {
  kAsked,   // a resolver was asked for this
  kJoined,  // somebody else was just asking
  kCache,
  kKnown,  // an address in place of a name, or a name that is never asked for
};

struct RefusedAddress {
  net::IpAddress address;
  std::string_view block;     // why: GuardAnswer
  std::string_view embedded;  // GuardAnswer

  bool operator==(const RefusedAddress&) const = default;
};

struct Answer {
  Outcome outcome = Outcome::kCancelled;
  // Public ones, or allowed by name; in the order to try them. Not empty if
  // and only if the outcome is kFound.
  std::vector<net::IpAddress> addresses;
  std::vector<RefusedAddress> refused;
  // How long it still holds.
  std::chrono::nanoseconds ttl{0};
  Source source = Source::kKnown;
  // Who said it, where a server did.
  std::optional<net::Endpoint> server;
  // For kBadAnswer, a constant.
  std::string_view why;
  // For the archive, with kAsked only: a line with the time (14 digits, UTC),
  // then the records as in a zone file (text/dns, RFC 4027). Empty where there
  // are none.
  std::string records;
  // From Resolve to now.
  std::chrono::nanoseconds took{0};
};

}  // namespace nephila::dns
