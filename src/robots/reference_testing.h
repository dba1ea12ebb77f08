// A second reading of RFC 9309 s2.2.2 for tests and fuzzers: every rule tried
// by itself, in time that grows with pattern times path, and nothing compiled.
#pragma once

#include <cstdint>
#include <string_view>

#include "robots/matcher.h"
#include "robots/parser.h"

namespace nephila::robots {

// Whether the rule matches a path that is normalized.
bool ReferenceRuleMatches(std::string_view text, const Pattern& pattern,
                          std::string_view path);

// Whether the answer is right: allowed or not, and if a rule decided, that the
// line is one of the strongest rules that match.
bool AnswerIsRight(const RobotsFile& file, std::string_view path,
                   const Answer& answer);

}  // namespace nephila::robots
