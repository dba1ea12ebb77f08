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
// A record is that of a host (robots_record.h), and a tuple names the file of
// it that it is about. A site whose robots.txt is redirected meets the record
// of the host that it leads to with a walk, which is answered as a URL is: it
// waits, or gets the rules of that file, or the next redirect. So a file is
// requested once within its age however many sites lead to it.
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
std::string UrlValue(FileId file, std::string_view path, uint64_t distrusted);
// Of a site whose robots.txt is redirected to this file. `distrusted` as above.
std::string WalkValue(FileId file, uint64_t distrusted);

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
std::string EndValue(FileId file, const EndChange& end);
// `file` is the authority of the note.
std::string HostValue(FileId file, const HostNote& note);
// The host-wide part of a note alone.
std::string HostWaitValue(uint64_t not_before, uint32_t overloads);
// The fetch was not made: the server has no turn for it for long. It is to be
// requested anew from `until` on.
std::string DelayValue(FileId file, uint64_t until);
// How a fetch was redirected. A file of the host itself stays requested until
// its walk ends (EndValue); a target is known by it.
struct RedirectChange {
  uint64_t fetch = 0;
  uint64_t when = 0;
  uint64_t max_age = 0;  // milliseconds
  std::string_view next;

  bool operator==(const RedirectChange&) const = default;
};
std::string RedirectValue(FileId file, const RedirectChange& redirect);
bool IsUrlValue(std::string_view value);
bool IsEndValue(std::string_view value);

// The parameters of a pass that begins now.
struct PassLimits {
  uint64_t longest_wait_ms = 0;
  // Ports of a host beside 80 and 443; 0: no limit.
  uint64_t max_ports = 0;
  // Sites that wait for one file; 0: no limit.
  uint64_t max_waiting_sites = 0;
};
std::string PassTime(WallTime now, const PassLimits& limits);
// Files of a host that the robots.txt of other sites are redirected to. One
// that has expired makes room for another.
inline constexpr size_t kMostTargets = 32;

// What becomes of a URL.
enum class UrlState : uint8_t {
  kUnknown = 0,      // waits for a fetch
  kExpired = 1,      // likewise
  kUnreachable = 2,  // waits until `until`
  kAllowed = 3,
  kDenied = 4,
  kInLog = 5,         // to be matched with the rules at `place`
  kDelayed = 6,       // waits until `until`
  kTooManyPorts = 7,  // the host has no room for another authority
  kRedirected = 8,    // only of a walk: it leads on to `text`
};
inline constexpr uint8_t kUrlStates = 9;

// Of a walk the states are those of the file: kAllowed and kInLog mean that its
// rules are known, whatever they say.
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
  // The longest Crawl-delay that a robots.txt of the host has.
  uint64_t host_crawl_delay = 0;
  // A robots.txt of the host was requested before, of any port.
  bool is_host_known = false;
  // The file was redirected, and its walk has not ended.
  bool is_walking = false;
  RulesPlace place;
  std::string text;  // of a walk: inline rules, or the redirect

  bool operator==(const UrlAnswer&) const = default;
};
void AppendAnswer(const UrlAnswer& answer, std::string& out);
std::optional<UrlAnswer> ReadAnswer(std::string_view bytes);

// What the end of a fetch makes of a record. The rules of the result are views
// of `record` and `end`.
RobotsRecord ApplyEnd(const RobotsRecord& record, const EndChange& end);

std::shared_ptr<const drum::MergeRule> MakeCacheRule();

}  // namespace nephila::robots
