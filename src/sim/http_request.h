// ParseRequest: the head of an HTTP/1.x request (RFC 9112 s3, s5), bounded.
//
// Strict where a crawler could be wrong: spaces, control characters or bytes
// beyond ASCII in the target, a missing Host, or a body are errors, so that a
// test sees them.
//   Input: hostile; at most kMaxRequestBytes; time linear in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nephila::sim {

inline constexpr size_t kMaxRequestBytes = 16'384;

// Views into the bytes that were parsed, except for `host`.
struct Request {
  std::string_view method;
  std::string_view target;  // path and query; of "http://host/path" the path
  std::string host;         // lower case, without port and final dot
  std::string_view if_none_match;
  bool http11 = true;
  bool keep_alive = true;
  bool takes_gzip = false;
  bool has_cookie = false;
};

enum class RequestError : uint8_t {
  kIncomplete,  // more bytes are needed
  kTooLong,
  kBad,
};

// Returns how many bytes the request takes. `*searched` is 0 at first and kept
// between calls with more and more of the same bytes, so that what came in
// small parts is not searched again and again. The Request is reused.
Result<size_t, RequestError> ParseRequest(std::string_view bytes,
                                          size_t* searched, Request* request);

}  // namespace nephila::sim
