// RobotsStage: the stage `robots`, where URLs wait for the robots.txt of their
// site (IRLbot s4.3, fig. 2).
//   In: URLs of `budget` as records (item/url_record.h), with the budget of
//       their domain; how fetches of robots.txt ended; what politeness knows
//       of hosts
//   Out: URLs that robots.txt allows, each once, with what is known of the
//       host; robots.txt files to be fetched, each once until its fetch ended
//   Drop: denied; unreachable (robots.unreachable_attempts); too-many-ports
//       (robots.max_ports_per_host)
//   Disk: cache/ (a Drum), queues/ (a QueueSet), rules/ (a log);
//       docs/formats/robots-cache.md
//   Threads: one; FinishCommit may run on another, as of a Drum
//   Cost: that of a Drum; memory is that of the options
//
// A URL meets the record of its host in a pass of RobotsCache, and there the
// robots.txt of its authority (scheme and port). Known: it goes on, or is
// dropped. Unknown or expired: it goes to the end of Q_R, and the first such
// URL marks the record (the mark is what the paper has RobotsRequested for) and
// puts its origin into Q_D, from where TakeRequests hands it on. Q_R is read
// again as far as the fetches that its URLs wait for have ended, so a URL makes
// one cycle. Every fetch ends in a record, if only "unreachable until t": URLs
// of such an origin are parked by the time at which it is asked again
// (parking.h), and then go through Q_R; so are those of an origin whose server
// has a long line (DelayRequest), or it would hold up Q_D and Q_R for all. A
// record that is soon to expire is asked for while URLs still pass.
//
// A robots.txt that is redirected (RobotsRedirected) begins a walk, which takes
// the way of a URL: it meets the record of the host that the redirect leads to,
// waits in Q_R or is parked until the file there is known, and then its rules
// become those of the site. A redirect is thus requested as everything else is:
// with the state of its host, once within its age however many sites lead to
// it, and on disk while it is not due. URLs of a site on a walk are parked for
// times that double.
//
// Steps, none of which waits: Add, Step, TakeRequests, RobotsEnded; RunDry
// when the stage behind has nothing to do, so that a small crawl need not wait
// for full batches.
//
// Time is the wall clock of the context, since records outlive a boot. A clock
// that is set forward lets records expire and parked URLs come early;
// robots.txt is asked for anew, and what hosts are owed is up to politeness,
// which has a clock of its own. A clock that is set back lets them wait longer
// by so much, but a time further ahead than kLongestWait is not believed, and
// counts as come.
//
// A commit is bytes for the manifest; Open of them gives exactly that state:
// what was handed on since comes again, requests that had not ended too. An
// end may be told of an origin that was not taken since (the journal is read
// again after a restart): it holds, and the request is not made any more.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"
#include "config/settings.h"
#include "disk_queue/queue_set.h"
#include "drum/drum.h"
#include "item/admission.h"
#include "item/robots_fetch.h"
#include "url/public_suffix.h"

