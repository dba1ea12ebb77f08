// Reputation: the stage `reputation`, which counts the domains that link to a
// domain and makes budgets of it (STAR; IRLbot s5.2, thesis ch. VI).
//   In: links between pay-level domains, as the pages have them
//   Out: for each domain how many more domains link to it, every edge once;
//        the budget function F
//   Drop: same-domain, duplicate
//   Disk: a Drum of edges; the rest is in the commit's bytes
//   Threads: one; the work is done by the Workers of the context
//   Cost: that of the Drum, 20 bytes an edge and pass; memory is fixed
//
// The paper keeps the neighbours' hashes in the value of each domain. Here a
// Drum of distinct edges feeds the counts, which are in the domains' records of
// `budget`, where the budgets are needed: so no value is large, and one pass
// both reads d_x and enforces B_x. What comes back from there, d_x before and
// after, keeps the histogram from which F is made (degree_histogram.h).
//
// In a crawl of some sites there are no budgets, and no Reputation is made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "base/result.h"
#include "config/settings.h"
#include "drum/clock_cache.h"
#include "drum/drum.h"
#include "drum/stage_access.h"
#include "item/admission.h"
#include "reputation/degree_histogram.h"
#include "reputation/pair_aggregator.h"
#include "reputation/top_k.h"
#include "url/keys.h"

namespace nephila::reputation {

enum class DropReason : uint8_t { kSameDomain, kDuplicate };
inline constexpr std::array<std::string_view, 2> kDropReasonNames = {
    "same-domain", "duplicate"};

struct ReputationOptions {
  config::ReputationSettings settings;
  uint64_t seed = 0;  // of the job's keys
  uint64_t memory_bytes = uint64_t{64} << 20;
  uint64_t disk_bytes = uint64_t{1} << 30;
};

// `count` more domains link to `to`.
struct InDegree {
  url::PldKey to;
  uint64_t count = 0;
};
using InDegreeSink = std::function<Result<item::Admission>(const InDegree&)>;

struct ReputationStats {
  uint64_t domains = 0;  // with an in-degree of 1 or more
  uint64_t best = 0;     // K, of that many
  uint64_t cache_hits = 0;
  uint64_t waiting = 0;  // edges that are counted and not handed on
  drum::DrumStats drum;
};

class Reputation {
 public:
  // `dir` is an empty directory. kInvalidArgument for a top_k that is none.
  static Result<std::unique_ptr<Reputation>> Create(
      const drum::DrumContext& context, const std::string& dir,
      ReputationOptions options);
  // The state that `commit` names; kNotFound if it is gone, kCorruption if
  // these bytes are no commit.
  static Result<std::unique_ptr<Reputation>> Open(
      const drum::DrumContext& context, const std::string& dir,
      ReputationOptions options, std::string_view commit);
  Reputation(const Reputation&) = delete;
  Reputation& operator=(const Reputation&) = delete;

  // kFull until steps and commits make room.
  Result<item::Admission> Add(const DomainPair& link);

  // Hands on in-degrees of up to `max_edges` new edges while `sink` takes them.
  // Returns how many edges it was done with; 0: nothing is ready, or nothing
  // was taken.
  Result<size_t> Step(const InDegreeSink& sink, size_t max_edges);
  // Budgets need not be new to the second: passes are begun by full batches,
  // and by this while they are cheap. Returns whether something will come.
  Result<bool> RunDry();
  Status Flush() { return drum_->Flush(); }
  // What was added until now is to come soon, while passes are cheap; whether
  // it has, and was taken.
  Status BeginFresh() { return fresh_.Begin(*drum_); }
  bool IsFresh() const { return waiting_.empty() && fresh_.IsOver(*drum_); }
  // With workers that have threads: until something is ready, or nothing will.
  Status Wait() { return drum_->Wait(); }
  bool IsEmpty() const { return account_.Totals().held == 0; }

  // What `budget` says of an in-degree that it has changed.
  void DegreeChanged(uint64_t before, uint64_t after) {
    histogram_.Move(before, after);
  }
  // F as of now: item/budget_function.h.
  std::string MakeFunction() const;
  // F as of a commit, without its store: for a look at a job.
  static Result<std::string> FunctionOf(
      const config::ReputationSettings& settings, std::string_view commit);

  // In two steps, as of a Drum: the bytes are good once Finish has returned.
  // To be taken at the same moment as the commit of `budget`.
  Result<std::string> BeginCommit();
  Status FinishCommit() { return drum_->FinishCommit(); }

  const StageAccount& account() const { return account_; }
  const DegreeHistogram& histogram() const { return histogram_; }
  ReputationStats stats() const;

 private:
  Reputation(ReputationOptions options, TopK top_k);

  static Result<std::unique_ptr<Reputation>> Make(ReputationOptions options);
  drum::DrumOptions MakeDrumOptions() const;
  // Leaves both keys of the link in edge_.
  uint64_t EdgeKey(const DomainPair& link);
  Result<size_t> HandOn(const InDegreeSink& sink);
  bool Restore(std::string_view state);
  // The state that a commit has; returns the generation of its Drum.
  Result<uint64_t> RestoreCommit(std::string_view commit);

  const ReputationOptions options_;
  const TopK top_k_;
  drum::ClockCache cache_;
  uint64_t cache_hits_ = 0;
  std::unique_ptr<drum::Drum> drum_;
  drum::FreshPass fresh_;
  std::deque<InDegree> waiting_;  // counted, and not taken yet
  std::string edge_;
  DegreeHistogram histogram_;
  StageAccount account_{"reputation", kDropReasonNames};
};

}  // namespace nephila::reputation
