// The rule of RobotsCache: what a URL, the end of a fetch, its delay, or a note
// about a host and the record of the origin make of each other (IRLbot s4.3).
//
// A URL asks with its path, and the answer is what becomes of it: the rules are
// matched inside the pass, or each answer would carry a copy of them; only
// rules in the log are matched behind it. The paper's RobotsRequested is the
// mark `requested` of the record: the URL that finds nothing, or a record to
// be refreshed, sets it and is told to ask; all others are told to wait, until
// the end of the fetch takes it away. So an origin is asked for once, and
// again from the moment on at which its record should be refreshed.
//
// The end of a fetch is judged here (policy.h), for that depends on the copy
// in the record. The copy is kept, with its Crawl-delay, where the file is
// unreachable or unchanged.
//
// The time is that of the pass, frozen when it begins, so a pass that is done
// again comes out the same.
//   In: values made by the functions below. Out: answers, for ReadAnswer.
//   Threads: any. Cost: about 1 us a URL with small rules.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "drum/rule.h"
#include "item/robots_fetch.h"
#include "robots/robots_record.h"

namespace nephila::robots {

// Of a URL. `distrusted`: rules of this fetch, or an earlier one, turned out to
// be damaged and are forgotten; 0 for none.
std::string UrlValue(std::string_view path, uint64_t distrusted);

// How a fetch ended, and what of the settings its record depends on.
struct EndChange {
  item::RobotsFetchEnd end = item::RobotsFetchEnd::kNetwork;
  uint32_t status = 0;
  uint64_t fetch = 0;
  uint64_t when = 0;
  uint64_t max_age = 0;         // milliseconds, as the next two
  uint64_t retry_wait = 0;      // of the first retry; doubles from then on,
  uint64_t retry_wait_max = 0;  // up to this
  uint64_t not_before = 0;      // of the host; 0: nothing new
  uint64_t crawl_delay = 0;
  RulesKind kind = RulesKind::kNone;  // kNone unless the answer is to be parsed
  std::string_view rules;
  RulesPlace place;

  bool operator==(const EndChange&) const = default;
};
std::string EndValue(const EndChange& end);
std::string HostValue(const HostNote& note);
// The fetch was not made: the server has no turn for it for long. It is to be
// asked for anew from `until` on.
std::string DelayValue(uint64_t until);
// Which of the four a value is.
bool IsUrlValue(std::string_view value);
bool IsEndValue(std::string_view value);

// The parameters of a pass that begins now.
std::string PassTime(WallTime now, uint64_t longest_wait_ms);

// What becomes of a URL.
enum class UrlState : uint8_t {
  kUnknown = 0,      // waits for a fetch
  kExpired = 1,      // likewise
  kUnreachable = 2,  // waits until `until`
  kAllowed = 3,
  kDenied = 4,
  kInLog = 5,    // to be matched with the rules at `place`
  kDelayed = 6,  // waits until `until`
};
inline constexpr uint8_t kUrlStates = 7;

struct UrlAnswer {
  UrlState state = UrlState::kUnknown;
  // robots.txt is to be asked for; with a URL that waits, and with one that
  // need not wait.
  bool ask = false;
  uint64_t fetch = 0;  // of the record; 0: nothing is known
  uint64_t asked = 0;
  uint64_t until = 0;
  uint32_t tries = 0;
  uint64_t crawl_delay = 0;
  HostNote host;
  RulesPlace place;

  bool operator==(const UrlAnswer&) const = default;
};
void AppendAnswer(const UrlAnswer& answer, std::string& out);
std::optional<UrlAnswer> ReadAnswer(std::string_view bytes);

// What the end of a fetch makes of a record. The rules of the result are views
// of `record` and `end`.
RobotsRecord ApplyEnd(const RobotsRecord& record, const EndChange& end);

std::shared_ptr<const drum::MergeRule> MakeCacheRule();

}  // namespace nephila::robots
