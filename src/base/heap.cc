#include "base/heap.h"

#include <malloc.h>

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

}  // namespace nephila
