#include "cli/file_limit.h"

#include <sys/resource.h>

namespace nephila::cli {

size_t RaiseFileLimit() {
  constexpr size_t kAtLeast = 256;  // POSIX's least, if nobody can say
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kAtLeast;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return before;
  return limit.rlim_max;
}

}  // namespace nephila::cli
