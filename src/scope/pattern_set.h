// PatternSet: regular expressions, all of them searched for in one pass over a
// text (RE2, the only header that names it: linear in the text whatever the
// pattern, so that a URL cannot make it slow).
//
//   In: patterns of a user; texts of the web   Out: which of them is found
//   Threads: immutable, any.   Memory: kMostBytes of automata, and as much
//   again; a pattern that needs more is refused.   Cost: about the text's bytes
//   in nanoseconds, once the automaton knows them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nephila::scope {

class PatternSet {
 public:
  static constexpr size_t kMostBytes = size_t{16} << 20;
  static constexpr size_t kMostPatterns = 10'000;

  // `setting` is for messages: "scope.deny: '(' is no pattern: missing )".
  static Result<PatternSet> Make(std::string_view setting,
                                 const std::vector<std::string>& patterns);
  PatternSet(PatternSet&& other) noexcept;
  PatternSet& operator=(PatternSet&& other) noexcept;
  ~PatternSet();

  bool empty() const { return patterns_.empty(); }
  // Whether one is found somewhere in the text.
  bool Matches(std::string_view text) const;
  // The first of those that are, as it was written.
  std::optional<std::string_view> Find(std::string_view text) const;

 private:
  struct Compiled;
  PatternSet();

  std::vector<std::string> patterns_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace nephila::scope
