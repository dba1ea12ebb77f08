// CommitWriter: makes commits durable, and removes what they free.
//
// The order is all: first the data that a commit names and the names of its
// files, then the commit. Until its frame is whole and synced there is no such
// commit, and everything that the one before names is still there.
//
// Threads: Finish may run beside everything but Begin and Restore.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/commit_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mutex.h"
#include "base/result.h"
#include "drum/block_file.h"
#include "drum/journal.h"

namespace nephila::drum {

class CommitWriter {
 public:
  // All of these outlive the writer.
  CommitWriter(FileSystem& fs, const std::string& dir,
               const StoreHeader& header)
      : fs_(fs), dir_(dir), header_(header) {}

  // Goes on from a commit: cuts what stands behind it in its journal, and
  // removes all files but those in `keep`.
  Status Restore(const StoreState& state, const std::set<std::string>& keep);

  // As best it can: what stays is removed by the next Open.
  void RemoveFiles(const std::vector<std::string>& names);

  // A file that the next commit names and that was written by others.
  void SyncLater(const std::string& path) { sync_paths_.insert(path); }
  void ForgetSync(const std::string& path) { sync_paths_.erase(path); }

  // Whether the next commit should begin a new journal: the first of a
  // process, and whenever this one is `slack` bytes larger than twice a whole.
  bool WantsWhole(uint64_t slack) const;
  bool is_first() const { return !committed_; }
  const std::string& journal() const { return journal_; }

  // REQUIRES: not IsPending().
  void Begin(uint64_t generation, bool whole, std::string commit,
             std::vector<std::shared_ptr<BlockFile>> unsynced,
             std::vector<std::string> remove);
  // Does what Begin noted. kNoSpace: call again. Other errors are final.
  Status Finish() NEPHILA_EXCLUDES(mutex_);

  bool IsPending() const NEPHILA_EXCLUDES(mutex_);
  uint64_t durable_generation() const NEPHILA_EXCLUDES(mutex_);
  // The error that ended the store, from here or by Fail.
  bool has_failed() const { return has_failed_; }
  std::optional<Error> failure() const NEPHILA_EXCLUDES(mutex_);
  void Fail(const Error& error) NEPHILA_EXCLUDES(mutex_);
  uint64_t bytes_written() const NEPHILA_EXCLUDES(mutex_);

 private:
  struct Pending {
    uint64_t generation = 0;
    bool whole = false;
    std::string commit;
    std::vector<std::shared_ptr<BlockFile>> files;
    std::set<std::string> paths;
    std::vector<std::string> remove;
  };

  Status SyncData(const Pending& pending);
  Status WriteCommit(const Pending& pending);
  Unexpected<Error> Final(Error error) NEPHILA_EXCLUDES(mutex_);

  FileSystem& fs_;
  const std::string& dir_;
  const StoreHeader& header_;

  // Begin's, and read by Finish while it is pending.
  std::string journal_;
  bool committed_ = false;
  std::set<std::string> sync_paths_;
  Pending next_;
  // Finish's.
  CommitFile journal_file_;
  std::set<std::string> durable_names_;

  mutable Mutex mutex_;
  bool pending_ NEPHILA_GUARDED_BY(mutex_) = false;
  uint64_t durable_ NEPHILA_GUARDED_BY(mutex_) = 0;
  uint64_t bytes_written_ NEPHILA_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> has_failed_{false};
  std::optional<Error> failure_ NEPHILA_GUARDED_BY(mutex_);
};

}  // namespace nephila::drum
