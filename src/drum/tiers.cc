#include "drum/tiers.h"

namespace nephila::drum {

size_t RunsToFold(std::span<const uint64_t> run_bytes, uint64_t new_bytes) {
  size_t folded = 0;
  uint64_t bytes = new_bytes;
  while (
      folded < run_bytes.size() &&
      (run_bytes[folded] <= bytes || run_bytes.size() - folded >= kMostRuns)) {
    bytes += run_bytes[folded++];
  }
  return folded;
}

}  // namespace nephila::drum
