// Explain: what happened to a URL, or to a host, and what it waits for, by the
// files of a job (docs/why.md).
//
// A URL has no index of its own: `seen` has its key, records of its domain and
// of its site are found by theirs, finished archives by their sorted indexes.
// Where it waits is in queues and batches, and what became of it in crawl.log,
// none of which is sorted: those are read if they are small, or if `scan` asks
// for it, and the answer says what was not read.
//   In: a URL as a page has it, or a host; a JobView; what a crawl that runs
//   says of it   Out: UrlFacts, HostFacts   Threads: one
//   Memory: that of HeldUrls and History
//   Cost: some lookups; with `scan` all of queues, batches and logs
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "inspect/held_urls.h"
#include "inspect/history.h"
#include "inspect/job_view.h"

namespace nephila::inspect {

// Every state that a URL can be in. `why_state.h` has the words.
enum class UrlState : uint8_t {
  kNotCrawled,         // `url` drops it
  kOutOfScope,         // the scope refuses it
  kSkippedExtension,   // seen.skip_extensions
  kNeverSeen,          // no page that was read has a link to it
  kSeed,               // given, and not taken yet
  kSeenLink,           // waits for a pass of `seen`
  kSeenNew,            // new, about to leave `seen`
  kCapsPass,           // waits for a pass of `caps`
  kCapsThrough,        // within the limits, about to leave `caps`
  kBudgetPass,         // waits for the pass that gives it a queue
  kBudgetQueue,        // in a queue of BEAST
  kBudgetFailed,       // in Q_F
  kToRobots,           // on its way to `robots`
  kRobotsChecking,     // waits for a pass of RobotsCache
  kRobotsDecided,      // allowed, or about to wait for robots.txt
  kRobotsWaiting,      // for the robots.txt of its site
  kRobotsParked,       // its robots.txt is unreachable
  kReady,              // waits for its host
  kParked,             // its host is left alone
  kRetry,              // an attempt failed; it is tried again
  kInFlight,           // is being fetched
  kDone,               // it has its answer
  kRedirected,         // it leads to another URL
  kQuarantined,        // fetched, and nobody may read it
  kFailed,             // given up
  kOverCap,            // its host or domain has as many as it may
  kRobotsDenied,       // dropped by robots.txt
  kRobotsUnreachable,  // dropped: there was no robots.txt to be had
  kDropped,            // left the frontier without an attempt
  kSomewhere,          // known; what would say more was not read
};
inline constexpr size_t kUrlStates = 30;
// "not-crawled", "robots-denied": in JSON.
std::string_view UrlStateName(UrlState state);

// What a crawl that runs says; `is_asked` false: none does.
struct LiveHost {
  bool is_asked = false;
  bool in_flight = false;  // this URL
  bool in_memory = false;  // it waits for its host's turn
  bool resolving = false;  // the name of its host is being looked up
  std::string waits_for;   // politeness::WaitsForName
  std::string reason;      // of the host's delay
  std::chrono::milliseconds until{0};  // from now on
  std::chrono::milliseconds delay{0};  // of the host
  uint64_t urls = 0;                   // of the host, in memory
  uint64_t hosts_ahead = 0;            // in the line of its address
  std::string authority;  // which one this is about: "http port 80"
  uint32_t failures = 0;  // of that one
  uint32_t overloads = 0;
  std::string error;  // why the crawl that runs did not answer
};

struct DomainFacts {
  std::string name;
  bool has_budgets = false;
  bool is_known = false;  // a pass has met it
  uint64_t in_degree = 0;
  uint64_t budget = 0;      // B_x now
  uint64_t next_queue = 0;  // n_x
  uint64_t fill = 0;        // f_x
  uint64_t hosts = 0;       // an estimate
  uint64_t in_pass = 0;     // its URLs that wait for a pass
  // BEAST: the queue that is read, the last of the window, the time for one.
  uint64_t current_queue = 0;
  uint64_t last_queue = 0;
  uint64_t in_failed = 0;  // URLs of all domains in Q_F
  std::chrono::nanoseconds queue_time{0};
};

struct RobotsFacts {
  std::string origin;     // "http://a.com/"
  bool is_known = false;  // there is a record
  bool requested = false;
  bool delayed = false;  // its server has no turn for it before `expires`
  bool has_end = false;  // a file came; the next pass brings it
  uint64_t fetches = 0;  // the number of the last
  std::optional<WallTime> asked;
  std::optional<WallTime> expires;
  uint32_t tries = 0;  // without reach, in a row
  std::optional<WallTime> unreachable_since;
  std::chrono::milliseconds crawl_delay{0};
  std::optional<WallTime> not_before;  // of the host
  uint32_t failures = 0;
  uint32_t overloads = 0;
  bool has_rules = false;
  bool disallows_all = false;
  // Of a URL.
  std::optional<bool> allowed;
  std::string rule;   // "Disallow: /no"
  uint32_t line = 0;  // of robots.txt
  std::vector<ArchivedCopy> copies;
  uint64_t in_pass = 0;  // URLs of the site that wait for a pass
};

// How far it looked.
struct Looked {
  uint64_t manifest = 0;  // 0: none yet
  bool scanned = false;   // everything
  std::vector<HeldUrls::Skipped> skipped;
  uint64_t log_bytes = 0;
  uint64_t log_read = 0;
  std::vector<std::string> archives_not_read;
};

struct UrlFacts {
  std::string input;
  std::string url;      // canonical; empty if it is not crawled
  std::string dropped;  // by `url`, and why
  std::string host;
  std::string domain;
  UrlState state = UrlState::kNeverSeen;
  std::string scope;       // why it refuses the URL; empty: it does not
  std::string scope_rule;  // and the rule, in words
  std::string cap;         // that is used up, if it is no seed; empty: none
  bool is_known = false;
  uint64_t links_in_pass = 0;  // of `seen`
  std::optional<HeldIn> held;
  // With `held`.
  std::optional<uint64_t> queue;
  uint64_t ahead = 0;
  std::optional<WallTime> due;
  // Of its record, if that was found.
  std::string parent;
  uint32_t depth = 0;
  std::string hop_path;
  std::optional<WallTime> discovered;
  uint32_t attempts_before = 0;
  History history;
  std::string redirect;  // kRedirected
  uint32_t strikes = 0;  // of the quarantine
  DomainFacts of_domain;
  RobotsFacts of_robots;
  LiveHost live;
  Looked looked;
};

struct HostFacts {
  std::string input;
  std::string host;
  std::string dropped;  // no host, and why
  std::string domain;
  std::string scope;
  // URLs that wait, by place; attempts by outcome, pages by status.
  std::map<std::string, uint64_t> waiting;
  std::map<std::string, uint64_t> outcomes;
  uint64_t attempts = 0;
  DomainFacts of_domain;
  std::vector<RobotsFacts> of_robots;                   // of http, and of https
  std::optional<std::chrono::milliseconds> saved_wait;  // by the manifest
  LiveHost live;
  Looked looked;
};

struct WhyOptions {
  bool scan = false;
  // Without it, of each queue, batch or log at most so much is read.
  uint64_t most_bytes = uint64_t{64} << 20;
};

// Whether this is a host by itself, without scheme and path.
bool IsHostName(std::string_view text);

Result<UrlFacts> ExplainUrl(JobView& job, std::string_view url,
                            const LiveHost& live, const WhyOptions& options);
Result<HostFacts> ExplainHost(JobView& job, std::string_view host,
                              const LiveHost& live, const WhyOptions& options);

}  // namespace nephila::inspect
