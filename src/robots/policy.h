// What the fetch of a robots.txt means (RFC 9309 s2.3.1 and s2.4).
//
//   2xx                          its body holds
//   304                          the copy we have holds again
//   4xx, too many redirects      unavailable: all is allowed (s2.3.1.3)
//   5xx, no answer               unreachable: nothing is allowed for now
//                                (s2.3.1.4), a copy that we have is kept
// Two answers differ from the letter, towards politeness. 429 says "later", not
// "there is none": it counts as unreachable. And a redirect that we refuse to
// follow (to a private address, say) tells nothing about the site, so it is no
// permission. After 30 days without reach the RFC leaves the choice; the copy
// goes on to hold if there is one, else all is allowed.
//   Threads: any; plain functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "item/robots_fetch.h"

namespace nephila::robots {

using FetchEnd = item::RobotsFetchEnd;

struct Fetch {
  FetchEnd end = FetchEnd::kAnswer;
  int status = 0;  // of the last answer, if it ended with one
  // Whether rules from an earlier fetch are at hand.
  bool have_copy = false;
  // Since when robots.txt has been unreachable, if it was before this fetch.
  std::optional<std::chrono::seconds> unreachable_for;
};

enum class Verdict : uint8_t {
  kParse,        // the body
  kKeepCopy,     // go on with the rules we have
  kAllowAll,     // CompileAllowAll
  kDisallowAll,  // CompileDisallowAll
};

struct Policy {
  Verdict verdict = Verdict::kDisallowAll;
  // The fetch counts as one without reach: note when that began, ask again
  // before long.
  bool unreachable = false;
};

// s2.4: a copy is not used for longer, unless the file is unreachable.
inline constexpr std::chrono::hours kLongestUse{24};
// s2.3.1.4: "a reasonably long period of time (for example, 30 days)".
inline constexpr std::chrono::hours kUnreachablePeriod{24 * 30};
// s2.3.1.2: so many hops are followed at least.
inline constexpr int kRedirects = 5;

Policy PolicyFor(const Fetch& fetch);

// Whether rules of this age must be fetched again before they are used.
inline bool IsStale(std::chrono::seconds age, bool unreachable) {
  return age > kLongestUse && !unreachable;
}

std::string_view VerdictName(Verdict verdict);

}  // namespace nephila::robots
