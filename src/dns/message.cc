#include "dns/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/ascii.h"
#include "base/check.h"
#include "base/text.h"

namespace nephila::dns {
namespace {

constexpr size_t kMaxNameBytes = 255;  // on the wire, RFC 1035 s2.3.4
constexpr size_t kMaxNameText = 253;
constexpr size_t kMaxLabelBytes = 63;
constexpr size_t kMaxJumps = 127;
// What no host of a URL has (URL standard, forbidden domain code points),
// besides what is not printable.
constexpr std::string_view kForbidden = "#%/:<>?@[\\]^|";

void PutU16(uint16_t value, std::string* out) {
  out->push_back(static_cast<char>(value >> 8));
  out->push_back(static_cast<char>(value & 0xff));
}

void AppendLabel(std::string_view label, std::string* name) {
  if (!name->empty()) name->push_back('.');
  for (const char c : label) {
    const char lower = Lower(c);
    if (lower <= ' ' || lower > '~') {
      fmt::format_to(std::back_inserter(*name), "\\{:03}",
                     static_cast<unsigned char>(c));
      continue;
    }
    if (std::string_view(".\\\"();@$").find(lower) != std::string_view::npos) {
      name->push_back('\\');
    }
    name->push_back(lower);
  }
}

bool IsOrEndsIn(std::string_view name, std::string_view top) {
  if (!name.ends_with(top)) return false;
  return name.size() == top.size() || name[name.size() - top.size() - 1] == '.';
}

}  // namespace

std::string_view TypeName(uint16_t type) {
  switch (type) {
    case kTypeA:
      return "A";
    case kTypeAaaa:
      return "AAAA";
    case kTypeCname:
      return "CNAME";
    case kTypeSoa:
      return "SOA";
    default:
      return "";
  }
}

std::optional<std::string> NormalName(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.empty() || host.size() > kMaxNameText) return std::nullopt;
  size_t label = 0;
  for (const char c : host) {
    if (c <= ' ' || c > '~' || kForbidden.find(c) != std::string_view::npos) {
      return std::nullopt;
    }
    if (c == '.' && label == 0) return std::nullopt;
    label = c == '.' ? 0 : label + 1;
    if (label > kMaxLabelBytes) return std::nullopt;
  }
  if (label == 0) return std::nullopt;
  return LowerAscii(host);
}

NameKind KindOf(std::string_view name) {
  if (IsOrEndsIn(name, "localhost")) return NameKind::kLocalhost;
  constexpr std::array<std::string_view, 4> kOthers = {"onion", "local",
                                                       "invalid", "alt"};
  const bool other =
      std::any_of(kOthers.begin(), kOthers.end(),
                  [&](std::string_view top) { return IsOrEndsIn(name, top); });
  return other ? NameKind::kNeverAsked : NameKind::kOrdinary;
}

std::string MakeQuestion(std::string_view name, uint16_t type, uint16_t id,
                         bool edns) {
  std::string out;
  out.reserve(kHeadBytes + name.size() + 2 + 4 + 11);
  PutU16(id, &out);
  PutU16(0x0100, &out);  // recursion desired
  PutU16(1, &out);
  PutU16(0, &out);
  PutU16(0, &out);
  PutU16(edns ? 1 : 0, &out);
  while (!name.empty()) {
    const size_t dot = std::min(name.find('.'), name.size());
    NEPHILA_CHECK(dot > 0 && dot <= kMaxLabelBytes);
    out.push_back(static_cast<char>(dot));
    out.append(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  out.push_back('\0');
  PutU16(type, &out);
  PutU16(kClassIn, &out);
  if (edns) {
    out.push_back('\0');
    PutU16(kTypeOpt, &out);
    PutU16(kUdpBytes, &out);
    out.append(6, '\0');
  }
  return out;
}

bool MessageReader::U8(uint8_t* value) {
  if (remaining() < 1) return false;
  *value = static_cast<uint8_t>(message_[position_++]);
  return true;
}

bool MessageReader::U16(uint16_t* value) {
  uint8_t high = 0;
  uint8_t low = 0;
  if (!U8(&high) || !U8(&low)) return false;
  *value = static_cast<uint16_t>(high << 8 | low);
  return true;
}

bool MessageReader::U32(uint32_t* value) {
  uint16_t high = 0;
  uint16_t low = 0;
  if (!U16(&high) || !U16(&low)) return false;
  *value = static_cast<uint32_t>(high) << 16 | low;
  return true;
}

bool MessageReader::Bytes(size_t size, std::string_view* bytes) {
  if (size > remaining()) return false;
  *bytes = message_.substr(position_, size);
  position_ += size;
  return true;
}

bool MessageReader::Name(std::string* name) {
  name->clear();
  size_t begin = position_;  // of the labels that are being read
  size_t end = 0;            // behind the name, once a pointer was followed
  size_t wire_bytes = 0;
  size_t jumps = 0;
  while (true) {
    uint8_t length = 0;
    if (!U8(&length)) return false;
    if (length >= 0xc0) {
      uint8_t low = 0;
      if (!U8(&low) || ++jumps > kMaxJumps) return false;
      const size_t target = static_cast<size_t>(length & 0x3f) << 8 | low;
      if (target >= begin) return false;
      if (jumps == 1) end = position_;
      begin = position_ = target;
      continue;
    }
    wire_bytes += 1 + size_t{length};
    if (length > kMaxLabelBytes || wire_bytes > kMaxNameBytes) return false;
    if (length == 0) break;
    std::string_view label;
    if (!Bytes(length, &label)) return false;
    AppendLabel(label, name);
  }
  if (jumps > 0) position_ = end;
  return true;
}

}  // namespace nephila::dns
