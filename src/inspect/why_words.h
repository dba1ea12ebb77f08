// What was found of a URL or a host, in words and as one JSON object
// (docs/why.md has all names).
//   In: UrlFacts, HostFacts   Out: lines for a terminal, escaped; JSON
//   Threads: any; pure.
#pragma once

#include <string>

#include "base/clock.h"
#include "inspect/why.h"

namespace nephila::inspect {

// One sentence: the state, and what it waits for. `now` is for times to come.
std::string DescribeState(const UrlFacts& facts, WallTime now);

// With the ends of their lines.
std::string FormatText(const UrlFacts& facts, WallTime now);
std::string FormatText(const HostFacts& facts, WallTime now);
// Without.
std::string FormatJson(const UrlFacts& facts, WallTime now);
std::string FormatJson(const HostFacts& facts);

}  // namespace nephila::inspect
