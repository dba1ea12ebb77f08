// Cookie: one Set-Cookie header, read as browsers read it (RFC 6265bis s5.6).
//
//   In: the value of the header: bytes, anything, and when it came
//   Out: the cookie as the server meant it; whether it may set that one is the
//   jar's to say
//   Bounds: name and value 4 096 bytes together, an attribute 1 024; a life as
//   long as the caller allows
//   Threads: any.   Cost: linear.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace nephila::fetch {

inline constexpr size_t kLongestCookie = 4096;
inline constexpr size_t kLongestCookieAttribute = 1024;

// Views into the header.
struct ParsedCookie {
  std::string_view name;  // may be empty
  std::string_view value;
  // As written, without the dot before it; empty: none.
  std::string_view domain;
  std::string_view path;  // empty: none, or none that begins with '/'
  // From now on, at most the caller's bound; none: as long as the session.
  // Zero or less: the cookie is to be removed.
  std::optional<std::chrono::nanoseconds> life;
  bool secure = false;
};

enum class CookieFault : uint8_t {
  kNone,
  kMalformed,  // a control character, or neither a name nor a value
  kTooLarge,
};

CookieFault ParseSetCookie(std::string_view header, WallTime now,
                           std::chrono::nanoseconds longest_life,
                           ParsedCookie* cookie);

}  // namespace nephila::fetch
