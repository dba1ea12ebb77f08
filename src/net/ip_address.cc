#include "net/ip_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/text.h"

namespace nephila::net {
namespace {

// The longest text of an address, "ffff:" seven times and 255.255.255.255.
constexpr size_t kMaxText = INET6_ADDRSTRLEN;
// More of what a user wrote is not repeated to him.
constexpr size_t kMaxShown = 60;

uint32_t Number(std::span<const uint8_t> bytes) {
  return static_cast<uint32_t>(bytes[0]) << 24 |
         static_cast<uint32_t>(bytes[1]) << 16 |
         static_cast<uint32_t>(bytes[2]) << 8 | bytes[3];
}

// Where the longest run of two or more zero groups begins, and its length; the
// first of equals (RFC 5952 s4.2).
struct Run {
  size_t begin = 8;
  size_t length = 1;
};

Run LongestZeros(std::span<const uint16_t> groups) {
  Run best;
  for (size_t i = 0; i < groups.size();) {
    size_t end = i;
    while (end < groups.size() && groups[end] == 0) ++end;
    if (end - i > best.length) best = {i, end - i};
    i = std::max(end, i + 1);
  }
  if (best.length < 2) best = {8, 0};
  return best;
}

std::string FormatV4(std::span<const uint8_t> bytes) {
  return fmt::format("{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]);
}

std::string FormatV6(const std::array<uint8_t, 16>& bytes) {
  std::array<uint16_t, 8> groups{};
  for (size_t i = 0; i < 8; ++i) {
    groups[i] = static_cast<uint16_t>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
  }
  const bool mapped = std::all_of(groups.begin(), groups.begin() + 5,
                                  [](uint16_t group) { return group == 0; }) &&
                      groups[5] == 0xffff;
  if (mapped) {
    return "::ffff:" + FormatV4(std::span<const uint8_t>(bytes).last(4));
  }
  const Run zeros = LongestZeros(groups);
  std::string text;
  text.reserve(kMaxText);
  for (size_t i = 0; i < 8; ++i) {
    if (i == zeros.begin) {
      text.append("::");
      i += zeros.length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text.push_back(':');
    fmt::format_to(std::back_inserter(text), "{:x}", groups[i]);
  }
  return text;
}

// The bits of `byte` number i that a prefix of `prefix_bits` fixes.
uint8_t MaskOf(size_t i, size_t prefix_bits) {
  if (prefix_bits >= 8 * i + 8) return 0xff;
  if (prefix_bits <= 8 * i) return 0;
  return static_cast<uint8_t>(0xff << (8 - (prefix_bits - 8 * i)));
}

std::optional<unsigned> ParseDecimal(std::string_view text, unsigned max) {
  unsigned value = 0;
  const auto end = text.data() + text.size();
  // No sign, and one way to write a number.
  if (text.empty() || !IsDigit(text[0]) || (text.size() > 1 && text[0] == '0'))
    return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value > max) return std::nullopt;
  return value;
}

Error NoNetwork(std::string_view text, std::string_view why) {
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("\"{}\" is no network: {}",
                           EscapeForTerminal(text.substr(0, kMaxShown)), why)};
}

}  // namespace

std::string_view EmbeddedFormName(EmbeddedForm form) {
  switch (form) {
    case EmbeddedForm::kMapped:
      return "IPv4-mapped";
    case EmbeddedForm::kCompatible:
      return "IPv4-compatible";
    case EmbeddedForm::kNat64:
      return "NAT64";
    case EmbeddedForm::kNat64Local:
      return "local NAT64";
    case EmbeddedForm::k6to4:
      return "6to4";
    case EmbeddedForm::kTeredoServer:
      return "Teredo server";
    case EmbeddedForm::kTeredoClient:
      return "Teredo client";
    case EmbeddedForm::kIsatap:
      return "ISATAP";
  }
  return "";
}

std::optional<IpAddress> IpAddress::FromBytes(std::string_view bytes) {
  IpAddress address;
  if (bytes.size() != 4 && bytes.size() != 16) return std::nullopt;
  address.v6_ = bytes.size() == 16;
  std::memcpy(address.bytes_.data(), bytes.data(), bytes.size());
  return address;
}

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  // inet_pton takes neither zones nor leading zeros nor less than four parts,
  // but it wants an end that a view does not have.
  std::array<char, kMaxText + 1> copy{};
  if (text.size() >= kMaxText || text.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::memcpy(copy.data(), text.data(), text.size());
  IpAddress address;
  address.v6_ = text.find(':') != std::string_view::npos;
  if (inet_pton(address.v6_ ? AF_INET6 : AF_INET, copy.data(),
                address.bytes_.data()) != 1) {
    return std::nullopt;
  }
  return address;
}

std::optional<IpAddress> IpAddress::FromSockaddr(const sockaddr& address,
                                                 socklen_t size) {
  if (address.sa_family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof(v4));
    return V4(ntohl(v4.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address, sizeof(v6));
    std::array<uint8_t, 16> bytes{};
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return V6(bytes);
  }
  return std::nullopt;
}

std::string IpAddress::ToString() const {
  return v6_ ? FormatV6(bytes_) : FormatV4(bytes_);
}

socklen_t IpAddress::ToSockaddr(uint16_t port, sockaddr_storage* out) const {
  *out = {};
  if (is_v4()) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, bytes_.data(), 4);
    std::memcpy(out, &v4, sizeof(v4));
    return sizeof(v4);
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  std::memcpy(&v6.sin6_addr, bytes_.data(), 16);
  std::memcpy(out, &v6, sizeof(v6));
  return sizeof(v6);
}