namespace nephila::robots {

enum class DropReason : uint8_t { kDenied, kUnreachable, kTooManyPorts };
inline constexpr std::array<std::string_view, 3> kDropReasonNames = {
    "denied", "unreachable", "too-many-ports"};

struct RobotsStageOptions {
  config::RobotsSettings settings;
  uint64_t seed = 0;  // of the job's keys
  // The job's list, for the domain of an origin. Not null; outlives the stage.
  const url::PublicSuffixList* suffixes = nullptr;
  // All of the stage: its Drum, queues, rules that are looked at.
  uint64_t memory_bytes = uint64_t{64} << 20;
  // For batches of the Drum, and for long rules; queues and records come on
  // top.
  uint64_t disk_bytes = uint64_t{1} << 30;
  // Requests that are handed on before the oldest of them has ended.
  uint64_t max_requests = uint64_t{64} << 10;
  // Ports of one host, beside 80 and 443; 0: no limit.
  uint64_t max_ports_per_host = 16;
  // Sites that wait for one and the same redirect; 0: no limit.
  uint64_t max_waiting_sites = 10'000;
  // Redirects of one robots.txt that are followed.
  uint64_t max_redirects = 5;
  // Ends that are remembered without a request (request_queue.h).
  uint64_t max_early_ends = uint64_t{64} << 10;
};

// A URL that may be fetched, as far as its robots.txt is concerned.
struct ReadyUrl {
  std::string_view record;  // as it came
  uint64_t budget = 0;
  std::chrono::milliseconds crawl_delay{0};  // 0: none
  // Of its host, as of the last NoteHost or RobotsEnd.
  WallTime not_before{};
  uint32_t overloads = 0;
  // Of its authority.
  WallTime authority_not_before{};
  uint32_t failures = 0;
  // When robots.txt was asked for last: by that fetch this URL is allowed.
  // Never older than robots.max_age when it is handed on.
  WallTime checked{};
};
using ReadySink = std::function<Result<item::Admission>(const ReadyUrl& url)>;

// A robots.txt to be fetched.
struct RobotsRequest {
  std::string_view origin;  // the canonical URL of its root, "http://a.test/"
  uint32_t host_start = 0;  // in `origin`, as in a UrlRecord
  uint32_t host_size = 0;
  uint32_t pld_size = 0;
  // The URL to request, if it is not the robots.txt of the origin: another site
  // is redirected there.
  std::string_view target;
  uint64_t budget = 0;  // 0: not known
  // What is known of the host and the authority, as in ReadyUrl.
  WallTime not_before{};
  uint32_t overloads = 0;
  WallTime authority_not_before{};
  uint32_t failures = 0;
  // The longest that a robots.txt of the host has; 0: none is known.
  std::chrono::milliseconds crawl_delay{0};
  // Nothing is known of the host: no robots.txt of it was ever requested.
  bool first = false;
};
using RequestSink =
    std::function<Result<item::Admission>(const RobotsRequest& request)>;

// How the fetch of a robots.txt ended.
struct RobotsEnd {
  std::string_view origin;  // as in the request
  std::string_view target;  // likewise
  item::RobotsFetchEnd end = item::RobotsFetchEnd::kNetwork;
  int status = 0;  // with kAnswer
  // Compiled (CompileRules) if the verdict of policy.h is kParse; else empty.
  std::string_view rules;
  std::optional<std::chrono::milliseconds> crawl_delay;
  WallTime when{};
  // Of the host, for instance by Retry-After.
  std::optional<WallTime> not_before;
};

// The fetch of a robots.txt was redirected.
struct RobotsRedirect {
  std::string_view origin;  // as in the request
  std::string_view target;  // likewise
  // As the URL parser writes it, without user and fragment.
  std::string_view next;
  WallTime when{};
  // Redirects of the origin's robots.txt so far, with this one.
  uint64_t hops = 1;
};

struct RobotsStats {
  // URLs and walks, by where they are; their sum is `held` of the account and
  // `walks`.
  uint64_t checking = 0;  // in RobotsCache or on their way from it
  uint64_t waiting = 0;   // in Q_R
  uint64_t decided = 0;   // of those that are checked: with their answer
  uint64_t parked = 0;
  uint64_t walks = 0;  // sites whose robots.txt is redirected, of all of these
  std::optional<WallTime> next_parked;  // when the first of them is due
  // Requests.
  uint64_t queued = 0;     // in Q_D and not handed on
  uint64_t requested = 0;  // handed on and not ended
  // Since the stage was made.
  uint64_t ended = 0;        // fetches
  uint64_t unreachable = 0;  // of them, without reach
  uint64_t refreshes = 0;    // asked for while the record still held
  uint64_t outdated = 0;     // URLs that found their record expired
  // URLs that came from Q_R, by how often they had: a second time is for those
  // whose record was damaged or forgotten meanwhile.
  uint64_t cycled_once = 0;
  uint64_t cycled_again = 0;
  // Of one URL, since its robots.txt was unreachable if it was.
  uint64_t most_cycles = 0;
  uint64_t parkings = 0;
  uint64_t damaged_rules = 0;  // in the log of long rules, found by a URL
  uint64_t rules_log_bytes = 0;
  drum::DrumStats cache;
  disk_queue::QueueSetStats queues;
};

// What whoever moves URLs asks at every step.
struct RobotsLoad {
  uint64_t checking = 0;  // as in RobotsStats
  uint64_t waiting = 0;
  std::optional<WallTime> next_parked;
  uint64_t passes = 0;  // of RobotsCache
  std::chrono::nanoseconds cheap_interval{0};
};

class RobotsStage {
 public:
  // No wait of a record is longer; see above.
  static constexpr std::chrono::hours kLongestWait{24 * 31};

