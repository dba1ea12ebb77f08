// RetryCommand: "retry", or "retry timeout,dns-failed": URLs that failed for
// good before it are asked for again. As an entry of the journal has it.
//   In, out: text, hostile   Threads: any
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/fetch_outcome.h"

namespace nephila::crawl {

// A command that was taken.
struct Retry {
  uint64_t entry = 0;  // of the command: what failed before it
  uint32_t outcomes = 0;

  bool Wants(uint64_t failed_entry, item::FetchOutcome outcome) const {
    return failed_entry < entry &&
           (outcomes >> static_cast<uint32_t>(outcome) & 1U) != 0;
  }
};

// One bit for each outcome; nothing if it is no such command.
std::optional<uint32_t> ParseRetry(std::string_view text);
// Of names of outcomes, none for all. kInvalidArgument for one that there is
// not, or that is no failure.
Result<std::string> RetryText(const std::vector<std::string>& outcomes);

}  // namespace nephila::crawl
