// UrlRecord: a URL on its way through the frontier, and how we came to it.
//
// In: what `url` and `parse` know of a link. Out: one compact string of bytes,
// which seen, budget, robots and politeness hand on unread where they can, and
// the same record again. docs/formats/url-record.md has the bytes.
//
// Keys are not stored: hashes do not compress, and a URL passes several queues.
// The record says instead which part of the text is host and pay-level domain,
// three small numbers, from which url/record_keys.h has all keys by hashing.
// The parent is stored as text, because crawl.log and WARC want to name it; it
// is written as what differs from the URL, which mostly has the same beginning.
//
// Threads: a value. Cost: about its bytes; decoding copies nothing but the
// parent. Anything may stand on a disk: what is decoded is whole, in bounds
// and encodes to the same bytes, everything else is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace nephila::item {

inline constexpr uint8_t kUrlRecordVersion = 1;
// Of a record with a target, which is written behind the rest.
inline constexpr uint8_t kUrlRecordWithTarget = 2;
// Above what url.max_length can be set to.
inline constexpr size_t kMostUrlBytes = size_t{64} << 10;
// Of the path from the seed its last hops are kept; the depth counts them all.
inline constexpr size_t kMostHops = 50;

// Bits of UrlRecord::flags; the values are on disk.
inline constexpr uint32_t kFromSeed = 1;      // given by the user
inline constexpr uint32_t kFromSitemap = 2;   // or by a feed
inline constexpr uint32_t kFromRedirect = 4;  // the target of one
inline constexpr uint32_t kForRobots = 8;     // a robots.txt
inline constexpr uint32_t kEmbedded = 16;     // an image, a script, a frame
inline constexpr uint32_t kIsSitemap = 32;    // named as one: read as one
inline constexpr int kUrlFlagBits = 6;
inline constexpr uint32_t kKnownUrlFlags = (1U << kUrlFlagBits) - 1;
inline constexpr uint32_t kMostAttempts = 1U << 24;
inline constexpr uint32_t kMostFollowed = 255;

struct UrlRecord {
  std::string_view url;  // canonical
  // Where the host stands in it, and that its last bytes are the domain.
  uint32_t host_start = 0;
  uint32_t host_size = 0;
  uint32_t pld_size = 0;

  uint32_t flags = 0;
  uint32_t attempts = 0;      // made so far to fetch it
  uint32_t depth = 0;         // hops since the seed
  std::string_view hop_path;  // a capital letter each, the last kMostHops
  std::string_view parent;    // the page with the link; empty for a seed
  WallTime discovered{};      // to the millisecond, not before 1970
  // The journal entry of the page, and which of its links this is.
  uint64_t entry = 0;
  uint64_t ordinal = 0;
  // Where a redirect led whose target has the key of this URL, and how many
  // were followed to get there: that is asked for in place of the URL.
  std::string_view target;
  uint32_t followed = 0;

  std::string_view host() const { return url.substr(host_start, host_size); }
  std::string_view pld() const {
    return url.substr(host_start + host_size - pld_size, pld_size);
  }
  bool operator==(const UrlRecord&) const = default;
};

// Whether the numbers fit the text, and everything its bounds.
bool IsValid(const UrlRecord& record);

// Appends the bytes of a record. REQUIRES: IsValid(record).
void AppendUrlRecord(const UrlRecord& record, std::string& out);

// The record that `bytes` are, all of them. Its views are into `bytes`, but for
// the parent, which is put together in `parent`. The error is why they are
// none, a constant.
Result<UrlRecord, std::string_view> ReadUrlRecord(std::string_view bytes,
                                                  std::string& parent);

// The record without its parent: what keys and filters need, at less cost.
Result<UrlRecord, std::string_view> ReadUrl(std::string_view bytes);

// What is asked for: the record itself, or one whose URL is its target, with
// the target's host. The pay-level domain is the same, by the equal key.
UrlRecord Asked(const UrlRecord& record);

// The path of a page and one hop more, cut to kMostHops, in `out`.
void AppendHop(std::string_view path, char hop, std::string& out);

}  // namespace nephila::item
