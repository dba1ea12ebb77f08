// Wanted: whether to download a page, decided when its head has come (VN s4.1).
//
//   In: the head's Content-Type and Content-Length, hostile
//   Out: take it, or why not   Threads: any; it never changes
//   Cost: linear in the list of types; no allocation
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nephila::fetch {

enum class WantedVerdict : uint8_t { kTake, kType, kLength };

class Wanted {
 public:
  // Takes everything.
  Wanted() = default;
  // Types are "text/html" or "text/*"; none: all are wanted. A length of 0 is
  // no bound.
  static Result<Wanted> Make(std::span<const std::string> types,
                             uint64_t max_length_bytes);

  // `content_type` is the field's value or empty: what names no type is
  // taken, since only its bytes can tell.
  WantedVerdict Check(std::string_view content_type,
                      std::optional<uint64_t> content_length) const;

 private:
  bool WantsType(std::string_view content_type) const;

  std::vector<std::string> types_;  // a type alone ends in '/'
  uint64_t max_length_bytes_ = 0;
};

}  // namespace nephila::fetch
