// Refuses TOML that toml++ 3.3 would build into too deep a tree.
//
// toml++ bounds the nesting of arrays and inline tables, but not the parts of
// a dotted key, and it frees its tree recursively: `a.a.a.a...` a megabyte
// long overflows the stack. So a file is scanned before it is parsed, knowing
// no more of TOML than strings, comments and keys. Cost: one pass.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace nephila::config {

inline constexpr size_t kMaxKeyParts = 32;

// Where a key gets more than kMaxKeyParts parts, as an offset into `text`.
std::optional<size_t> FindTooDeepKey(std::string_view text);

}  // namespace nephila::config
