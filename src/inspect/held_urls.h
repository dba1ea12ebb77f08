// HeldUrls: the URLs that wait anywhere in a job, with the place where each is:
// what `nephila list waiting` prints and `nephila why` looks through.
//
// In the order in which they are likely to be fetched: what is ready, what is
// parked by its time, then `robots`, `budget` and `seen`, and at the end seeds
// that the last manifest does not know yet. Attempts that have ended since are
// left out, and those of them that will be tried again come as parked.
//   In: a JobView   Out: records and places, one at a time
//   Not seen: links of pages that were fetched since the last manifest
//   Threads: one   Memory: a block, and 16 bytes for each attempt since the
//   last manifest   Cost: each queue and batch is read once
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "inspect/job_view.h"
#include "item/url_record.h"

namespace nephila::inspect {

enum class HeldIn : uint8_t {
  kReady,           // may be fetched, when its host may; or is being fetched
  kParked,          // for a time: its host is left alone, or it is tried again
  kToRobots,        // on its way to `robots`
  kRobotsDecided,   // robots.txt has been asked, it moves on with the next step
  kRobotsWaiting,   // Q_R: for the robots.txt of its site
  kRobotsParked,    // its robots.txt is unreachable, until a time
  kRobotsChecking,  // for a pass of RobotsCache
  kBudgetQueue,     // a queue of BEAST
  kBudgetFailed,    // Q_F
  kBudgetPass,      // for the pass that gives it a queue
  kCapsThrough,     // within the limits, about to leave `caps`
  kCapsPass,        // for the pass that counts it
  kSeenNew,         // found new, about to leave `seen`
  kSeenLink,        // a link that waits for the pass of `seen`
  kSeed,            // a seed that no manifest covers
};
inline constexpr size_t kHeldPlaces = 15;

// "ready", "parked", "robots-waiting": in lists and JSON.
std::string_view HeldInName(HeldIn where);
// The stage that has it.
std::string_view StageOf(HeldIn where);

struct HeldUrl {
  HeldIn where = HeldIn::kReady;
  item::UrlRecord record;         // with its parent
  uint64_t budget = 0;            // of its domain, where that is known
  std::optional<uint64_t> queue;  // of BEAST
  uint64_t ahead = 0;             // records before it in its queue
  std::optional<uint64_t> place;  // kReady: its place, which its attempt has
  std::optional<WallTime> due;    // kParked, kRobotsParked
};

class HeldUrls {
 public:
  // False ends it.
  using Sink = std::function<Result<bool>(const HeldUrl& url)>;
  // A store that was larger than what was to be read.
  struct Skipped {
    std::string name;
    uint64_t bytes = 0;
  };

  // `job` outlives this. A store of more than `most_bytes` is not read.
  HeldUrls(const JobView& job, uint64_t most_bytes)
      : job_(job), most_bytes_(most_bytes) {}

  Status ForEach(const Sink& sink);
  const std::vector<Skipped>& skipped() const { return skipped_; }

 private:
  Status ReadTail();
  // Whether to go on.
  Result<bool> Ready();
  Result<bool> Parked();
  Result<bool> Retried();
  Result<bool> Robots();
  Result<bool> Budget();
  Result<bool> Caps();
  Result<bool> Seen();
  Result<bool> Seeds();
  Result<bool> Give(std::string_view bytes, HeldUrl url);
  bool Skips(std::string name, uint64_t bytes);

  const JobView& job_;
  const uint64_t most_bytes_;
  const Sink* sink_ = nullptr;
  std::vector<Skipped> skipped_;
  // Of entries behind the manifest.
  struct Again {
    std::string record;
    uint64_t budget = 0;
    std::optional<WallTime> due;  // nothing: at once
  };
  std::unordered_set<uint64_t> ended_;  // attempts
  std::vector<Again> again_;
  std::vector<std::string> seeds_;
  std::string parent_;
};

}  // namespace nephila::inspect
