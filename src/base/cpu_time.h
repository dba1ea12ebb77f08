// The CPU time of this thread, for benchmarks and for tests of how cost grows:
// what others do on the machine is not counted.
#pragma once

#include <time.h>

namespace nephila {

inline double ThreadCpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace nephila
