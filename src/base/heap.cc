#include "base/heap.h"

#include <malloc.h>
#include <unistd.h>

#include <fstream>

namespace nephila {

void KeepHeapFlat() {
#if defined(__GLIBC__)
  constexpr int kMappedFrom = 256 * 1024;
  constexpr int kHeaps = 2;
  mallopt(M_MMAP_THRESHOLD, kMappedFrom);
  mallopt(M_TRIM_THRESHOLD, kMappedFrom);
  mallopt(M_ARENA_MAX, kHeaps);
#endif
}

uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t all = 0;
  uint64_t resident = 0;
  if (!(file >> all >> resident)) return 0;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace nephila
