#include "store/compressor.h"

#include "base/check.h"

namespace nephila::store {
namespace {

struct Levels {
  int lowest;
  int standard;
  int highest;
};

Levels LevelsOf(CompressorKind kind) {
  switch (kind) {
    case CompressorKind::kIsal:
      return {0, 1, 3};
    case CompressorKind::kLibdeflate:
      return {1, 6, 12};
    case CompressorKind::kZlib:
      return {1, 6, 9};
    case CompressorKind::kZstd:
      return {1, 1, 19};
  }
  NEPHILA_CHECK(false);
}

}  // namespace

int DefaultLevel(CompressorKind kind) { return LevelsOf(kind).standard; }
int LowestLevel(CompressorKind kind) { return LevelsOf(kind).lowest; }
int HighestLevel(CompressorKind kind) { return LevelsOf(kind).highest; }

std::unique_ptr<Compressor> MakeCompressor(CompressorKind kind, int level) {
  NEPHILA_CHECK(level >= LowestLevel(kind) && level <= HighestLevel(kind));
  switch (kind) {
    case CompressorKind::kIsal:
      return internal::MakeIsal(level);
    case CompressorKind::kLibdeflate:
      return internal::MakeLibdeflate(level);
    case CompressorKind::kZlib:
      return internal::MakeZlib(level);
    case CompressorKind::kZstd:
      return internal::MakeZstd(level);
  }
  NEPHILA_CHECK(false);
}

}  // namespace nephila::store
