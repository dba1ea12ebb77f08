// The head of an HTTP/1.x request for one of a few pages, read strictly: all
// that a browser, curl or Prometheus says, and nothing else.
//   In: bytes, hostile, at most kMostHttpBytes   Out: what is asked for, or the
//   status that refuses it   Threads: any   Cost: linear
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace nephila::control {

inline constexpr size_t kMostHttpBytes = size_t{8} << 10;

struct HttpRequest {
  std::string_view path;  // without its query
  bool is_head = false;
};

// Up to the end of the first head in `bytes`; 0: it is not whole yet.
size_t HttpHeadSize(std::string_view bytes);

// The error is a status: 400, 405 (neither GET nor HEAD), 421 (a Host that is
// not this machine's loopback: a page of the web that a browser was made to
// send here by a name of its own), 505.
Result<HttpRequest, int> ParseHttpRequest(std::string_view head);

}  // namespace nephila::control
