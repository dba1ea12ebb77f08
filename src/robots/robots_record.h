// HostRecord: what is known of a host, the value of RobotsCache: the state of
// the host, which all of its ports share, and a RobotsRecord for each
// robots.txt that was requested from it: one per authority (scheme and port),
// and one per URL that the robots.txt of another site redirects to.
//
// Times are milliseconds since 1970, 0 for never. A fetch has a number, the
// place of its end among all ends: by it one can tell which of two fetches is
// the later whatever the clock says.
//   In: any bytes of a disk   Out: a record, or nullopt. Bytes of the newest
//   version encode to the same bytes. docs/formats/robots-cache.md has them.
//   Threads: a value; rules and views are of the bytes that were read.
//   Cost: about 20 bytes and the rules for each file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"

namespace nephila::robots {

// DO NOT CHANGE THESE VALUES: they are stored. Version 1 is the record of a
// single origin.
inline constexpr uint8_t kOriginRecordVersion = 1;
inline constexpr uint8_t kHostRecordVersion = 2;
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

// What the record says for politeness: of the host, and of the authority.
struct HostNote {
  uint64_t not_before = 0;  // of the host
  uint32_t failures = 0;    // of the authority, in a row
  uint32_t overloads = 0;   // of the host, in a row
  uint64_t authority_not_before = 0;

  bool operator==(const HostNote&) const = default;
};

// The names of files within a HostRecord. A robots.txt of the host itself is
// named by its authority; DO NOT CHANGE THESE: they are stored.
using FileId = uint64_t;
constexpr FileId AuthorityFile(uint16_t port, bool https) {
  return uint64_t{port} * 2 + (https ? 1 : 0);
}
// The authority of a version 1 record, which does not name it.
inline constexpr FileId kAnyFile = uint64_t{1} << 62;
// Set in the name of a file that another site redirects to.
inline constexpr FileId kTargetFile = uint64_t{1} << 63;
constexpr bool IsTarget(FileId id) { return (id & kTargetFile) != 0; }
// The authorities that every host may have: http and https at their own ports.
constexpr bool IsDefaultPort(FileId id) {
  return id == AuthorityFile(80, false) || id == AuthorityFile(443, true) ||
         id == kAnyFile;
}

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
  // Its host-wide part is the same in all files of a HostRecord.
  HostNote host;
  // Sites that were told to wait for this file since it was requested.
  uint32_t waiting_sites = 0;
  uint64_t crawl_delay = 0;  // milliseconds; 0: none
  // Where the last fetch was redirected to. Then there are no rules, unless
  // they are an older copy; a walk (robots_stage.h) is looking for them.
  std::string_view redirect;
  RulesKind kind = RulesKind::kNone;
  std::string_view rules;  // kInline: compiled (rules.h)
  RulesPlace place;        // kLog

  bool operator==(const RobotsRecord&) const = default;
};

struct HostRecord {
  struct File {
    bool operator==(const File&) const = default;

    FileId id = 0;
    RobotsRecord record;
  };

  // Null if there is none.
  RobotsRecord* Find(FileId id);
  // Adds it, with the state of the host.
  RobotsRecord* Add(FileId id);
  // Host-wide state of `note` becomes that of all files.
  void SetHost(const HostNote& note);
  bool operator==(const HostRecord&) const = default;

  HostNote host;  // without its authority's part
  std::vector<File> files;
};

// REQUIRES: each file at most once.
void AppendHostRecord(const HostRecord& record, std::string& out);
std::optional<HostRecord> ReadHostRecord(std::string_view bytes);

uint64_t MillisecondsOf(WallTime time);  // 0 before 1970
WallTime TimeOf(uint64_t milliseconds);  // at most the last WallTime

}  // namespace nephila::robots
