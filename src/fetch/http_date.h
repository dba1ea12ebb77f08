// Dates of HTTP: in Last-Modified, Retry-After, Expires of cookies.
//
// All three forms of RFC 9110 s5.6.7 and whatever else servers write, by the
// rule that browsers share (RFC 6265 s5.1.1): a time, a day, a month and a year
// in any order between any delimiters; names of days and zones are not read,
// the time is UTC. A date beyond what WallTime holds is its first or last
// second.
//   In: bytes, anything   Out: a time, or none
//   Threads: any.   Cost: linear, no allocation.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace nephila::fetch {

// A year of two digits is not more than 50 years after `now` (RFC 9110).
std::optional<WallTime> ParseHttpDate(std::string_view text, WallTime now);

// A year of two digits is 1970 to 2069 (RFC 6265).
std::optional<WallTime> ParseCookieDate(std::string_view text);

}  // namespace nephila::fetch
