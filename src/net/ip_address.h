// IpAddress: an IPv4 or IPv6 address as a value. Network: all addresses that
// begin with the same bits. Endpoint: an address and a port.
//
//   In: text and socket addresses, hostile; read strictly (no zones, no
//   leading zeros, no short forms of IPv4: those are the URL parser's).
//   Out: text as RFC 5952 wants it, so equal addresses are equal texts.
//   Threads: any. Cost: no allocation but that of the text returned.
#pragma once

#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nephila::net {

// The ways in which an IPv6 address can stand for an IPv4 one: whoever routes
// it may end up at the latter.
enum class EmbeddedForm : uint8_t {
  kMapped,        // ::ffff:0:0/96, RFC 4291 s2.5.5.2
  kCompatible,    // ::/96, RFC 4291 s2.5.5.1
  kNat64,         // 64:ff9b::/96, RFC 6052 s2.1
  kNat64Local,    // 64:ff9b:1::/48, RFC 8215, with a prefix of 96 bits
  k6to4,          // 2002::/16, RFC 3056
  kTeredoServer,  // 2001::/32, RFC 4380 s4
  kTeredoClient,  // the same, with its bits turned over
  kIsatap,        // 0000:5efe or 0200:5efe before it, RFC 5214 s6.1
};

std::string_view EmbeddedFormName(EmbeddedForm form);

class IpAddress {
 public:
  // 0.0.0.0.
  constexpr IpAddress() = default;

  // In the order of the host: V4(0x7f000001) is 127.0.0.1.
  static constexpr IpAddress V4(uint32_t number) {
    return V4(static_cast<uint8_t>(number >> 24),
              static_cast<uint8_t>(number >> 16),
              static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number));
  }
  static constexpr IpAddress V4(uint8_t a, uint8_t b, uint8_t c, uint8_t d) {
    IpAddress address;
    address.bytes_ = {a, b, c, d};
    return address;
  }
  // In the order of the network.
  static constexpr IpAddress V6(const std::array<uint8_t, 16>& bytes) {
    IpAddress address;
    address.v6_ = true;
    address.bytes_ = bytes;
    return address;
  }
  // 4 or 16 bytes in the order of the network.
  static std::optional<IpAddress> FromBytes(std::string_view bytes);
  static std::optional<IpAddress> Parse(std::string_view text);
  static std::optional<IpAddress> FromSockaddr(const sockaddr& address,
                                               socklen_t size);

  bool is_v4() const { return !v6_; }
  bool is_v6() const { return v6_; }
  size_t bits() const { return v6_ ? 128 : 32; }
  // 4 or 16, in the order of the network.
  std::span<const uint8_t> bytes() const& {
    return std::span<const uint8_t>(bytes_).first(v6_ ? 16 : 4);
  }
  void bytes() const&& = delete;  // they would be gone with the address

  // RFC 5952; an IPv4-mapped one with its end in dotted form (s5).
  std::string ToString() const;
  // Fills *out and tells how much of it.
  socklen_t ToSockaddr(uint16_t port, sockaddr_storage* out) const;

  struct Embedded {
    EmbeddedForm form{};
    uint32_t number = 0;  // IpAddress::V4(number)
  };
  // The IPv4 addresses that it stands for: none, one, or more (Teredo; ISATAP
  // within the prefix of another form).
  struct EmbeddedList {
    std::array<Embedded, 3> items;
    size_t count = 0;
    const Embedded* begin() const { return items.data(); }
    const Embedded* end() const { return items.data() + count; }
  };
  EmbeddedList EmbeddedV4() const;
  // The last 32 bits, in the order of the host.
  uint32_t LastNumber() const;

  uint64_t Hash(uint64_t seed) const;

  // IPv4 first, then by the bytes.
  auto operator<=>(const IpAddress&) const = default;

 private:
  bool v6_ = false;
  std::array<uint8_t, 16> bytes_{};
};

class Network {
 public:
  // 0.0.0.0/32.
  Network() = default;
  // "10.0.0.0/8", "fc00::/7"; an address alone is a network of one. An error
  // is one line that says what would have been right.
  static Result<Network> Parse(std::string_view text);
  // The network of one.
  static Network Of(const IpAddress& address);

  bool Contains(const IpAddress& address) const;
  const IpAddress& first() const { return first_; }
  IpAddress Last() const;
  size_t prefix_bits() const { return prefix_bits_; }
  std::string ToString() const;

  bool operator==(const Network&) const = default;

 private:
  IpAddress first_;
  size_t prefix_bits_ = 32;
};

struct Endpoint {
  IpAddress address;
  uint16_t port = 0;

  // "127.0.0.1:53", "[::1]:53"; without a port `default_port`, and then an
  // IPv6 address needs no brackets. Names are no endpoints.
  static std::optional<Endpoint> Parse(std::string_view text,
                                       uint16_t default_port);
  // With the port always.
  std::string ToString() const;

  auto operator<=>(const Endpoint&) const = default;
};

}  // namespace nephila::net
