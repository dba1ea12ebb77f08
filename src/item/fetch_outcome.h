// FetchOutcome: how an attempt to fetch a URL ended. A failed fetch is data,
// not an error: the enum is closed, and every policy about outcomes (try again,
// slow down, what to log) is a table over it.
//
// DO NOT CHANGE THE NUMBERS: journals hold them.
#pragma once

#include <cstdint>
#include <string_view>

namespace nephila::item {

enum class FetchOutcome : uint8_t {
  kResponse = 0,            // a response with a status, whole or truncated
  kDnsAnswer = 1,           // a name was resolved
  kDnsFailed = 2,           // no answer about a name
  kConnectFailed = 3,       // no connection to the server
  kTlsFailed = 4,           // a connection, but no trust or no common language
  kConnectionLost = 5,      // it ended before a status had come
  kTimeout = 6,             // too slow before a status had come
  kBadResponse = 7,         // what came is no HTTP
  kAddressRefused = 8,      // an address that is not public
  kRobotsDenied = 9,        // robots.txt forbids it
  kRobotsUnreachable = 10,  // robots.txt could not be had, so all is forbidden
  kOutOfScope = 11,         // the scope has changed since the link was found
  kBlocked = 12,            // the operator blocks the host
  kOverBudget = 13,         // a bound of the crawl on the host or the job
  kTooManyRetries = 14,
  kInterrupted = 15,       // the crawl stopped; it will be fetched again
  kInternalError = 16,     // a fault of ours
  kUnwanted = 17,          // its type or length was refused when the head came
  kTooManyRedirects = 18,  // a chain that is followed here, or a circle
  kHeadTooLarge = 19,      // over a bound on the head
  kNoSuchHost = 20,        // the DNS says that there is no such name
  kProxyFailed = 21,       // our own proxy is in the way
  kHostDead = 22,          // its host was silent too often: it was not asked
};

inline constexpr uint8_t kFetchOutcomes = 23;

// "response", "dns-failed": in logs and counters.
std::string_view FetchOutcomeName(FetchOutcome outcome);

}  // namespace nephila::item
