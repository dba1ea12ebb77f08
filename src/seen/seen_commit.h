// What the bytes of a commit of `seen` are made of.
//   In: bytes of a manifest.   Out: their parts, or kCorruption.   Threads:
//   any.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "item/stage_commit.h"

namespace nephila::seen {

inline constexpr uint8_t kCommitVersion = 1;
inline constexpr std::string_view kStageName = "seen";

// The generation of the Drum, and the rest of the commit.
struct Commit {
  uint64_t generation = 0;
  std::string_view state;
};

inline Result<Commit> ReadCommit(std::string_view bytes) {
  ByteReader reader(bytes);
  NEPHILA_RETURN_IF_ERROR(
      item::ReadCommitVersion(reader, kCommitVersion, kStageName));
  const auto generation = reader.Varint();
  if (!generation.has_value()) return item::DamagedCommit(kStageName);
  return Commit{*generation, bytes.substr(reader.position())};
}

}  // namespace nephila::seen
