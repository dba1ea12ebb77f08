// RobotsStage::Impl: where URLs and requests are, and how they move
// (robots_stage.h has the contract).
//
//   Add ------> RobotsCache --allowed--> sink
//                 ^  ^   |  --denied---> dropped
//                 |  |   |  --unknown--> Q_R, its origin to Q_D
//                 |  |   |  --unreachable--> parked by due time
//                 |  |   v
//                 |  +-- parked, when they are due
//                 +----- Q_R, as far as the gate is open
//
// Walks (waiting_url.h) take the same way.
//
// What a pass has answered and is not moved on yet (decided_) is part of the
// commit's bytes; all else is in a store of its own, and is let go of there
// only when the next one has it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"
#include "disk_queue/queue_set.h"
#include "drum/drum.h"
#include "item/admission.h"
#include "robots/cache_rule.h"
#include "robots/long_rules.h"
#include "robots/origin.h"
#include "robots/request_queue.h"
#include "robots/return_gate.h"
#include "robots/robots_stage.h"
#include "robots/rules_log.h"
#include "robots/waiting_url.h"

namespace nephila::robots {

class RobotsStage::Impl {
 public:
  Impl(const drum::DrumContext& context, RobotsStageOptions options);

  Status CreateStores(const std::string& dir);
  Status OpenStores(const std::string& dir, std::string_view commit);

  Result<item::Admission> Add(std::string_view record, uint64_t budget);
  Result<size_t> Step(const ReadySink& sink, size_t max_urls);
  Result<size_t> TakeRequests(const RequestSink& sink, size_t max);
  Status DelayRequest(std::string_view origin, std::string_view target,
                      WallTime until);
  Status RobotsEnded(const RobotsEnd& end);
  Status RobotsRedirected(const RobotsRedirect& redirect);
  Status NoteHost(std::string_view origin, const HostNote& note);
  bool IsNoted() const;
  Result<bool> RunDryForNotes();
  Result<bool> RunDry();
  Status Flush() { return cache_->Flush(); }
  Status Wait() { return cache_->Wait(); }
  Result<std::string> BeginCommit();
  Status FinishCommit();
  const StageAccount& account() const { return account_; }
  RobotsLoad load() const;
  RobotsStats stats() const;

 private:
  class AnswerReceiver;

  // A URL with the answer of a pass.
  struct Decided {
    UrlAnswer answer;
    std::string url;  // a WaitingUrl
  };
  // A record of a queue that was read ahead.
  struct Returning {
    uint64_t queue = 0;
    uint64_t ordinal = 0;
    std::string bytes;
  };
  // The robots.txt that a URL or a walk is about.
  struct Place {
    Origin origin;
    uint64_t key = 0;      // of the record
    FileId file = 0;       // in it
    uint64_t request = 0;  // of the file, in Q_D
    uint32_t pld_size = 0;
    std::string_view target;  // as in RobotsRequest
    std::string_view path;    // of the URL
  };
  // In the order of the commit's bytes; most_cycles is a maximum.
  enum Count : uint8_t {
    kEnded,
    kUnreachableEnds,
    kRefreshes,
    kOutdated,
    kCycledOnce,
    kCycledAgain,
    kMostCycles,
    kParkings,
    kDamagedRules,
    kWalks,  // that there are
    kCounts
  };
  static_assert(kCounts == kStageCounts);

  drum::DrumOptions CacheOptions() const;
  disk_queue::QueueSetOptions QueueOptions() const;
  void MakeParts();
  bool ReadState(ByteReader& reader, uint8_t version);
  void FindParked();

  Result<Place, std::string_view> PlaceOf(std::string_view record) const;
  // By the names of a request.
  Result<Place, std::string_view> PlaceOf(std::string_view origin,
                                          std::string_view target) const;
  void SetKeys(Place& place) const;
  uint64_t RecordKey(const Origin& origin, uint32_t pld_size) const;
  // Puts a URL into RobotsCache.
  Result<item::Admission> Check(const Place& place, const WaitingUrl& url,
                                uint64_t distrusted);
  uint64_t InCache() const;

  // Each says whether the URL is done with here; if not, the same again later.
  Result<bool> Decide(Decided& decided, const ReadySink& sink);
  Result<bool> HandOn(const UrlAnswer& answer, const WaitingUrl& url,
                      const ReadySink& sink);
  Result<bool> Match(const UrlAnswer& answer, const WaitingUrl& url,
                     const ReadySink& sink);
  Result<bool> WaitForFetch(const UrlAnswer& answer, const WaitingUrl& url);
  bool IsTriedTooOften(const UrlAnswer& answer) const;
  Result<bool> Park(const UrlAnswer& answer, const WaitingUrl& url);
  Status ParkUntil(WallTime until, const WaitingUrl& url);
  bool Drop(DropReason reason);
  Status Ask(const UrlAnswer& answer, const WaitingUrl& url);
  // Walks (robots_walks.cc).
  Status AddWalk(const Walk& walk);
  Result<bool> DecideWalk(const UrlAnswer& answer, const WaitingUrl& url);
  Result<bool> FollowWalk(const Walk& walk, std::string_view next);
  Result<bool> ResolveWalk(const UrlAnswer& answer, const WaitingUrl& url,
                           const Walk& walk);
  Status EndWalk(const Walk& walk, RobotsEnd end);
  // Of the file at `place`; returns the number of its fetch.
  Result<uint64_t> EndFile(const Place& place, const RobotsEnd& end);
  // Answers that are ready.
  Status Deliver(size_t max_urls);
  Result<size_t> DecideAll(const ReadySink& sink, size_t max_urls);

  // Updates of records, in their order, by way of a queue while RobotsCache
  // has no room.
  Status Change(uint64_t key, std::string_view value);
  Result<bool> AddChange(uint64_t key, std::string_view value);
  Status DrainChanges();

  // URLs from Q_R and from parking go to RobotsCache again.
  Result<size_t> Return(size_t max_urls);
  Result<size_t> ReadReturning(size_t max_urls);
  Result<bool> ReturnFront();
  Status LetGo(const Returning& returning);
  uint64_t Readable();
  std::optional<uint64_t> DueParking() const;
  // Fetches are over while an earlier one is not: their URLs need not wait for
  // that, if to look for them costs little for each. `is_dry`: there is nothing
  // else to do.
  bool LookEarly(bool is_dry);
  void EndRequest(uint64_t key, uint64_t fetch);

  const drum::DrumContext context_;
  const RobotsStageOptions options_;
  std::unique_ptr<drum::Drum> cache_;
  std::unique_ptr<disk_queue::QueueSet> queues_;
  std::unique_ptr<RulesLog> log_;
  std::optional<LongRules> long_rules_;
  std::optional<RequestQueue> requests_;
  ReturnGate gate_;

  // A job that was made with a record for each origin.
  bool is_by_origin_ = false;
  std::deque<Decided> decided_;
  std::deque<Returning> returning_;
  std::deque<Returning> changing_;
  std::set<std::pair<WallTime, uint64_t>> parking_;  // due time and queue
  uint64_t parked_ = 0;                              // URLs in them
  uint64_t ended_early_ = 0;                         // since the last look
  uint64_t look_until_ = 0;                          // in Q_R
  std::array<uint64_t, kCounts> counts_{};

  StageAccount account_{"robots", kDropReasonNames};
};

}  // namespace nephila::robots
