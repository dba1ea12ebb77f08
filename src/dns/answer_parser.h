// ParseAnswer: what a name server said about the addresses of one name.
//
// Of an answer only those records count that belong to the question: its name,
// or a name that it is an alias of (RFC 1034 s3.6.2). Whatever else a server
// puts into an answer is not looked at, so it cannot slip in addresses of
// other names.
//   In: a message, hostile, at most 64 KiB; the name (NormalName) and type
//   asked for   Out: a closed kind, addresses, how long it holds, the records
//   as text   Threads: any. Cost: linear in the message (each name at most 127
//   jumps), plus max_chain times max_records comparisons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/ip_address.h"

namespace nephila::dns {

struct AnswerLimits {
  size_t max_chain = 16;      // aliases of aliases; longer is kBad
  size_t max_records = 512;   // of a section; those behind are not read
  size_t max_addresses = 32;  // those behind are counted
  // Of the records as text: an answer that nobody has fetched yet keeps it,
  // and long names could make it large. A line says what was left out.
  size_t max_text_bytes = 4096;
};

enum class AnswerKind : uint8_t {
  kFound,
  kNoSuchName,  // NXDOMAIN
  kNoAddress,   // the name exists, but has no address of this type
  // SERVFAIL, codes that no answer to us should have, and an empty answer that
  // only points to other servers, or is of one that does not resolve for us
  // (RFC 2308 s2.2): it says nothing about the name.
  kServerFailure,
  kRefused,        // REFUSED, NOTAUTH
  kNotUnderstood,  // FORMERR, NOTIMP: the server may not know EDNS
  kBad,            // not an answer to the question, or broken
};

struct ParsedAnswer {
  AnswerKind kind = AnswerKind::kBad;
  std::string_view why;  // a constant, for kBad
  std::vector<net::IpAddress> addresses;
  size_t addresses_dropped = 0;
  bool has_opt = false;  // so the server knows EDNS
  // The least along the chain; without addresses what the zone's SOA says
  // (RFC 2308 s5). Nothing if nobody says it.
  std::optional<uint32_t> ttl_s;
  // The chain as lines of a zone file, "name.\tTTL\tIN\tTYPE\tdata\n"
  // (text/dns, RFC 4027).
  std::string records;
};

ParsedAnswer ParseAnswer(std::string_view message, std::string_view name,
                         uint16_t type, const AnswerLimits& limits = {});

}  // namespace nephila::dns
