// A program that is measured from outside: what it took of the clock, of the
// processors and of memory, as the kernel counts it when it has ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace nephila::bench {

struct ChildUse {
  int exit_status = 0;  // or 128 and the signal
  double seconds = 0;
  double cpu_seconds = 0;      // with those that it had and waited for
  uint64_t rss_bytes = 0;      // of the largest of them, at most
  std::string last_of_output;  // of both streams
  bool timed_out = false;
};

// In a process of its own that ends with its parent: becomes the program, in
// `folder`, with both streams into the file `output`.
[[noreturn]] void BecomeChild(const std::vector<std::string>& command,
                              const std::string& folder,
                              const std::string& output);

// Runs it in `folder` to its end, or to `limit`, when it and all that it began
// are killed. kNotFound if there is no such program.
Result<ChildUse> RunChild(const std::vector<std::string>& command,
                          const std::string& folder,
                          std::chrono::seconds limit);

}  // namespace nephila::bench
