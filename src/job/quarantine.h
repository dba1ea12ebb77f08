// Quarantine: pages whose reading ends the process (VN s4.2). A page that did
// so twice in a row is named and left out: it gives no links any more, and the
// crawl goes on.
//
//   In: which page a thread reads now, by its key   Out: whether it is to be
//   left alone; after a restart, the pages that are new among those
//   Disk: `slots` and `quarantine` of the job's folder; docs/formats/job.md
//   Threads: each has a slot of its own, and Holds is for any
//   Cost: two small writes of the kernel for a page, and no sync
//
// A slot says what its thread reads. It outlives the process that is killed or
// crashes, which is all that it is for. Under another boot it means nothing: of
// slots that were not synced the power may leave one in use whose page was read
// to its end.
// At Open each slot that is in use is a strike for its page, and a page that
// was read to its end has none. So a page is left out after two processes that
// died, one after the other, over this very page: by themselves, or killed
// because they used up memory or time. Somebody who kills processes at random
// meets the same page twice in a row hardly ever.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/mutex.h"
#include "base/result.h"

namespace nephila::job {

inline constexpr std::string_view kSlotsName = "slots";
inline constexpr std::string_view kQuarantineName = "quarantine";
// Strikes that a page is left out for.
inline constexpr uint32_t kMostStrikes = 2;

class Quarantine {
 public:
  // Counts the strikes of the process before, durably. `dir` is the job's
  // folder, `slots` how many threads read pages, `boot_id` the name of this
  // boot of the machine, if it has one. kCorruption if the file `quarantine` is
  // damaged. `fs` outlives this.
  static Result<std::unique_ptr<Quarantine>> Open(
      FileSystem& fs, const std::string& dir, size_t slots,
      const std::string& boot_id = "");

  // Looks at the file `quarantine` and changes nothing; kCorruption as above.
  static Status Check(FileSystem& fs, const std::string& dir);
  // The same: strikes of a page, 0 for most.
  static Result<uint32_t> StrikesOf(FileSystem& fs, const std::string& dir,
                                    uint64_t key);

  // The page with this key is left out. Constant while this lives.
  bool Holds(uint64_t key) const;
  // URLs of pages that are left out from now on, by this Open.
  const std::vector<std::string>& added() const { return added_; }
  // Of all of them.
  size_t size() const;

  // The key of a page's entry while the frontier takes it, which is apart from
  // the reading of the page.
  static uint64_t TakingKey(uint64_t key) { return key ^ 0x9e3779b97f4a7c15; }

  // Around the reading of a page, by the owner of the slot. Of a URL as much
  // is kept as fits. An error is one of the disk.
  Status Begin(size_t slot, uint64_t key, std::string_view url);
  Status End(size_t slot, uint64_t key) NEPHILA_EXCLUDES(mutex_);
  // The page is left before its end, for the same thread to come back to it:
  // neither a strike nor the end of one.
  Status Leave(size_t slot);
  // Makes it durable that pages with a strike were read to their end.
  Status Save() NEPHILA_EXCLUDES(mutex_);

 private:
  struct Page {
    uint32_t strikes = 0;
    std::string url;
  };

  Quarantine(FileSystem& fs, const std::string& dir,
             const std::string& boot_id = "");
  uint64_t SlotSalt(size_t slot) const;
  // Both files, as the last process left them.
  Status ReadPages();
  Result<bool> CountStrikes();
  Status MakeSlots(size_t slots);
  Status Write() NEPHILA_REQUIRES(mutex_);
  std::string Format() const NEPHILA_REQUIRES(mutex_);
  bool Parse(std::string_view text) NEPHILA_REQUIRES(mutex_);

  FileSystem& fs_;
  const std::string slots_path_;
  const std::string pages_path_;
  const uint64_t boot_salt_;
  std::unique_ptr<File> slots_;
  uint64_t run_ = 0;       // of the slots
  size_t slot_count_ = 0;  // in their file
  std::vector<std::string> added_;
  std::map<uint64_t, std::string> held_;

  mutable Mutex mutex_;
  uint64_t counted_run_ NEPHILA_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Page> pages_ NEPHILA_GUARDED_BY(mutex_);
  bool changed_ NEPHILA_GUARDED_BY(mutex_) = false;
  // Pages with a strike that are not left out; most often none, which a
  // reader sees without the lock.
  std::atomic<size_t> struck_{0};
};

}  // namespace nephila::job
