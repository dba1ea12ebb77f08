#include "url/host.h"

#include <array>
#include <cstdint>

#include "url/idna.h"
#include "url/percent.h"

namespace nephila::url {
namespace {

// What a byte means in a domain, as bits so that a scan can OR them.
enum : uint8_t {
  kUpper = 1,      // to be lower-cased
  kDecode = 2,     // '%' or non-ASCII: percent-decoding and IDNA first
  kForbidden = 4,  // a forbidden domain code point
};

constexpr size_t kLongestLabel = 63;  // RFC 1035 s2.3.4

constexpr std::string_view kForbiddenInHost("\0\t\n\r #/:<>?@[\\]^|", 17);

constexpr ByteTable MakeDomainTable() {
  ByteTable table{};
  for (size_t c = 0; c < 256; ++c) {
    if (c <= 0x1f || c == 0x7f) table[c] = kForbidden;
    if (c >= 'A' && c <= 'Z') table[c] = kUpper;
    if (c >= 0x80 || c == '%') table[c] = kDecode;
  }
  for (char c : kForbiddenInHost)
    table[static_cast<unsigned char>(c)] = kForbidden;
  return table;
}
constexpr ByteTable kDomainTable = MakeDomainTable();

// IPv4 --------------------------------------------------------------------

// One part of an IPv4 address: decimal, "0" octal or "0x" hexadecimal. Values
// that do not fit saturate far above 2^32, which every caller refuses.
std::optional<uint64_t> ParseIpv4Number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  unsigned base = 10;
  if (text.size() >= 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
    text.remove_prefix(2);
    base = 16;
  } else if (text.size() >= 2 && text[0] == '0') {
    text.remove_prefix(1);
    base = 8;
  }
  uint64_t value = 0;
  for (char c : text) {
    int digit = HexValue(c);
    if (digit < 0 || static_cast<unsigned>(digit) >= base) return std::nullopt;
    value = value * base + static_cast<unsigned>(digit);
    if (value > (uint64_t{1} << 40)) value = uint64_t{1} << 40;
  }
  return value;
}

void AppendIpv4(uint32_t address, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out->append(std::to_string((address >> shift) & 0xff));
    if (shift > 0) out->push_back('.');
  }
}

std::optional<uint32_t> ParseIpv4(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  uint64_t address = 0;
  int parts = 0;
  for (;;) {
    size_t dot = text.find('.');
    bool last = dot == std::string_view::npos;
    if (++parts > 4) return std::nullopt;
    std::optional<uint64_t> number = ParseIpv4Number(text.substr(0, dot));
    if (!number) return std::nullopt;
    if (last) {
      // The last part fills all the bytes that are left.
      uint64_t limit = uint64_t{1} << (8 * (5 - parts));
      if (*number >= limit) return std::nullopt;
      return static_cast<uint32_t>(address + *number);
    }
    if (*number > 255) return std::nullopt;
    address += *number << (8 * (4 - parts));
    text.remove_prefix(dot + 1);
  }
}

// IPv6 --------------------------------------------------------------------

using Ipv6Pieces = std::array<uint16_t, 8>;

// The dotted-decimal tail of an IPv6 address, into pieces[*piece] and the one
// behind it.
bool ParseIpv4Tail(std::string_view text, Ipv6Pieces* pieces, int* piece) {
  if (*piece > 6) return false;
  int seen = 0;
  size_t i = 0;
  while (i < text.size()) {
    if (seen > 0 && (seen == 4 || text[i++] != '.')) return false;
    int value = -1;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') {
      if (value == 0) return false;  // a leading zero
      value = (value < 0 ? 0 : value * 10) + (text[i++] - '0');
      if (value > 255) return false;
    }
    if (value < 0) return false;
    auto& slot = (*pieces)[static_cast<size_t>(*piece)];
    slot = static_cast<uint16_t>(slot * 256 + value);
    ++seen;
    if (seen == 2 || seen == 4) ++*piece;
  }
  return seen == 4;
}

std::optional<Ipv6Pieces> ParseIpv6(std::string_view text) {
  Ipv6Pieces pieces{};
  int piece = 0;
  int compress = -1;
  size_t i = 0;
  if (text.starts_with(':')) {
    if (!text.starts_with("::")) return std::nullopt;
    i = 2;
    compress = ++piece;
  }
  while (i < text.size()) {
    if (piece == 8) return std::nullopt;
    if (text[i] == ':') {
      if (compress >= 0) return std::nullopt;
      ++i;
      compress = ++piece;
      continue;
    }
    size_t begin = i;
    unsigned value = 0;
    while (i < text.size() && i - begin < 4 && HexValue(text[i]) >= 0) {
      value = value * 16 + static_cast<unsigned>(HexValue(text[i++]));
    }
    if (i < text.size() && text[i] == '.') {
      if (i == begin) return std::nullopt;
      if (!ParseIpv4Tail(text.substr(begin), &pieces, &piece)) {
        return std::nullopt;
      }
      break;
    }
    if (i < text.size()) {
      if (text[i] != ':') return std::nullopt;
      if (++i == text.size()) return std::nullopt;
    }
    pieces[static_cast<size_t>(piece++)] = static_cast<uint16_t>(value);
  }
  if (compress >= 0) {
    int swaps = piece - compress;
    for (piece = 7; piece != 0 && swaps > 0; --piece, --swaps) {
      std::swap(pieces[static_cast<size_t>(piece)],
                pieces[static_cast<size_t>(compress + swaps - 1)]);
    }
  } else if (piece != 8) {
    return std::nullopt;
  }
  return pieces;
}