  // `dir` is an empty directory.
  static Result<std::unique_ptr<RobotsStage>> Create(
      const drum::DrumContext& context, const std::string& dir,
      RobotsStageOptions options);
  // The state that `commit` names; kNotFound if it is gone, kCorruption if
  // these bytes are no commit.
  static Result<std::unique_ptr<RobotsStage>> Open(
      const drum::DrumContext& context, const std::string& dir,
      RobotsStageOptions options, std::string_view commit);
  ~RobotsStage();
  RobotsStage(const RobotsStage&) = delete;
  RobotsStage& operator=(const RobotsStage&) = delete;

  // `record`: an encoded UrlRecord. kFull until steps and commits make room.
  // kInvalidArgument for bytes that are no record of an http or https URL.
  Result<item::Admission> Add(std::string_view record, uint64_t budget);

  // Hands on up to `max_urls` URLs while `sink` takes them, drops, parks, and
  // moves on what waits. Returns how many URLs and requests it moved; 0:
  // nothing can be done now, or nothing was taken.
  Result<size_t> Step(const ReadySink& sink, size_t max_urls);

  // Hands on up to `max` requests while `sink` takes them; returns how many.
  // Each comes once until it has ended, and again after a restart if it had
  // not.
  Result<size_t> TakeRequests(const RequestSink& sink, size_t max);
  // kInvalidArgument for what is no origin, and for rules that are none.
  // kNoSpace: nothing was done; the same again once there is room.
  Status RobotsEnded(const RobotsEnd& end);
  // Likewise. A redirect that leads nowhere is the end of the fetch.
  Status RobotsRedirected(const RobotsRedirect& redirect);
  // The request was handed on, and has no turn at its server before `until`:
  // it is over, and its URLs are parked until then, when the first of them
  // makes another. Nothing for a request that is not open.
  Status DelayRequest(std::string_view origin, std::string_view target,
                      WallTime until);
  // What politeness says of a host and of one of its authorities, that of
  // `origin`, when it parks the host or the host recovered: for the URLs that
  // come later, of all ports. The last word holds.
  Status NoteHost(std::string_view origin, WallTime not_before,
                  uint32_t overloads, WallTime authority_not_before,
                  uint32_t failures);

  // Whether all that NoteHost and RobotsEnded said until now is in records.
  bool IsNoted() const;
  // As RunDry, for that: whether a pass is on that brings it, if no URL.
  Result<bool> RunDryForNotes();

  // The stage behind has run dry. Returns whether something will come without
  // new URLs, ends of requests or the time of parked URLs.
  Result<bool> RunDry();
  // All that was added until now will be decided on.
  Status Flush();
  // With workers that have threads: until a step has something to do, or
  // nothing is under way.
  Status Wait();
  // Nothing is held.
  bool IsEmpty() const;

  // In two steps, as of a Drum: the bytes are good once Finish has returned.
  // kNoSpace from either: the same call again once there is room.
  Result<std::string> BeginCommit();
  Status FinishCommit();

  const StageAccount& account() const;
  // Cost: constant; that of stats() grows with the queues of parked URLs.
  RobotsLoad load() const;
  RobotsStats stats() const;

 private:
  class Impl;
  explicit RobotsStage(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace nephila::robots
