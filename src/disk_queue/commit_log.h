// CommitLog: where the commits of a set of queues stand, and how one becomes
// durable.
//
// A log is a file of frames (base/bytes.h): a head, then one frame a commit.
// The first is whole, the others say what changed since the one before; so a
// commit is one append and one sync, however many queues there are. A log that
// has grown is left for a new one, whose first commit is whole again. Its name
// is the generation of that commit; so a generation stands in the log with the
// largest name up to it.
//
// The order is all: first the data that a commit names and the names of its
// files, then the commit. Until its frame is whole and synced there is no such
// commit, and everything that the one before names is still there.
//
// Room is freed by commits alone, so a disk that is full must not stop them: a
// file of `reserve_bytes` is kept, and given up for the commit that finds no
// room. It is made again as soon as that is possible; until then no log is left
// for a new one, for that takes more. A file system that cannot reserve has
// none.
//
// In: commits as bytes (set_state.h), files to sync before, files to remove.
// Threads: one; Finish may run beside everything but Restore and Begin.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/commit_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mutex.h"
#include "base/result.h"
#include "disk_queue/set_state.h"

namespace nephila::disk_queue {

// Larger commits are not read; options keep what is in memory far below.
inline constexpr uint32_t kMostCommitBytes = uint32_t{3} << 30;

std::string LogName(uint64_t first_generation);
// The generation in the name of a log; nothing for other names.
std::optional<uint64_t> LogGeneration(std::string_view name);
// What is fixed when a set is made.
struct SetHead {
  bool operator==(const SetHead&) const = default;

  uint64_t salt = 0;
  Geometry geometry;
};

// The first frame of a log.
std::string LogHead(const SetHead& head, uint64_t first_generation);
// Makes `frame`, room for a frame's head and then a commit, the frame that
// stands at `offset` of its log.
void SealCommit(uint64_t set_salt, uint64_t offset, std::string& frame);

struct LoadedSet {
  SetHead head;
  SetState state;
  uint64_t log = 0;      // the first generation of the log it was read from
  uint64_t log_end = 0;  // where its commit ends there
};

// kNotFound if no log has that generation; kCorruption, naming file and
// offset, if one should.
Result<LoadedSet> LoadSet(FileSystem& fs, const std::string& dir,
                          uint64_t generation);
Result<uint64_t> NewestGeneration(FileSystem& fs, const std::string& dir);
// Whether `dir` holds a set.
Result<bool> HasLog(FileSystem& fs, const std::string& dir);

class CommitLog {
 public:
  // `fs` outlives this.
  CommitLog(FileSystem& fs, std::string dir, const SetHead& head,
            uint64_t reserve_bytes);

  // Makes the commit that was loaded durable, as a killed process may have
  // left it, and those behind it void; removes the files of `dir` that are
  // not in `keep` and no logs of commits from `keep_from` on.
  Status Restore(const LoadedSet& loaded, const std::set<std::string>& keep,
                 uint64_t keep_from);

  // Whether the next commit has to be whole.
  bool WantsWhole() const;
  // `frame` is room for a frame's head, then the commit; `sync` and `remove`
  // are files of segments; logs that end before `keep_from` go.
  // REQUIRES: no commit is pending.
  void Begin(uint64_t generation, bool whole, std::string frame,
             std::set<uint64_t> sync, bool new_names,
             const std::vector<uint64_t>& remove, uint64_t keep_from);
  Status Finish() NEPHILA_EXCLUDES(mutex_);

  bool IsPending() const NEPHILA_EXCLUDES(mutex_);
  uint64_t durable_generation() const NEPHILA_EXCLUDES(mutex_);
  uint64_t bytes_written() const NEPHILA_EXCLUDES(mutex_);

  // After an error that is final every later call has to return it.
  void Fail(const Error& error) NEPHILA_EXCLUDES(mutex_);
  bool has_failed() const { return has_failed_; }
  Status Failure() const NEPHILA_EXCLUDES(mutex_);

 private:
  struct Pending {
    uint64_t generation = 0;
    bool whole = false;
    std::string frame;
    std::set<uint64_t> sync;  // files
    bool new_names = false;
    std::vector<std::string> remove;
  };
  struct OldLog {
    uint64_t first = 0;
    uint64_t last = 0;  // commit
  };

  Status SyncData();
  Status WriteCommit();
  Status TryToWriteCommit();
  Status MakeReserve();
  Unexpected<Error> Final(Error error) NEPHILA_EXCLUDES(mutex_);

  FileSystem& fs_;
  const std::string dir_;
  const SetHead head_;

  // Begin's, and read by Finish while a commit is pending.
  std::optional<OldLog> current_;
  std::vector<OldLog> old_;
  Pending next_;
  // Finish's.
  CommitFile file_;
  const uint64_t reserve_bytes_;
  std::atomic<bool> has_reserve_{false};
  std::atomic<bool> no_reserve_{false};  // the file system cannot

  mutable Mutex mutex_;
  bool pending_ NEPHILA_GUARDED_BY(mutex_) = false;
  uint64_t durable_ NEPHILA_GUARDED_BY(mutex_) = 0;
  uint64_t bytes_written_ NEPHILA_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> has_failed_{false};
  std::optional<Error> failure_ NEPHILA_GUARDED_BY(mutex_);
};

}  // namespace nephila::disk_queue
