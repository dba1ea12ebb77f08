// Authorities: the ports and schemes under which a host can be reached.
//
// A host has one clock. Whether it answers is a matter of each authority: a
// page of a third party may link to any port of it.
#pragma once

#include <cstdint>

namespace nephila::politeness {

// port * 2, and 1 more for https.
constexpr uint32_t AuthorityOf(uint16_t port, bool https) {
  return uint32_t{port} * 2 + (https ? 1 : 0);
}
constexpr uint16_t PortOf(uint32_t authority) {
  return static_cast<uint16_t>(authority / 2);
}
constexpr bool IsHttps(uint32_t authority) { return authority % 2 != 0; }

inline constexpr uint32_t kHttpAuthority = AuthorityOf(80, false);
inline constexpr uint32_t kHttpsAuthority = AuthorityOf(443, true);
inline constexpr uint32_t kLastAuthority = AuthorityOf(UINT16_MAX, true);
// The authority is not known.
inline constexpr uint32_t kNoAuthority = UINT32_MAX;

constexpr bool IsDefaultAuthority(uint32_t authority) {
  return authority == kHttpAuthority || authority == kHttpsAuthority;
}

}  // namespace nephila::politeness
