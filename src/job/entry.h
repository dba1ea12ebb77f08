// Entry: what an entry of the journal says, and its bytes.
//
// Every finished attempt is one, with or without a response; so are seeds and
// the commands that change a crawl. An entry does not hold the links of its
// page: those are read again from the archive.
//   In, out: bytes of at most kMostEntryBytes (journal.h); hostile when read,
//   and each entry has one spelling. docs/formats/journal.md.
//   Threads: any.   Cost: reading copies nothing: views point into the bytes.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "item/fetch_outcome.h"
#include "item/robots_fetch.h"

namespace nephila::job {

// DO NOT CHANGE THE NUMBERS: journals hold them.
enum class EntryKind : uint8_t {
  kPage = 1,
  kRobots = 2,
  kSeed = 3,
  kCommand = 4,
};

// "page", "robots", "seed", "command".
std::string_view EntryKindName(EntryKind kind);

// What was archived of an attempt: one unit of records, in one file of one
// stream.
struct ArchivePlace {
  bool operator==(const ArchivePlace&) const = default;

  uint32_t stream = 0;
  uint64_t serial = 0;  // of the file
  uint64_t offset = 0;
  uint64_t size = 0;
};

// More of these is refused.
inline constexpr size_t kMostEntryRecordBytes = size_t{256} << 10;
inline constexpr size_t kMostEntryRulesBytes = size_t{1} << 20;
inline constexpr size_t kMostEntryTextBytes = size_t{256} << 10;

struct Entry {
  bool operator==(const Entry&) const = default;

  EntryKind kind = EntryKind::kPage;
  WallTime when{};

  // kPage, kSeed: the encoded record of the URL; kRobots: that of the
  // robots.txt of an origin.
  std::string_view record;

  // kPage, kRobots.
  uint64_t place = 0;  // in the ready queue; 0 for a robots.txt
  item::FetchOutcome outcome = item::FetchOutcome::kInternalError;
  uint16_t status = 0;
  uint32_t attempt = 0;
  bool retry = false;  // its URL stays open
  // A redirect that is followed: `next` is asked for, and the URL's end comes
  // with a later entry. Only with `retry`.
  bool goes_on = false;
  std::string_view next;  // with goes_on
  uint64_t budget = 0;    // of its domain
  uint64_t body_bytes = 0;
  std::optional<ArchivePlace> archive;
  // Of a revisit: the record that has its body. Only with `archive`.
  std::optional<ArchivePlace> original;
  // The key of the host that was asked, where that is not the record's: the
  // target of a redirect of a robots.txt.
  std::optional<uint64_t> host;
  // Its authority (politeness/authority.h). Only with `host`, and always then,
  // but for entries of earlier versions.
  std::optional<uint32_t> authority;
  // From the end of the attempt on; a negative one is none.
  std::chrono::milliseconds url_wait{0};
  std::chrono::milliseconds host_wait{0};
  // Of the authority that was asked. With `host` it takes an `authority`.
  std::chrono::milliseconds authority_wait{0};
  std::chrono::milliseconds address_wait{0};
  // IPv4 ones as IPv6 has them (RFC 4291 s2.5.5.2); all zero: none.
  std::array<uint8_t, 16> address{};
  uint32_t host_failures = 0;  // of that authority
  uint32_t host_overloads = 0;

  // kRobots.
  item::RobotsFetchEnd robots_end = item::RobotsFetchEnd::kNetwork;
  uint16_t robots_status = 0;  // of the last answer
  std::string_view rules;      // compiled
  std::optional<std::chrono::milliseconds> crawl_delay;

  // kCommand; kSeed: its label, if any.
  std::string_view text;
};

// Appends the bytes of an entry. What its kind does not have is left out.
// REQUIRES: within the bounds above.
void AppendEntry(const Entry& entry, std::string& out);

// The inverse, or the reason why it is none.
Result<Entry, std::string_view> ReadEntry(std::string_view bytes);

}  // namespace nephila::job
