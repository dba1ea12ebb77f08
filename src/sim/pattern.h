// Matches a text against a pattern in which '*' stands for any text, empty or
// not, and every other byte for itself.
//
// Cost: |text| times |pattern| at worst, and only for patterns with several
// stars; patterns are the operator's and at most kMaxPatternBytes long.
#pragma once

#include <cstddef>
#include <string_view>

namespace nephila::sim {

inline constexpr size_t kMaxPatternBytes = 256;

bool Matches(std::string_view pattern, std::string_view text);

}  // namespace nephila::sim
