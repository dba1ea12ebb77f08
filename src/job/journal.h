// Journal: the truth of a crawl. What is in it has happened; all else follows
// from it.
//
// In: entries as bytes (entry.h says what is in them), from all who finish
// attempts. Out: their numbers, from 1, in one order; and after a restart the
// entries themselves.
//
// An entry is with the system when Append returns, so a killed process loses
// none; it is durable after the next Sync. Covered says what two durable
// manifests no longer need; files that hold nothing else go.
//
// Space that runs out leaves all as it was, and the same call works when there
// is room; before that the journal gives back a reserve of its own and tries
// again, so that the ends of what is in flight can be noted on a full disk. Any
// other failed write, and any failed sync, is final: every later call returns
// it, and the process has to end.
//   Disk: append-only files of a folder (docs/formats/journal.md).
//   Threads: Append, next, synced, Read by any; Sync and Covered by any too,
//   and neither holds up an Append.
//   Cost: Append is one write of the kernel, and no sync.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/mutex.h"
#include "base/result.h"
#include "job/journal_reader.h"
#include "job/reserve.h"

namespace nephila::job {

// Larger entries are refused: a compiled robots.txt of 1 MiB fits.
inline constexpr uint32_t kMostEntryBytes = uint32_t{2} << 20;

struct JournalOptions {
  // A file that has so many is left for a new one; the entries that a restart
  // found are one file, whatever their size.
  uint64_t file_bytes = uint64_t{64} << 20;
  uint64_t reserve_bytes = uint64_t{16} << 20;
  // Of a new journal: a job's random number, so that no other job's bytes pass
  // for this one's. One that is there keeps its own.
  uint64_t salt = 0;
};

class Journal {
 public:
  // Opens the journal in `dir`, a folder that is there, or makes it. `from` is
  // the first entry that the manifest does not cover, 1 without one. What
  // follows the last whole entry is cut, but never below `from`: kCorruption
  // then, and nothing was changed. The entries from `from` on are written
  // anew, so they are durable whatever became of the process that wrote them.
  // `fs` outlives this.
  static Result<std::unique_ptr<Journal>> Open(FileSystem& fs, std::string dir,
                                               const JournalOptions& options,
                                               uint64_t from);

  // The number of the entry. kNoSpace: nothing was appended, call again.
  // kInvalidArgument for one above kMostEntryBytes.
  Result<uint64_t> Append(std::string_view bytes) NEPHILA_EXCLUDES(mutex_);
  // Makes all that was appended before the call durable.
  Status Sync() NEPHILA_EXCLUDES(mutex_);
  // No one will ask for the entries up to `number` again: the older of two
  // durable manifests covers them.
  Status Covered(uint64_t number) NEPHILA_EXCLUDES(mutex_);

  // Entries from `from` on, up to the last one appended by now.
  // REQUIRES: from - 1 is not below what Covered was last told.
  Result<JournalReader> Read(uint64_t from) NEPHILA_EXCLUDES(mutex_);

  // The number that the next entry will have.
  uint64_t next() const { return next_; }
  // Entries up to this one are durable.
  uint64_t synced() const { return synced_; }
  // Whether the reserve was needed and is not held again yet: only ends of
  // what is in flight should be appended.
  bool on_reserve() const { return reserve_.is_missing(); }
  // What Open cut off, for a line in the log.
  const std::optional<JournalCut>& cut() const { return cut_; }

 private:
  struct OpenFile {
    uint64_t first = 0;
    std::unique_ptr<File> file;
    uint64_t end = 0;
  };

  Journal(FileSystem& fs, std::string dir, const JournalOptions& options);

  // The parts of Open.
  Status Restore(uint64_t from);
  Result<std::unique_ptr<AsideFile>> CopyAside(uint64_t from);
  Status DropOthers(uint64_t from);
  Status RemoveAsides();

  // frame_ goes to the end.
  Status Write() NEPHILA_REQUIRES(mutex_);
  Status TryWrite() NEPHILA_REQUIRES(mutex_);
  Status BeginFile() NEPHILA_REQUIRES(mutex_);
  Unexpected<Error> Final(Error error) NEPHILA_REQUIRES(mutex_);
  Unexpected<Error> Fail(Error error) NEPHILA_EXCLUDES(mutex_);
  std::string Path(uint64_t first) const;

  FileSystem& fs_;
  const std::string dir_;
  const JournalOptions options_;
  uint64_t salt_ = 0;
  std::optional<JournalCut> cut_;

  // Held through a sync; before mutex_.
  Mutex sync_mutex_ NEPHILA_ACQUIRED_BEFORE(mutex_);
  Mutex mutex_;
  Reserve reserve_;
  std::shared_ptr<OpenFile> current_ NEPHILA_GUARDED_BY(mutex_);
  // Files before it that are yet to be synced.
  std::vector<std::shared_ptr<OpenFile>> unsynced_ NEPHILA_GUARDED_BY(mutex_);
  // All files on disk, by their first entries.
  std::vector<uint64_t> firsts_ NEPHILA_GUARDED_BY(mutex_);
  bool new_names_ NEPHILA_GUARDED_BY(mutex_) = false;
  std::optional<Error> failure_ NEPHILA_GUARDED_BY(mutex_);
  std::string frame_ NEPHILA_GUARDED_BY(mutex_);
  std::atomic<uint64_t> next_{1};
  std::atomic<uint64_t> synced_{0};
};

}  // namespace nephila::job
