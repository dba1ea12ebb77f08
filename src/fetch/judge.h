// Judge: what the end of a transfer means, the one place that turns libcurl's
// codes and our own reasons to stop into outcomes.
//
//   In: facts about a transfer that is over   Out: outcome and truncation
//   Threads: any; pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "fetch/curl.h"
#include "item/fetch_outcome.h"
#include "item/fetched_page.h"

namespace nephila::fetch {

// Why we ended a transfer that might have gone on.
enum class Stop : uint8_t {
  kNone,
  kCancelled,
  kGuard,          // the address may not be connected to
  kSecondContact,  // a kept connection broke: a new one needs a new lease
  kConnectTime,
  kHeadTime,
  kTotalTime,
  kTooSlow,
  kHeadSize,    // bytes or fields of the heads
  kNotHttp,     // a head that we cannot make sense of
  kUnwanted,    // by its type or length
  kLength,      // of the body
  kPool,        // no room for its body or head among all bodies
  kBadRequest,  // it cannot be asked for
  kNoIpv6,      // switched off
  kNoSockets,   // none left for us: descriptors, ports, memory of the kernel
  kHttp1Only,   // the server refuses us over HTTP/2: ask again without
};

inline constexpr uint8_t kStops = 17;

// "head-size": in the result's error and in counters.
std::string_view StopName(Stop stop);

struct EndFacts {
  CURLcode code = CURLE_OK;
  Stop stop = Stop::kNone;
  int os_error = 0;        // errno of the connection, if it failed
  bool connected = false;  // TCP
  bool by_proxy = false;
  // The proxy is there, and says that the server is not.
  bool proxy_blames_server = false;
  bool head_complete = false;  // the final one
  // What libcurl says about it: it has one code for a lost connection, broken
  // chunks and a head too large for it.
  std::string_view message = "";
};

struct Ending {
  item::FetchOutcome outcome = item::FetchOutcome::kInternalError;
  item::Truncation truncation = item::Truncation::kNone;
};

Ending Judge(const EndFacts& facts);

// Whether an errno of a connection speaks of us and not of the server.
bool IsOurShortage(int os_error);

}  // namespace nephila::fetch
