// Budget: the stage `budget`, which lets a domain's URLs through at the rate
// that its reputation is worth (BEAST; IRLbot s6.2, thesis ch. VII).
//   In: new URLs as encoded UrlRecords; in-degrees of domains
//   Out: the same URLs, each once, with the budget of their domain; changes of
//        in-degrees, for whoever makes the budget function
//   Drop: nothing: what has no budget waits
//   Disk: a Drum of domains' records (folder/domains) and the queues
//         (folder/queues); the rest is in the commit's bytes
//   Threads: one; the work is done by the Workers of the context
//   Cost: a URL is written and read about twice, whatever waits (Theorem 7 of
//         the thesis); memory is fixed, nothing is kept per domain
//
// A URL first waits in the Drum for a pass, which meets its domain's record and
// says the queue (assignment.h); then in that queue until it is read, or in Q_F
// until that is split (rounds.h). Steps, none of which waits: Add, then Step to
// move on what can be, Take to get URLs from the queue that is read, RunDry
// when that had none.
//
// A commit is bytes for the manifest; Open of them gives exactly that state,
// and what was taken since comes again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"
#include "budget/assignment.h"
#include "budget/queue_record.h"
#include "budget/rounds.h"
#include "config/settings.h"
#include "disk_queue/queue_set.h"
#include "drum/drum.h"
#include "drum/stage_access.h"
#include "item/admission.h"
#include "url/keys.h"

namespace nephila::budget {

struct BudgetOptions {
  config::BudgetSettings settings;
  uint64_t seed = 0;  // of the job's keys
  // Of the Drum and of the queues.
  uint64_t drum_memory_bytes = uint64_t{64} << 20;
  uint64_t drum_disk_bytes = uint64_t{1} << 30;
  uint64_t queue_memory_bytes = uint64_t{64} << 20;
  // tau_h and its floor, as `politeness` has them; 0: no cap by time.
  std::chrono::nanoseconds host_delay{0};
  std::chrono::nanoseconds host_delay_floor{0};
  // F, asked when a pass begins (item/budget_function.h). Not null.
  std::function<std::string()> function;
  // A domain's in-degree was changed. Called by Step; may be null.
  std::function<void(uint64_t before, uint64_t after)> degree_changed = nullptr;
  // A queue that had URLs is read to its end, and others wait in later ones or
  // in Q_F: whether to go on, now. Asked by Step and Take, again and again
  // until it says yes; may be null.
  std::function<Result<bool>()> may_leave = nullptr;
};

using BudgetSink = std::function<void(const BudgetedUrl& url)>;

struct BudgetStats {
  uint64_t current = 0;  // c
  uint64_t queues = 0;   // j
  uint64_t splits = 0;   // of Q_F
  bool is_splitting = false;
  uint64_t in_drum = 0;                    // URLs that wait for a pass
  uint64_t in_queues = 0;                  // numbered ones
  uint64_t in_failed = 0;                  // Q_F
  std::chrono::nanoseconds queue_time{0};  // T
  // Of URLs, since it was opened: what Theorems 6 and 7 count.
  uint64_t queue_writes = 0;
  uint64_t queue_reads = 0;
  drum::DrumStats drum;
  disk_queue::QueueSetStats queue_set;
};

class Budget {
 public:
  // `dir` is an empty directory.
  static Result<std::unique_ptr<Budget>> Create(
      const drum::DrumContext& context, const std::string& dir,
      BudgetOptions options);
  // The state that `commit` names; kNotFound if it is gone, kCorruption if
  // these bytes are no commit.
  static Result<std::unique_ptr<Budget>> Open(const drum::DrumContext& context,
                                              const std::string& dir,
                                              BudgetOptions options,
                                              std::string_view commit);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // kFull until steps and commits make room. kInvalidArgument for bytes that
  // are no record.
  Result<item::Admission> Add(std::string_view record);
  // `count` more domains link to `pld`.
  Result<item::Admission> AddInDegree(url::PldKey pld, uint64_t count);

  // Moves on up to `max_urls` URLs from the Drum to their queues, and as many
  // from Q_F to the Drum if it is being split. Returns how many; 0: nothing
  // can be done now.
  Result<size_t> Step(size_t max_urls);
  // Hands on up to `max_urls` URLs that are due; returns how many.
  Result<size_t> Take(size_t max_urls, const BudgetSink& sink);
  // Take had none. Returns whether something will come without new URLs.
  Result<bool> RunDry();
  // All that was added until now will get its queue.
  Status Flush() { return drum_->Flush(); }
  // The same soon, while passes are cheap; whether it has.
  Status BeginFresh() { return fresh_.Begin(*drum_); }
  bool IsFresh() const { return placed_.empty() && fresh_.IsOver(*drum_); }
  // With workers that have threads: until a step has something to do.
  Status Wait() { return drum_->Wait(); }
  // Nothing is held.
  bool IsEmpty() const { return account_.Totals().held == 0; }

  // In two steps, as of a Drum: the bytes are good once Finish has returned.
  // To be taken at the same moment as the commit of `reputation`. kNoSpace
  // from either: the same call again once there is room.
  Result<std::string> BeginCommit();
  Status FinishCommit();

  const StageAccount& account() const { return account_; }
  BudgetStats stats() const;

 private:
  class AnswerReceiver;
  // A URL with its queue, on its way there.
  struct Placed {
    uint64_t queue = 0;  // of the QueueSet
    bool of_split = false;
    std::string record;
  };
  // Of Q_F, on its way to the Drum.
  struct Rescued {
    uint64_t ordinal = 0;
    std::string record;  // without its budget
  };

  Budget(const drum::DrumContext& context, BudgetOptions options);

  drum::DrumOptions MakeDrumOptions();
  std::string FreezeParameters();
  bool Restore(ByteReader& reader);
  bool CountQueues();

  Result<item::Admission> AddUrl(std::string_view record, TupleKind kind);
  Status AppendPlaced();
  Result<size_t> DeliverAnswers(size_t max_urls);
  Result<size_t> SplitStep(size_t max_urls);
  Status ReadFailed(size_t max_urls);
  Status EndSplitIfOver();
  // Goes on to the next queue that has URLs, as far as may be.
  Status Advance();
  bool PassIsOn();
  std::chrono::nanoseconds QueueTime() const;

  const drum::DrumContext context_;
  const BudgetOptions options_;
  std::unique_ptr<drum::Drum> drum_;
  drum::FreshPass fresh_;
  std::unique_ptr<disk_queue::QueueSet> queues_;
  Rounds rounds_;

  // The pass whose parameters were asked for last: where c was, and how many
  // passes had been delivered; until one more has, it is on.
  bool pass_is_on_ = false;
  uint64_t pass_begun_at_ = 0;
  uint64_t passes_before_ = 0;

  std::deque<Placed> placed_;
  std::deque<Rescued> rescued_;
  uint64_t in_drum_ = 0;
  uint64_t in_queues_ = 0;
  uint64_t in_failed_ = 0;
  uint64_t queue_writes_ = 0;
  uint64_t queue_reads_ = 0;

  // Of the queue that is read, and of those before it.
  MonoTime queue_began_;
  bool queue_had_urls_ = false;
  std::chrono::nanoseconds queue_time_{0};

  StageAccount account_{"budget", {}};
};

}  // namespace nephila::budget
