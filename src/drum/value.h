// ValueFormat: what the records of a store carry beside their keys.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nephila::drum {

enum class ValueKind : uint8_t {
  kNone,      // keys alone
  kFixed,     // every value has ValueFormat::bytes bytes
  kVariable,  // from none to kMaxValueBytes
};

// Of a fixed value too. A value above a block's size has a block of its own,
// and a reader holds a whole block in memory.
inline constexpr size_t kMaxValueBytes = size_t{16} << 20;

struct ValueFormat {
  ValueKind kind = ValueKind::kNone;
  uint32_t bytes = 0;  // of each value for kFixed, else 0

  bool operator==(const ValueFormat&) const = default;
};

}  // namespace nephila::drum
