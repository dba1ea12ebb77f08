// PlainCurl: the loop that everyone writes with libcurl: one multi handle on
// epoll, bodies thrown away. What the engine is measured against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/fetch_target.h"

namespace nephila::bench {

struct PlainCurlOptions {
  size_t transfers = 500;
  uint64_t pages = 20000;
  bool keep = false;
  std::string ca_file;
};

struct PlainCurlResult {
  uint64_t pages = 0;
  uint64_t errors = 0;
  uint64_t bytes = 0;
};

// Slot i of `transfers` asks for targets i, i + transfers, ...; with `keep` for
// target i again and again.
Result<PlainCurlResult> RunPlainCurl(const std::vector<FetchTarget>& targets,
                                     const PlainCurlOptions& options);

}  // namespace nephila::bench