void AppendIpv6(const Ipv6Pieces& pieces, std::string* out) {
  // The first longest run of two or more zero pieces is written "::".
  size_t best = 8;
  size_t best_length = 1;
  for (size_t i = 0; i < 8; ++i) {
    size_t end = i;
    while (end < 8 && pieces[end] == 0) ++end;
    if (end - i > best_length) {
      best = i;
      best_length = end - i;
    }
    if (end > i) i = end - 1;
  }
  out->push_back('[');
  for (size_t i = 0; i < 8; ++i) {
    if (i == best) {
      out->append(i == 0 ? "::" : ":");
      i += best_length - 1;
      continue;
    }
    constexpr char kDigits[] = "0123456789abcdef";
    bool started = false;
    for (int shift = 12; shift >= 0; shift -= 4) {
      unsigned digit = (pieces[i] >> shift) & 15u;
      started = started || digit != 0 || shift == 0;
      if (started) out->push_back(kDigits[digit]);
    }
    if (i < 7) out->push_back(':');
  }
  out->push_back(']');
}

// The three kinds of host ---------------------------------------------------

std::optional<HostKind> AppendIpv6Host(std::string_view host,
                                       std::string* out) {
  if (!host.ends_with(']')) return std::nullopt;
  auto pieces = ParseIpv6(host.substr(1, host.size() - 2));
  if (!pieces) return std::nullopt;
  AppendIpv6(*pieces, out);
  return HostKind::kIpv6;
}

std::optional<HostKind> AppendOpaqueHost(std::string_view host,
                                         std::string* out) {
  if (host.find_first_of(kForbiddenInHost) != std::string_view::npos) {
    return std::nullopt;
  }
  AppendEncoded(host, kC0Control, out);
  return HostKind::kOpaque;
}

}  // namespace

std::optional<HostKind> AppendHost(std::string_view host, bool special,
                                   std::string* out) {
  if (host[0] == '[') return AppendIpv6Host(host, out);
  if (!special) return AppendOpaqueHost(host, out);

  size_t begin = out->size();
  unsigned seen = ScanBytes(host, kDomainTable);
  if ((seen & kDecode) != 0) {
    std::string decoded;
    AppendDecoded(host, &decoded);
    if (!AppendDomainToAscii(decoded, out)) return std::nullopt;
    std::string_view ascii = std::string_view(*out).substr(begin);
    // Decoding may leave what may not stand there, a '%' among it.
    if (ascii.empty() || ScanBytes(ascii, kDomainTable) != 0)
      return std::nullopt;
  } else if ((seen & kForbidden) != 0) {
    return std::nullopt;
  } else if ((seen & kUpper) != 0) {
    if (!AppendDomainToAscii(host, out)) return std::nullopt;
  } else {
    out->append(host);
  }

  std::string_view domain = std::string_view(*out).substr(begin);
  if (!EndsInNumber(domain)) return HostKind::kDomain;
  std::optional<uint32_t> address = ParseIpv4(domain);
  if (!address) return std::nullopt;
  out->resize(begin);
  AppendIpv4(*address, out);
  return HostKind::kIpv4;
}

bool EndsInNumber(std::string_view domain) {
  if (domain.ends_with('.')) domain.remove_suffix(1);
  // Most names end in a letter that no number ends in.
  if (domain.empty() || (HexValue(domain.back()) < 0 && domain.back() != 'x')) {
    return false;
  }
  std::string_view last = domain.substr(domain.rfind('.') + 1);
  if (last.empty() || last[0] < '0' || last[0] > '9') return false;
  if (last.find_first_not_of("0123456789") == std::string_view::npos) {
    return true;
  }
  return ParseIpv4Number(last).has_value();
}

bool IsDnsName(std::string_view domain) {
  if (domain.ends_with('.')) domain.remove_suffix(1);
  if (domain.empty() || domain.size() > 253) return false;
  if (domain[0] == '.' || domain.back() == '.' ||
      domain.find("..") != std::string_view::npos) {
    return false;
  }
  if (domain.size() <= kLongestLabel) return true;
  size_t label = 0;
  for (char c : domain) {
    label = c == '.' ? 0 : label + 1;
    if (label > kLongestLabel) return false;
  }
  return true;
}

}  // namespace nephila::url
