// Seen: the stage `seen`, which lets each URL through once in the life of a
// crawl (URLseen of IRLbot s4.3, by a Drum with check+update).
//   In: canonical URLs as UrlRecords (item/url_record.h), with their keys
//   Out: those that are new, in the order in which they came
//   Drop: extension (seen.skip_extensions), duplicate
//   Disk: a Drum; what waits to be taken is in the commit's bytes
//   Threads: one; the work is done by the Workers of the context
//   Cost: that of the Drum (docs/drum-model.md); memory is fixed
//
// Steps, none of which waits: Add, then Step to hand on what is ready, RunDry
// when the stage behind has nothing to do, so that a small crawl need not wait
// for a full batch.
//
// A commit is bytes for the manifest; Open of them gives exactly that state,
// and what was handed on since comes again. The cache of recent links is not
// part of it: it changes which duplicates reach the disk, never what comes out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "base/result.h"
#include "config/settings.h"
#include "drum/clock_cache.h"
#include "drum/drum.h"
#include "drum/stage_access.h"
#include "item/admission.h"
#include "item/url_record.h"
#include "seen/extension_filter.h"
#include "url/keys.h"

namespace nephila::seen {

enum class DropReason : uint8_t { kExtension, kDuplicate };
inline constexpr std::array<std::string_view, 2> kDropReasonNames = {
    "extension", "duplicate"};

struct SeenOptions {
  config::SeenSettings settings;
  uint64_t seed = 0;  // of the job's keys
  uint64_t memory_bytes = uint64_t{64} << 20;
  uint64_t disk_bytes = uint64_t{1} << 30;
  // What the model of the cache is asked with.
  double host_delay_s = 40;
  double disk_bytes_per_s = 100e6;
};

struct SeenStats {
  uint64_t cache_bytes = 0;  // 0: there is none
  uint64_t cache_hits = 0;   // since it was opened
  uint64_t waiting = 0;      // new URLs that were not taken yet
  drum::DrumStats drum;
};

class Seen {
 public:
  // `dir` is an empty directory.
  static Result<std::unique_ptr<Seen>> Create(const drum::DrumContext& context,
                                              const std::string& dir,
                                              SeenOptions options);
  // The state that `commit` names; kNotFound if it is gone, kCorruption if
  // these bytes are no commit.
  static Result<std::unique_ptr<Seen>> Open(const drum::DrumContext& context,
                                            const std::string& dir,
                                            SeenOptions options,
                                            std::string_view commit);
  Seen(const Seen&) = delete;
  Seen& operator=(const Seen&) = delete;

  // `key` is that of the record's URL. kFull until steps and commits make room.
  // REQUIRES: IsValid(record).
  Result<item::Admission> Add(const item::UrlRecord& record, url::UrlKey key);

  // Hands it on though it was seen: it is asked for again. kFull while others
  // wait to be taken. REQUIRES: IsValid(record).
  item::Admission AddAgain(const item::UrlRecord& record);

  // Hands on up to `max_urls` new URLs while `sink` takes them, and looks at no
  // more than `max_urls` links. Returns how many links it was done with; 0:
  // nothing is ready, or nothing was taken.
  Result<size_t> Step(const item::RecordSink& sink, size_t max_urls);
  // The stage behind has run dry. Returns whether something will come.
  Result<bool> RunDry();
  // All that was added until now will come.
  Status Flush() { return drum_->Flush(); }
  // What was added until now is to come soon, while passes are cheap; whether
  // it has, and was taken.
  Status BeginFresh() { return fresh_.Begin(*drum_); }
  bool IsFresh() const { return waiting_.empty() && fresh_.IsOver(*drum_); }
  // With workers that have threads: until something is ready, or nothing will.
  Status Wait() { return drum_->Wait(); }
  // Nothing is held.
  bool IsEmpty() const { return account_.Totals().held == 0; }

  // In two steps, as of a Drum: the bytes are good once Finish has returned.
  Result<std::string> BeginCommit();
  Status FinishCommit() { return drum_->FinishCommit(); }

  const StageAccount& account() const { return account_; }
  SeenStats stats() const;

 private:
  Seen(SeenOptions options, uint64_t cache_bytes);

  drum::DrumOptions MakeDrumOptions(uint64_t cache_bytes) const;
  bool Restore(std::string_view state);

  const SeenOptions options_;
  const ExtensionFilter filter_;
  std::optional<drum::ClockCache> cache_;
  uint64_t cache_hits_ = 0;
  std::unique_ptr<drum::Drum> drum_;
  drum::FreshPass fresh_;
  std::deque<std::string> waiting_;  // new, and not taken yet
  std::string encoded_;
  StageAccount account_{"seen", kDropReasonNames};
};

}  // namespace nephila::seen
