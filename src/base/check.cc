#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace nephila {

void CheckFailed(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what);
  std::abort();
}

}  // namespace nephila
