// ServerKey: an address that hosts share, or the first address of a server
// (net/server_group.h).
//
// Threads: any, as of plain data.
#pragma once

#include <array>
#include <cstdint>

namespace nephila::politeness {

// IPv4 ones as IPv6 has them (RFC 4291 s2.5.5.2).
struct ServerKey {
  bool operator==(const ServerKey&) const = default;

  std::array<uint8_t, 16> bytes{};
};

}  // namespace nephila::politeness
