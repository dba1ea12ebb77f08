// Matcher: may our agent fetch this path? (RFC 9309 s2.2.2)
//
// With P the bytes of the path and R those of all rules:
//   rules without '*' inside   one binary search, at most P log(rules) bytes
//                              compared and never more than R
//   few rules with '*'         each by a search for its pieces from left to
//                              right, without going back: O(P + its bytes);
//                              most are ruled out before by the pairs of
//                              letters that they have and the path has not
//   many, or a long path       all at once in one pass over the path (WildScan,
//                              wild_scan.h), O(R + P d): d pieces at most end
//                              at one place, d < sqrt(2 R), and 1 or 2 in real
//                              files
// So a rule of any shape costs time linear in the path, and so does a file of
// any size. Nothing is unpacked: a Matcher notes the pairs of letters of rules
// with '*', and makes the tables for many of them once, when a path would cost
// more without.
//   Threads: one per object. The rules outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "robots/rules.h"
#include "robots/wild_scan.h"
#include "url/url.h"

namespace nephila::robots {

struct Answer {
  bool allowed = true;
  uint32_t rule = Rules::kNone;  // that decided, or kNone: by default
  uint32_t line = 0;             // of that rule, from 1
};

// The part of a URL that rules speak of: its path and query. A view into it.
std::string_view MatchedPart(const url::Url& url);

// How rules with a '*' inside are matched: the cheaper way, or always one.
enum class WildWay : uint8_t { kCheaper, kEach, kScan };

class Matcher {
 public:
  // Up to so many rules each is tried; and more than those while rules times
  // path stay below so many bytes.
  static constexpr uint32_t kFewRules = 16;
  static constexpr uint64_t kFewSteps = uint64_t{1} << 20;

  explicit Matcher(const Rules& rules, WildWay way = WildWay::kCheaper);

  // `path` begins with '/' and has the query behind it, as in a URL, without a
  // fragment. An empty one is "/".
  Answer Match(std::string_view path);

  // Bytes compared or searched so far.
  uint64_t steps() const { return steps_; }

 private:
  uint32_t BestPlain(std::string_view path);
  bool Scans(size_t path_bytes) const;
  uint32_t BestWild(std::string_view path, uint32_t rival);
  bool WildMatches(uint32_t rule, std::string_view path);

  const Rules rules_;
  const WildWay way_;
  std::vector<uint64_t> pairs_;  // of each rule with '*', see PairsOf
  std::unique_ptr<WildScan> scan_;
  std::string buffer_;
  uint64_t steps_ = 0;
};

}  // namespace nephila::robots
