// The beginning of a stage's commit, the bytes that a manifest has of it: a
// version, and the words for those that cannot be read.
//
// In: bytes of a disk. Out: a reader behind the version, or why not. Threads:
// any. Cost: nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace nephila::item {

inline Unexpected<Error> DamagedCommit(std::string_view stage) {
  return Unexpected(
      Error{ErrorCode::kCorruption, "the bytes of a commit of the stage " +
                                        std::string(stage) + " are damaged"});
}

// Takes the version; kUnsupported for another one than `version`.
inline Status ReadCommitVersion(ByteReader& reader, uint8_t version,
                                std::string_view stage) {
  const auto read = reader.U8();
  if (!read.has_value()) return DamagedCommit(stage);
  if (*read == version) return {};
  return Unexpected(Error{ErrorCode::kUnsupported,
                          "a commit of the stage " + std::string(stage) +
                              " is of another version than this program's"});
}

// Of a commit: the generations of the stores that the stage stands on, which
// follow the version in every one of them. Nothing if it is cut short.
inline std::optional<std::vector<uint64_t>> ReadGenerations(
    std::string_view commit, size_t count) {
  ByteReader reader(commit);
  if (!reader.U8().has_value()) return std::nullopt;
  std::vector<uint64_t> generations;
  generations.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const auto generation = reader.Varint();
    if (!generation.has_value()) return std::nullopt;
    generations.push_back(*generation);
  }
  return generations;
}

}  // namespace nephila::item
