// wrk, the load generator, as a peer: it asks for one page again and again and
// reads only as much of it as it must.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace nephila::bench {

struct WrkResult {
  uint64_t pages = 0;
  double seconds = 0;
  double cpu_seconds = 0;
};

// For `seconds`, over `connections`; fresh ones unless `keep`. Nothing where it
// is not installed.
Result<std::optional<WrkResult>> RunWrk(const std::string& url,
                                        const std::string& host,
                                        size_t connections, bool keep,
                                        int seconds);

}  // namespace nephila::bench
