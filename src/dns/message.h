// DNS messages as they travel (RFC 1035 s4): numbers, names, and the question
// that we ask.
//
//   In: hosts of URLs; answers, hostile   Out: questions, names as text
//   Threads: any. Cost: linear; a name takes at most 255 bytes and 127 jumps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nephila::dns {

inline constexpr uint16_t kTypeA = 1;
inline constexpr uint16_t kTypeNs = 2;
inline constexpr uint16_t kTypeCname = 5;
inline constexpr uint16_t kTypeSoa = 6;
inline constexpr uint16_t kTypeAaaa = 28;
inline constexpr uint16_t kTypeOpt = 41;
inline constexpr uint16_t kClassIn = 1;

inline constexpr size_t kHeadBytes = 12;
// So much we take by UDP: no packet of this size is cut into fragments on any
// path that carries IPv6 (DNS flag day 2020).
inline constexpr uint16_t kUdpBytes = 1232;

// "A", "AAAA", "CNAME", "SOA"; "" for others.
std::string_view TypeName(uint16_t type);

// The name as it is asked for: lower case, without the dot at its end. Nothing
// if it can be no host that DNS knows: labels of 1 to 63 bytes, 253 in all, of
// the ASCII that the URL standard allows there. (That is more than letters,
// digits and hyphens, and DNS takes it: RFC 2181 s11.)
std::optional<std::string> NormalName(std::string_view host);

enum class NameKind : uint8_t {
  kOrdinary,
  kLocalhost,   // this machine, whatever a server says (RFC 6761 s6.3)
  kNeverAsked,  // names of other systems: .onion (RFC 7686), .local (RFC 6762),
                // .invalid (RFC 6761), .alt (RFC 9476)
};
// REQUIRES: a normal name.
NameKind KindOf(std::string_view name);

// A question, recursion desired. With EDNS an OPT record of 11 bytes stands at
// its end (RFC 6891). REQUIRES: a normal name.
std::string MakeQuestion(std::string_view name, uint16_t type, uint16_t id,
                         bool edns);

// Reads numbers in the order of the network, and names; never outside of its
// bytes. After a call returned false the position means nothing.
class MessageReader {
 public:
  explicit MessageReader(std::string_view message) : message_(message) {}

  bool U8(uint8_t* value);
  bool U16(uint16_t* value);
  bool U32(uint32_t* value);
  bool Bytes(size_t size, std::string_view* bytes);
  // In lower case, dots between labels and none at the end, other bytes that a
  // zone file could not hold written as \DDD or with a backslash (RFC 1035
  // s5.1). A pointer must lead before the labels that it ends: so there is no
  // loop (s4.1.4).
  bool Name(std::string* name);

  size_t position() const { return position_; }
  void Seek(size_t position) { position_ = position; }
  size_t remaining() const { return message_.size() - position_; }

 private:
  std::string_view message_;
  size_t position_ = 0;
};

}  // namespace nephila::dns
