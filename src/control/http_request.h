// The head of an HTTP/1.x request for one of a few pages, read strictly: all
// that a browser, curl or Prometheus says, and nothing else.
//   In: bytes, hostile, at most kMostHttpBytes   Out: what is asked for, or the
//   status that refuses it   Threads: any   Cost: linear
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "net/ip_address.h"

namespace nephila::control {

inline constexpr size_t kMostHttpBytes = size_t{8} << 10;

struct HttpRequest {
  std::string_view path;  // without its query
  bool is_head = false;
};

// Up to the end of the first head in `bytes`; 0: it is not whole yet.
size_t HttpHeadSize(std::string_view bytes);

// Returns true if `host`, the value of a Host field, names the server that
// listens at `at`: `localhost`, `127.0.0.1`, `[::1]` or the address of `at`,
// followed by the port of `at`. The port may be left out only if it is 80.
bool IsOwnHost(std::string_view host, const net::Endpoint& at);

// Requires that the server listens at `at`. The error is an HTTP status: 400
// (malformed, or not exactly one Host field), 405 (neither GET nor HEAD), 421
// (the Host field does not name this server: a web page can point a name of
// its own at this machine and make a browser send requests here), 505.
Result<HttpRequest, int> ParseHttpRequest(std::string_view head,
                                          const net::Endpoint& at);

}  // namespace nephila::control
