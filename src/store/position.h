// Position: a place between two units of an archive stream, which a checkpoint
// can name and a restart can go back to.
#pragma once

#include <compare>
#include <cstdint>

namespace nephila::store {

struct Position {
  auto operator<=>(const Position&) const = default;

  uint64_t serial = 0;  // of the file; 0: before the first one
  uint64_t offset = 0;  // in it
};

}  // namespace nephila::store
