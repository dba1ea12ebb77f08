// WaitingUrl: a URL, or a walk, as it waits anywhere in `robots`: what is
// handed in, and its turns through Q_R. DO NOT CHANGE THIS: it is stored
// (docs/formats/robots-cache.md).
//   Threads: a value; views are of the bytes that were read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "item/stage_commit.h"

namespace nephila::robots {

// Versions of the stage's commit: with a record for each host; and of jobs that
// were made with a record for each origin, as they were and since.
inline constexpr uint8_t kHostCommit = 2;
inline constexpr uint8_t kOldOriginCommit = 1;
inline constexpr uint8_t kOriginCommit = 3;
// Counters in it.
inline constexpr size_t kStageCounts = 10;
inline constexpr size_t kOldStageCounts = 9;
constexpr size_t CountsOf(uint8_t version) {
  return version == kOldOriginCommit ? kOldStageCounts : kStageCounts;
}
// Takes the version; kUnsupported for an unknown one.
inline Result<uint8_t> ReadVersion(ByteReader& reader) {
  const auto version = reader.U8();
  if (!version.has_value()) return item::DamagedCommit("robots");
  if (*version >= kOldOriginCommit && *version <= kOriginCommit) {
    return *version;
  }
  return Unexpected(
      Error{ErrorCode::kUnsupported,
            "a commit of the stage robots is of another version than this "
            "program's"});
}

struct WaitingUrl {
  uint64_t budget = 0;
  uint64_t cycles = 0;
  std::string_view record;
};

inline std::string EncodeWaiting(const WaitingUrl& url) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Varint(url.budget);
  writer.Varint(url.cycles);
  writer.Raw(url.record);
  return bytes;
}

inline std::optional<WaitingUrl> DecodeWaiting(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto budget = reader.Varint();
  const auto cycles = reader.Varint();
  if (!budget.has_value() || !cycles.has_value()) return std::nullopt;
  return WaitingUrl{*budget, *cycles, bytes.substr(reader.position())};
}

// Walk: a site whose robots.txt is redirected, on its way to the rules. It
// waits wherever a URL does, in place of a URL's record.
struct Walk {
  uint64_t hops = 0;        // redirects so far, that to `url` included
  uint64_t when = 0;        // the first, in milliseconds since 1970
  std::string_view origin;  // of the site
  std::string_view url;     // where it leads
};

// No version of a UrlRecord.
inline constexpr char kWalkMark = '\xff';

inline bool IsWalk(std::string_view record) {
  return record.starts_with(kWalkMark);
}

inline std::string EncodeWalk(const Walk& walk) {
  std::string bytes(1, kWalkMark);
  ByteWriter writer(bytes);
  writer.Varint(walk.hops);
  writer.Varint(walk.when);
  writer.Sized(walk.origin);
  writer.Raw(walk.url);
  return bytes;
}

inline std::optional<Walk> DecodeWalk(std::string_view bytes) {
  if (!IsWalk(bytes)) return std::nullopt;
  bytes.remove_prefix(1);
  ByteReader reader(bytes);
  const auto hops = reader.Varint();
  const auto when = reader.Varint();
  const auto origin = reader.Sized();
  if (!hops.has_value() || !when.has_value() || !origin.has_value()) {
    return std::nullopt;
  }
  return Walk{*hops, *when, *origin, bytes.substr(reader.position())};
}

}  // namespace nephila::robots
