// PrefixSet: texts, and whether one of them is the beginning of another text.
//
// Of two of which one begins with the other the shorter alone is kept: so no
// kept one begins another, and the one that begins a text, if there is one, is
// the last that does not come after it in order.
//   In: SURT prefixes   Out: the number that the prefix came with
//   Threads: as a map.   Cost: O(log n) comparisons a look-up, no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace nephila::scope {

class PrefixSet {
 public:
  // `number` tells which it was; the first of two equal ones stays.
  void Add(std::string_view prefix, uint32_t number);
  std::optional<uint32_t> Find(std::string_view text) const;

  bool empty() const { return prefixes_.empty(); }
  size_t size() const { return prefixes_.size(); }

 private:
  std::map<std::string, uint32_t, std::less<>> prefixes_;
};

}  // namespace nephila::scope
