#include "drum/tiers.h"

namespace nephila::drum {

size_t RunsToFold(std::span<const uint64_t> run_bytes, uint64_t new_bytes) {
  size_t folded = 0;
  uint64_t bytes = new_bytes;
  while (folded < run_bytes.size()) {
    // A quarter more, as `new_bytes` is an estimate: passes of one size are to
    // fold each other's runs.
    const bool too_many = run_bytes.size() - folded >= kMostRuns;
    if (run_bytes[folded] > bytes + bytes / 4 && !too_many) break;
    bytes += run_bytes[folded++];
  }
  return folded;
}

}  // namespace nephila::drum
