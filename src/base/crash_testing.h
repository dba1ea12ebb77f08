// What tests share that stop a machine everywhere: where, how, and what may go
// wrong then.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/faulty_file_system.h"
#include "base/file_testing.h"
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

struct Stop {
  uint64_t at;  // which operation
  StopStyle style;
  Crash crash;
  bool before;  // go on from the commit before the last
};

// Set in the environment, NEPHILA_LONG_TESTS makes tests that walk through
// many places with a stride go to every place.
inline bool LongTests() { return std::getenv("NEPHILA_LONG_TESTS") != nullptr; }

// For a walk with about so many stops; all of them if NEPHILA_LONG_TESTS asks
// for that. Odd, so that all ways come with all kinds of operations.
inline uint64_t StrideFor(uint64_t operations, uint64_t stops) {
  return LongTests() ? 1 : std::max<uint64_t>(operations / stops, 1) | 1;
}

// Only what was asked for goes wrong.
inline void ExpectStopped(const Status& status, FaultyFileSystem& fs) {
  if (status.has_value()) return;
  EXPECT_TRUE(fs.stopped()) << status.error().message;
  EXPECT_EQ(CodeOf(status), ErrorCodeName(ErrorCode::kStopped))
      << status.error().message;
}

}  // namespace nephila
