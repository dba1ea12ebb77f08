// ParseRefresh: what `<meta http-equiv=refresh>` and the `Refresh` header ask.
//
// The steps of HTML s4.2.5.3, "shared declarative refresh steps", with all
// that they forgive: no "url=", quotes that open and do not close, fractions of
// seconds, a comma or a space in place of the semicolon.
//   In: a content attribute (character references resolved) or header value
//   Out: delay and URL, a view into the value
//   Threads: any   Cost: linear in the value, no allocation
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nephila::parse {

struct Refresh {
  uint64_t delay_s = 0;  // whole seconds; at most kLongestRefresh
  // As written, to be resolved on the page's base. Nothing: the page reloads
  // itself. A URL may be there and empty, which is the base itself.
  std::optional<std::string_view> url;
};

// A century; what is longer counts as this.
inline constexpr uint64_t kLongestRefresh = 3155760000;

// Nothing if the value asks for no refresh.
std::optional<Refresh> ParseRefresh(std::string_view value);

}  // namespace nephila::parse
