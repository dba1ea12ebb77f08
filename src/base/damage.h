// Damage: what is wrong with a file, for those who check files and go on: which
// file, where in it, what.
//   In: findings of a checker, one at a time.   Out: whoever prints them.
//   Threads: the checker's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace nephila {

struct Damage {
  bool operator==(const Damage&) const = default;

  std::string file;                // its path
  std::optional<uint64_t> offset;  // where in it, if that is known
  std::string what;
};

using DamageSink = std::function<void(Damage)>;

}  // namespace nephila