IpAddress::EmbeddedList IpAddress::EmbeddedV4() const {
  EmbeddedList list;
  if (is_v4()) return list;
  const std::span<const uint8_t> all(bytes_);
  const auto add = [&](EmbeddedForm form, size_t at, uint32_t flip = 0) {
    list.items[list.count++] = {form, Number(all.subspan(at, 4)) ^ flip};
  };
  const auto starts = [&](std::initializer_list<uint8_t> prefix) {
    return std::equal(prefix.begin(), prefix.end(), all.begin());
  };
  const auto zeros = [&](size_t from, size_t to) {
    return std::all_of(all.begin() + static_cast<ptrdiff_t>(from),
                       all.begin() + static_cast<ptrdiff_t>(to),
                       [](uint8_t byte) { return byte == 0; });
  };
  if (zeros(0, 10) && all[10] == 0xff && all[11] == 0xff) {
    add(EmbeddedForm::kMapped, 12);
  } else if (zeros(0, 12)) {
    add(EmbeddedForm::kCompatible, 12);
  } else if (starts({0x00, 0x64, 0xff, 0x9b}) && zeros(4, 12)) {
    add(EmbeddedForm::kNat64, 12);
  } else if (starts({0x00, 0x64, 0xff, 0x9b, 0x00, 0x01})) {
    add(EmbeddedForm::kNat64Local, 12);
  } else if (starts({0x20, 0x02})) {
    add(EmbeddedForm::k6to4, 2);
  } else if (starts({0x20, 0x01, 0x00, 0x00})) {
    add(EmbeddedForm::kTeredoServer, 4);
    add(EmbeddedForm::kTeredoClient, 12, 0xffffffff);
  }
  // Under any prefix; the bit that may differ says that the address is unique.
  if ((all[8] & 0xfd) == 0 && all[9] == 0 && all[10] == 0x5e &&
      all[11] == 0xfe) {
    add(EmbeddedForm::kIsatap, 12);
  }
  return list;
}

uint32_t IpAddress::LastNumber() const { return Number(bytes().last(4)); }

uint64_t IpAddress::Hash(uint64_t seed) const {
  return KeyedHash({reinterpret_cast<const char*>(bytes_.data()), bits() / 8},
                   seed);
}

Network Network::Of(const IpAddress& address) {
  Network network;
  network.first_ = address;
  network.prefix_bits_ = address.bits();
  return network;
}

Result<Network> Network::Parse(std::string_view text) {
  const size_t slash = text.find('/');
  const auto address = IpAddress::Parse(text.substr(0, slash));
  if (!address) {
    return Unexpected(NoNetwork(text, "write it as 10.0.0.0/8 or fc00::/7"));
  }
  Network network;
  network.first_ = *address;
  network.prefix_bits_ = address->bits();
  if (slash != std::string_view::npos) {
    const auto bits = ParseDecimal(text.substr(slash + 1),
                                   static_cast<unsigned>(address->bits()));
    if (!bits) {
      return Unexpected(NoNetwork(
          text, fmt::format("behind the slash stands a number from 0 to {}",
                            address->bits())));
    }
    network.prefix_bits_ = *bits;
  }
  std::string first(reinterpret_cast<const char*>(address->bytes().data()),
                    address->bytes().size());
  for (size_t i = 0; i < first.size(); ++i) {
    first[i] = static_cast<char>(static_cast<uint8_t>(first[i]) &
                                 MaskOf(i, network.prefix_bits_));
  }
  const auto masked = IpAddress::FromBytes(first);
  if (!masked) return Unexpected(NoNetwork(text, "no address"));
  network.first_ = *masked;
  if (*masked != *address) {
    return Unexpected(NoNetwork(
        text, fmt::format("bits are set behind its prefix; {} would be one",
                          network.ToString())));
  }
  return network;
}

bool Network::Contains(const IpAddress& address) const {
  if (address.is_v4() != first_.is_v4()) return false;
  const auto ours = first_.bytes();
  const auto theirs = address.bytes();
  for (size_t i = 0; i < ours.size(); ++i) {
    if (((ours[i] ^ theirs[i]) & MaskOf(i, prefix_bits_)) != 0) return false;
  }
  return true;
}

IpAddress Network::Last() const {
  const auto from = first_.bytes();
  std::array<uint8_t, 16> bytes{};
  for (size_t i = 0; i < from.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(from[i] | ~MaskOf(i, prefix_bits_));
  }
  if (first_.is_v6()) return IpAddress::V6(bytes);
  return IpAddress::V4(Number(bytes));
}

std::string Network::ToString() const {
  return fmt::format("{}/{}", first_.ToString(), prefix_bits_);
}

std::optional<Endpoint> Endpoint::Parse(std::string_view text,
                                        uint16_t default_port) {
  if (const auto address = IpAddress::Parse(text)) {
    return Endpoint{*address, default_port};
  }
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    host = text.substr(1, close - 1);
    port = text.substr(close + 1);
    if (host.find(':') == std::string_view::npos) return std::nullopt;
  } else {
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    host = text.substr(0, colon);
    port = text.substr(colon);
  }
  const auto address = IpAddress::Parse(host);
  if (!address) return std::nullopt;
  if (port.empty()) return Endpoint{*address, default_port};
  if (port[0] != ':') return std::nullopt;
  const auto number = ParseDecimal(port.substr(1), 65'535);
  if (!number || *number == 0) return std::nullopt;
  return Endpoint{*address, static_cast<uint16_t>(*number)};
}

std::string Endpoint::ToString() const {
  const std::string text = address.ToString();
  return address.is_v6() ? fmt::format("[{}]:{}", text, port)
                         : fmt::format("{}:{}", text, port);
}

}  // namespace nephila::net
