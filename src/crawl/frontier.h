// Frontier: what is known of the web and not fetched yet. It owns the stages
// from `scope` to the ready queue and moves URLs through them, step by step:
//
//   links -> scope -> seen -> caps -> budget -> robots -> ready queue -> visits
//                                     ^                     |      ^
//                links -> reputation -+      parked, by due time --+
//
//   In: finished visits, in the order of the journal, and nothing else that
//       changes which URLs there are; visits that the dispatcher parks
//   Out: visits, of pages and of robots.txt, as many as were asked for
//   Disk: a folder a stage; all of it exact at a checkpoint
//   Threads: one; Drums work on the Workers   Memory: `crawl.memory`
//
// What is asked for is pulled, not pushed: URLs leave `budget` only as far as
// the dispatcher wants more than is ready, so that a domain's budget is decided
// as late as can be. When a stage behind runs dry the ones before it flush what
// they hold, if a pass is cheap: a small crawl never waits for a batch.
//
// A checkpoint (BeginCheckpoint) names the last entry of the journal that was
// taken, and how many links of the next: a page's links are numbered, so that
// a restart goes on behind them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "base/workers.h"
#include "budget/budget.h"
#include "budget/pass_through.h"
#include "caps/caps.h"
#include "config/settings.h"
#include "crawl/accounts.h"
#include "crawl/byte_budget.h"
#include "crawl/dispatcher.h"
#include "crawl/due_slot.h"
#include "crawl/ended_attempts.h"
#include "crawl/fresh_links.h"
#include "crawl/frontier_state.h"
#include "crawl/lookahead.h"
#include "crawl/memory_plan.h"
#include "crawl/place_window.h"
#include "crawl/ready_url.h"
#include "crawl/retry_command.h"
#include "crawl/visit.h"
#include "disk_queue/queue_set.h"
#include "item/url_record.h"
#include "job/quarantine.h"
#include "reputation/reputation.h"
#include "robots/robots_stage.h"
#include "scope/scope.h"
#include "seen/seen.h"
#include "url/public_suffix.h"

namespace nephila::crawl {

// Bytes of a manifest, by name.
using ManifestParts = std::map<std::string, std::string, std::less<>>;

class Frontier {
 public:
  // All of it outlives the frontier.
  struct Parts {
    FileSystem& fs;
    const Clock& clock;
    Workers& workers;
    const config::Settings& settings;
    const url::PublicSuffixList& suffixes;
    std::string folder;  // of the job
    uint64_t seed = 0;   // of the job's keys
    // Reads from the archive the page of a visit that is `unread`; called for
    // the entry that is taken next. An error is one of the disk.
    std::function<Status(FinishedVisit* visit, bool replayed)> read_page =
        nullptr;
    // Memory of visits that were given out; null: without limit.
    ByteBudget* visits = nullptr;
    // An entry whose taking ended the process twice is skipped; null: none is.
    job::Quarantine* quarantine = nullptr;
    size_t slot = 0;  // of the quarantine
    // For tests: before an entry is taken.
    std::function<void(std::string_view url)> on_take = nullptr;
  };

  // In a new job; its folders exist and are empty.
  static Result<std::unique_ptr<Frontier>> Create(const Parts& parts);
  // As a manifest has it.
  static Result<std::unique_ptr<Frontier>> Open(const Parts& parts,
                                                const ManifestParts& manifest);
  // The first entry of the journal that a manifest does not cover as a whole.
  static Result<uint64_t> NextEntry(const ManifestParts& manifest);
  ~Frontier();
  Frontier(const Frontier&) = delete;
  Frontier& operator=(const Frontier&) = delete;

  // An entry of the journal. They may come in any order and are taken in
  // theirs; those that were taken before the checkpoint are known and dropped.
  // `replayed`: it is of an earlier run, whose places mean nothing now.
  void Take(FinishedVisit visit, bool replayed = false);
  // The dispatcher will not contact its host for long.
  Status Park(const Visit& visit, WallTime due);
  // What is to stand in a host's record.
  Status Note(const HostNote& note);
  // Notes that stand in their records, with nothing on its way any more that
  // was checked before.
  void TakeNoted(
      const std::function<void(uint64_t host, uint64_t epoch)>& noted);
  // The black lists that hold from now on, for links and for what is ready.
  void SetBlocks(std::shared_ptr<const scope::BlockSet> blocks) {
    scope_.SetBlocks(std::move(blocks));
  }
  // So many more pages are wanted.
  void Want(size_t count) { wanted_ += count; }
  uint64_t wanted() const { return wanted_; }

