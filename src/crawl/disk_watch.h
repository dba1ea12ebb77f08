// DiskWatch: whether there is room on disk for more pages.
//
//   In: what the file system says is free, about once a second, and writes that
//       were refused for want of space (kNoSpace)
//   Out: whether to wait, when to try again, and both in words
//   Threads: one, the frontier's   Cost: a call of the system a second
//
// Less than `disk.floor` is free where the job is, or in all folders of the
// archive, or the reserve of journal and manifests is in use: then nobody is
// asked for anything; with `disk.margin` more it goes on, so that it does not
// begin and stop all the time. Or a write was refused: then also nothing is
// moved that would write, until a trial says that there is room. A trial is due
// when some more is free than at the refusal, and now and then in any case,
// since a quota does not show in what is free; it is won by a second without
// another refusal.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/result.h"
#include "config/settings.h"

namespace nephila::crawl {

class DiskWatch {
 public:
  // All of it outlives this. `archives`: its folders, of which one with room is
  // enough; they exist.
  struct Parts {
    FileSystem& fs;
    const Clock& clock;
    const config::DiskSettings& settings;
    std::string job;
    std::vector<std::string> archives;
  };

  explicit DiskWatch(const Parts& parts);

  // Looks if that is due. `on_reserve`: what is held back for the ends of what
  // is in flight (job/reserve.h) is in use, or there was no room to hold it. An
  // error is one of the disk.
  Status Look(bool on_reserve);
  MonoTime next_look() const { return next_look_; }
  // A write found no room. Its message names the file.
  void Refused(const Error& error);

  // No lease is to be given.
  bool is_waiting() const {
    return refused_.has_value() || is_low_ || is_on_reserve_;
  }
  // Nothing that writes is to be tried now, besides the ends of what is in
  // flight.
  bool is_refused() const { return refused_.has_value() && !is_trial_; }
  // Rises with each trial: what was refused before is then tried again.
  uint64_t trials() const { return trials_; }
  // Where the job is, by the last look.
  uint64_t free_bytes() const { return places_.front().free; }
  // "disk: 1.2 GiB free, below disk.floor of 2.0 GiB; waiting", or the like;
  // empty while there is room.
  std::string Text() const;

 private:
  struct Place {
    std::string folder;
    uint64_t free = 0;
    uint64_t free_at_refusal = 0;
    bool is_low = false;
  };

  void Judge(Place* place) const;
  void BeginTrialIfDue(MonoTime now);

  const Parts parts_;
  std::vector<Place> places_;  // the job's, then those of the archive
  MonoTime next_look_;
  bool is_low_ = false;
  bool is_on_reserve_ = false;
  std::optional<Error> refused_;
  bool is_trial_ = false;
  uint64_t trials_ = 0;
  MonoTime trial_at_{};  // when the next one is due, or when this one is won
  std::chrono::seconds wait_{0};
};

}  // namespace nephila::crawl
