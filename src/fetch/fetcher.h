// Fetcher: asks a server for a URL and hands back all that came of it. It does
// not decide when to ask (politeness does), nor what an answer means.
//
//   In: FetchRequest, with the one address to connect to, resolved and guarded
//   by the caller; another address of the host is another request.
//   Out: exactly one FetchResult for each request, and before it at most one
//   OnContact; from the loop and never from inside Start or Cancel. Nothing is
//   dropped.
//   Threads: one, that of its event loop.   Cost: see curl_fetcher.h.
//
// The web in one process that tests crawl is another Fetcher.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "fetch/fetch_result.h"
#include "item/fetched_page.h"
#include "net/ip_address.h"

namespace nephila::fetch {

// What a transfer may cost. Each bound has its outcome (judge.h).
struct FetchLimits {
  // Until the connection stands, from the request to the end of the head, and
  // for everything.
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(20);
  std::chrono::nanoseconds first_byte_timeout = std::chrono::seconds(30);
  std::chrono::nanoseconds timeout = std::chrono::minutes(5);
  // Of the body, in bytes/s over a window; 0 is no bound.
  uint64_t min_speed_bytes = 1024;
  std::chrono::nanoseconds speed_window = std::chrono::seconds(20);
  // As it comes over the wire.
  uint64_t max_body_bytes = uint64_t{10} << 20;
  // Of all heads of an answer together, 1xx and trailers included.
  uint64_t max_head_bytes = uint64_t{64} << 10;
  uint64_t max_head_fields = 500;
};

struct FetchRequest {
  uint64_t id = 0;  // the caller's, unique among those in flight
  item::FetchKind kind = item::FetchKind::kPage;  // kPage or kRobots
  // As the URL standard serializes it; the fragment is not sent.
  std::string url;
  // Of the URL: an IPv6 address with its brackets.
  std::string host;
  uint16_t port = 80;
  bool https = false;
  net::IpAddress address;
  // Whether the connection stays open behind it: whoever asks knows when the
  // next page of that host is due. One that is open is always used.
  bool keep_connection = false;
  // False: HTTP/1.1, whatever the settings say; for a server that answered
  // HTTP/2 with HTTP_1_1_REQUIRED (RFC 9113 s7, error "http1-only").
  bool http2 = true;
  // Values of If-None-Match and If-Modified-Since; empty: not asked.
  std::string if_none_match;
  std::string if_modified_since;
  // In place of those of the settings.
  std::optional<FetchLimits> limits;
};

// Who asked.
class FetchHandler {
 public:
  virtual ~FetchHandler() = default;
  // Both may call anything of the fetcher.
  //
  // The server has heard of us: a new connection (`fresh`) stands, or the
  // answer over one that was kept begins. What follows can take minutes, and
  // whoever spaces the contacts of a server need not wait for it. Not told
  // where the transfer ended first; the result has it then (contact).
  virtual void OnContact(uint64_t /*id*/, MonoTime /*when*/, bool /*fresh*/) {}
  virtual void OnFetched(std::unique_ptr<FetchResult> result) = 0;
};

class Fetcher {
 public:
  virtual ~Fetcher() = default;

  // REQUIRES: no request of this id is in flight; the handler lives until it
  // was told.
  virtual void Start(FetchRequest request, FetchHandler* handler) = 0;
  // Ends it with kInterrupted; false if there is none of this id.
  virtual bool Cancel(uint64_t id) = 0;
  // Started, and its handler not told.
  virtual size_t in_flight() const = 0;
  // Gives a result back, so that its memory serves the next one.
  virtual void Recycle(std::unique_ptr<FetchResult> result) = 0;
};

}  // namespace nephila::fetch