  // Moves on what can be, some thousand URLs at most; visits go to `give`.
  // Returns whether anything was done.
  Result<bool> Step(const std::function<void(VisitPtr)>& give);
  // The same without visits: for entries that are read again, before the first
  // request is made, and at the end.
  Result<bool> Absorb();
  // With workers that have threads: until their passes have something.
  Status Wait();
  // Step had nothing to do: makes stages that hold a batch flush it. Returns
  // whether something will come of it; with workers that have threads, by and
  // by.
  Result<bool> RunDry();
  // Nothing waits anywhere, and nothing is out: the crawl is over.
  bool IsEmpty() const;
  // When a URL that is parked is due; nothing if none is.
  std::optional<WallTime> NextDue() const;

  // A checkpoint in two steps: Begin notes the state, Finish makes it durable
  // (it syncs). REQUIRES for Begin: the last one is finished, and its manifest
  // is durable, since stages let go of what only the one before that needs.
  // kNoSpace from either: the same call again once there is room, and between
  // two calls of Begin no other that changes anything: stages are noted as of
  // the same moment.
  Result<ManifestParts> BeginCheckpoint();
  Status FinishCheckpoint();

  // The last entry that was taken whole.
  uint64_t entry() const { return next_entry_ - 1; }
  // Entries that have come and were not taken whole, and their bytes.
  size_t arrived() const { return arrived_.size(); }
  // The memory that entries and URLs take between the stages; a look at each.
  // Visits that were given out are not in it.
  uint64_t HeldBytes() const;
  bool is_mid_entry() const { return progress_.begun; }
  // The last step found a stage full.
  bool is_stuck() const { return is_stuck_; }
  size_t visits_out() const { return places_.open(); }
  const Accounts& accounts() const { return accounts_; }
  // All stages from `seeds` on, in the order of the path.
  std::vector<const StageAccount*> StageAccounts() const;

  const seen::Seen& seen() const { return *seen_; }
  const caps::Caps* caps() const { return caps_.get(); }
  const robots::RobotsStage& robots() const { return *robots_; }
  const reputation::Reputation* reputation() const { return reputation_.get(); }
  const budget::Budget* budget() const { return budget_.get(); }
  const scope::Scope& scope() const { return scope_; }
  uint64_t ready() const { return queues_->Unread(kReadyQueue); }
  uint64_t parked() const { return parked_; }
  // URLs that failed for good, and were not asked for again since.
  uint64_t failed() const { return queues_->Kept(kFailedQueue); }
  // What `politeness` holds, counted where it is and not in the account: after
  // Open both are the same. URLs whose attempt ended behind the manifest are
  // taken off though they may be in an earlier stage still.
  int64_t CountHeld() const {
    return static_cast<int64_t>(queues_->Kept(kReadyQueue) + parked_) -
           static_cast<int64_t>(places_.EndedAhead() + ended_attempts_.size());
  }

 private:
  // An entry of the journal that has come.
  struct Arrived {
    FinishedVisit visit;
    bool replayed = false;
  };
  // How far the entry that is being taken is: the number of the next link of
  // its page that was not taken (FoundLink::ordinal), and how many edges.
  struct Progress {
    bool begun = false;
    uint64_t link = 0;
    uint64_t edges = 0;
  };
  struct PendingNote {
    uint64_t host = 0;
    uint64_t epoch = 0;
    uint64_t pass = 0;              // of RobotsCache that has it
    std::optional<uint64_t> place;  // in the ready queue, to be read before
  };
  // Read from a queue of parked URLs, which still keeps it.
  struct Unparked {
    DueSlot slot;
    uint64_t ordinal = 0;
    std::string bytes;
  };
  // Read from the queue of failed URLs, which still keeps it.
  struct Failed {
    uint64_t ordinal = 0;
    std::string bytes;
  };

  Frontier(const Parts& parts, scope::Scope scope);
  Status MakeStages(const ManifestParts* manifest);
  Status MakeCaps(const drum::DrumContext& context,
                  const ManifestParts* manifest);
  Status MakeBudgets(const drum::DrumContext& context,
                     const ManifestParts* manifest);
  drum::DrumContext Context() const;

