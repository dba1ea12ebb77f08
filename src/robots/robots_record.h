// RobotsRecord: what is known of an origin, the value of RobotsCache.
//
// Times are milliseconds since 1970, 0 for never. A fetch has a number, the
// place of its end among all ends: by it one can tell which of two fetches is
// the later whatever the clock says.
//   In: any bytes of a disk   Out: a record that encodes to the same bytes, or
//   nothing. docs/formats/robots-cache.md has the bytes.
//   Threads: a value; rules and views are of the bytes that were read.
//   Cost: about 20 bytes and the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"

namespace nephila::robots {

// DO NOT CHANGE THIS VALUE: it is stored.
inline constexpr uint8_t kRobotsRecordVersion = 1;
// Longer rules go to the log (rules_log.h).
inline constexpr size_t kMostInlineRules = size_t{4} << 10;

// A place in the log of long rules.
struct RulesPlace {
  uint64_t file = 0;
  uint64_t offset = 0;
  uint64_t size = 0;  // of the rules

  bool operator==(const RulesPlace&) const = default;
};
void WritePlace(const RulesPlace& place, ByteWriter& writer);
std::optional<RulesPlace> ReadPlace(ByteReader& reader);

// Where the rules are. The values are stored.
enum class RulesKind : uint8_t { kNone = 0, kInline = 1, kLog = 2 };

// What the record says of the host, for politeness.
struct HostNote {
  uint64_t not_before = 0;
  uint32_t failures = 0;
  uint32_t overloads = 0;

  bool operator==(const HostNote&) const = default;
};

struct RobotsRecord {
  // RobotsRequested: robots.txt is asked for and that fetch has not ended.
  bool requested = false;
  // It was to be asked for, and its server has no turn before `expires`. Rules
  // are a copy that does not hold.
  bool delayed = false;
  // Of the last fetch that ended; 0: none did.
  uint64_t fetch = 0;
  uint64_t asked = 0;    // when it ended
  uint64_t refresh = 0;  // from then on it should be asked for again,
  uint64_t expires = 0;  // and from then on it does not hold
  // How often in a row robots.txt was unreachable, and since when.
  uint32_t tries = 0;
  uint64_t unreachable_since = 0;
  HostNote host;
  uint64_t crawl_delay = 0;  // milliseconds; 0: none
  RulesKind kind = RulesKind::kNone;
  std::string_view rules;  // kInline: compiled (rules.h)
  RulesPlace place;        // kLog

  bool operator==(const RobotsRecord&) const = default;
};

void AppendRobotsRecord(const RobotsRecord& record, std::string& out);
std::optional<RobotsRecord> ReadRobotsRecord(std::string_view bytes);

uint64_t MillisecondsOf(WallTime time);  // 0 before 1970
WallTime TimeOf(uint64_t milliseconds);  // at most the last WallTime

}  // namespace nephila::robots
