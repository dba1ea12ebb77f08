// The beginning of a stage's commit, the bytes that a manifest has of it: a
// version, and the words for those that cannot be read.
//
// In: bytes of a disk. Out: a reader behind the version, or why not. Threads:
// any. Cost: nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace nephila::item
