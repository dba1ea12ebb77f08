// The ways in which a machine can stop, for tests that stop it everywhere.
#pragma once

#include <cstdint>

#include "base/memory_file_system.h"

namespace nephila {

enum class Crash : uint8_t { kKill, kNothingUnsynced, kEverything, kTorn };
inline constexpr Crash kCrashes[] = {Crash::kKill, Crash::kNothingUnsynced,
                                     Crash::kEverything, Crash::kTorn};

inline void Happen(Crash crash, MemoryFileSystem& fs, uint64_t seed) {
  switch (crash) {
    case Crash::kKill:
      return fs.KillProcess();
    case Crash::kNothingUnsynced:
      return fs.LosePower(LossMode::kNothingUnsynced, seed);
    case Crash::kEverything:
      return fs.LosePower(LossMode::kEverything, seed);
    case Crash::kTorn:
      return fs.LosePower(LossMode::kTorn, seed);
  }
}

}  // namespace nephila