  // Takes entries while there are some and the stages have room; returns how
  // many links went in.
  Result<size_t> TakeEntries(size_t max_links);
  // Takes the entry that is next, or goes on with it. False if a stage was
  // full.
  Result<bool> TakeEntry(Arrived* arrived, size_t* links);
  static void DropTooLongTarget(FinishedVisit* visit);
  // The entry gives nothing but its end.
  static void Skip(FinishedVisit* visit);
  Status BeginEntry(const Arrived& arrived);
  Status EndAttempt(const Arrived& arrived);
  // A redirect that is followed, as the next thing to be asked for.
  void Follow(const item::UrlRecord& next, const FinishedVisit& visit);
  // An entry was taken in part, and the rest of it is gone: its page is to be
  // fetched again.
  void Reopen(const FinishedVisit& visit);
  Status EndRobots(const FinishedVisit& visit);
  // False if a stage was full.
  Result<bool> TakeLinks(const FinishedVisit& visit, size_t* links);
  Result<bool> TakeEdges(const FinishedVisit& visit);
  // By the scope as it is now; a seed widens it.
  std::optional<scope::ScopeDrop> Refuses(const item::UrlRecord& record);
  // `again`: it was seen, and is handed on all the same.
  Result<bool> TakeLink(const item::UrlRecord& record, bool again = false);

  // URLs that failed for good (frontier_retry.cc).
  Status KeepFailed(const FinishedVisit& visit);
  void TakeCommand(const FinishedVisit& visit);
  Result<size_t> MoveFailed(size_t max_urls);
  // False if a stage was full.
  Result<bool> LookAtFailed(const Failed& failed, const Retry& retry);
  std::string SaveRetries() const;
  bool RestoreRetries(std::string_view bytes);

  Status Park(const ParkedUrl& url);
  void BackToRobots(std::string_view record, uint64_t budget);
  void EndPlace(uint64_t place);
  Result<size_t> MoveParked(size_t max_urls);
  Status Unpark(const Unparked& unparked, WallTime now);
  Result<size_t> MoveSeen(size_t max_urls);
  Result<size_t> MoveCaps(size_t max_urls);
  // To `budget`, or by it where there are no budgets.
  Result<item::Admission> AddNew(std::string_view record);
  Result<size_t> MoveReputation(size_t max_edges);
  Result<size_t> MoveBudget(size_t max_urls);
  Result<size_t> MoveToRobots();
  Result<size_t> MoveRobots(size_t max_urls);
  Result<size_t> GiveRobots(const std::function<void(VisitPtr)>& give);
  Result<size_t> GivePages(const std::function<void(VisitPtr)>& give);
  // Null if it is not to be fetched now.
  Result<VisitPtr> MakeVisit(uint64_t place, std::string_view bytes);

  std::string SaveState() const;
  Status RestoreState(std::string_view bytes);
  Status ResumeWalks(const FrontierState& state);

  // Whether no more visits may be given out for want of memory.
  bool VisitsAreUsedUp() const {
    return parts_.visits != nullptr && parts_.visits->IsUsedUp();
  }

  const Parts parts_;
  const MemoryPlan plan_;
  const size_t step_urls_;  // URLs in memory of a step and stage
  scope::Scope scope_;
  Accounts accounts_;
  std::unique_ptr<seen::Seen> seen_;
  std::unique_ptr<caps::Caps> caps_;                    // with a cap
  std::unique_ptr<reputation::Reputation> reputation_;  // with budgets
  std::unique_ptr<budget::Budget> budget_;              // with budgets
  std::optional<FreshLinks> fresh_links_;               // with budgets
  std::unique_ptr<budget::PassThrough> pass_through_;   // without
  std::unique_ptr<robots::RobotsStage> robots_;
  std::unique_ptr<disk_queue::QueueSet> queues_;  // ready, and parked

  // Of the journal: what has come too early, and what is being taken.
  uint64_t next_entry_ = 1;
  std::map<uint64_t, Arrived> arrived_;
  bool is_stuck_ = false;
  Progress progress_;       // of next_entry_
  size_t link_offset_ = 0;  // in its links

  std::deque<ToRobots> to_robots_;
  std::deque<PendingNote> notes_;
  PlaceWindow places_;
  // What entries after the manifest have ended, until it comes up.
  EndedAttempts ended_attempts_;
  std::set<DueSlot> due_slots_;  // with parked URLs
  std::deque<Unparked> unparked_;
  std::deque<Retry> retries_;  // one after the other
  // Of the first of them: where the queue of failed URLs ended at its begin.
  std::optional<uint64_t> retry_until_;
  std::deque<Failed> failed_;
  uint64_t parked_ = 0;
  uint64_t wanted_ = 0;
  Lookahead lookahead_;
  // Of a checkpoint that is being begun: the parts noted so far; and of one
  // that is being finished: how many stages are.
  ManifestParts noted_;
  size_t finished_ = 0;
  std::string parent_;  // of a record that is being read
};

}  // namespace nephila::crawl
