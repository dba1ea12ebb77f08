// ValueFormat: what the records of a store carry besides their key.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nephila::drum {

enum class ValueKind : uint8_t { kNone = 0, kFixed = 1, kVariable = 2 };

struct ValueFormat {
  bool operator==(const ValueFormat&) const = default;

  ValueKind kind = ValueKind::kNone;
  uint32_t bytes = 0;  // of each value, for kFixed
};

// Larger ones are refused: a store is not an archive.
inline constexpr size_t kMaxValueBytes = size_t{16} << 20;

}  // namespace nephila::drum
