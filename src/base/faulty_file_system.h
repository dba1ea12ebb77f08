// FaultyFileSystem: wraps a FileSystem and fails at a chosen operation.
//
// Every operation that would change the disk gets a number, 1, 2, 3, ..., in
// one sequence over all files, whether or not the wrapped file system accepts
// it. A crash test runs its work once to learn N = operations(), then for each
// n up to N with StopAt(n) on a fresh MemoryFileSystem, then KillProcess or
// LosePower on that one, and opens what is left without this wrapper; and a
// kill, a recovery and then a power loss, which finds a recovery that builds on
// what is not durable. Opening a file or making a directory that is already
// there changes nothing and has no number. Reads have numbers of their own.
// Thread-safe: operations are made one at a time, in the order of their
// numbers.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory_file_system.h"
#include "base/mutex.h"

namespace nephila {

enum class OperationKind : uint8_t {
  kWrite,
  kSync,
  kTruncate,
  kAllocate,
  kCreate,  // by Open or Lock
  kRename,
  kRemove,  // of a file or a directory
  kMakeDir,
  kSyncDir,
};

struct Operation {
  uint64_t number;
  OperationKind kind;
  std::string path;     // "from -> to" for a rename
  uint64_t offset = 0;  // of a write; the size before for a truncate
  uint64_t length = 0;  // of a write; the size for a truncate or an allocate
};

// "#12 write a/b offset 0 length 512".
std::string DescribeOperation(const Operation& operation);

enum class Fault : uint8_t {
  kEio,         // any operation; of a write some bytes, by the seed, are done
  kNoSpace,     // any but a shrinking truncate and a removal; of an allocate
                // some is done
  kShortWrite,  // a write of two bytes or more
  kSyncFails,   // a sync of a file or a directory, with EIO
  // A sync that fails in any of these ways keeps nothing, and over a
  // MemoryFileSystem no later sync does: see its FailNextSync.
};

enum class StopStyle : uint8_t {
  kClean,      // nothing of the operation is done
  kTornWrite,  // of a write, the first few bytes are, by the seed
};

class FaultyFileSystem final : public FileSystem {
 public:
  // Operations that log() remembers.
  static constexpr size_t kLogLimit = 10000;

  // `base` outlives this.
  explicit FaultyFileSystem(FileSystem& base, uint64_t seed = 0)
      : base_(base),
        memory_(dynamic_cast<MemoryFileSystem*>(&base)),
        seed_(seed) {}

  // The machine stops at the n-th operation: it and all that come after, reads
  // too, return kStopped. A number already passed stands for the next one.
  void StopAt(uint64_t n, StopStyle style = StopStyle::kClean)
      NEPHILA_EXCLUDES(mutex_);
  // The first `times` operations from the n-th on that `fault` can happen to
  // fail, and no others. Several calls add up.
  void FailAt(uint64_t n, Fault fault, uint64_t times = 1)
      NEPHILA_EXCLUDES(mutex_);
  // Each k-th write of two bytes or more writes only some; 0 ends that.
  void ShortWritesEvery(uint64_t k) NEPHILA_EXCLUDES(mutex_);
  // The first `times` reads from the n-th on fail with EIO. A number already
  // passed stands for the next one.
  void FailReadAt(uint64_t n, uint64_t times = 1) NEPHILA_EXCLUDES(mutex_);
  // Each k-th read of two bytes or more gets only some; 0 ends that.
  void ShortReadsEvery(uint64_t k) NEPHILA_EXCLUDES(mutex_);
  // Reads of a File fail with EIO if it was opened under exactly this path, or
  // if renames through this have given it exactly this path since.
  void FailReadsOf(const std::string& path) NEPHILA_EXCLUDES(mutex_);
  // A slow disk: every open, list, read and operation lets `per_call` pass on
  // the clock, and what its bytes take, before it is done. `clock` outlives
  // this. REQUIRES: bytes_per_second > 0; from now on callers hold no mutex
  // that someone waits for the clock with.
  void SlowDown(ManualClock& clock, std::chrono::nanoseconds per_call,
                uint64_t bytes_per_second) NEPHILA_EXCLUDES(mutex_);
  // Ends all of the above, a stop too. Numbers and log go on.
  void Heal() NEPHILA_EXCLUDES(mutex_);

  // How many there were, with the one that stopped the machine, if any.
  uint64_t operations() NEPHILA_EXCLUDES(mutex_);
  uint64_t reads() NEPHILA_EXCLUDES(mutex_);
  bool stopped() NEPHILA_EXCLUDES(mutex_);
  // The last kLogLimit operations, oldest first; the one that stopped the
  // machine is the last.
  std::vector<Operation> log() NEPHILA_EXCLUDES(mutex_);

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenOptions options) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status RemoveDir(const std::string& path) override;
  Status MakeDir(const std::string& path) override;
  Result<std::vector<DirEntry>> List(const std::string& dir) override;
  Result<bool> Exists(const std::string& path) override;
  Result<FileStamp> Stamp(const std::string& path) override;
  Status SyncDir(const std::string& dir) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  Result<uint64_t> FreeSpace(const std::string& dir) override;

 private:
  class FaultyFile;

  // What becomes of an operation: the first `pass` bytes of a write or an
  // allocate are done even when there is an error.
  struct Verdict {
    std::optional<Error> error;
    uint64_t pass = 0;
  };
  struct Plan {
    uint64_t from;
    Fault fault;
    uint64_t times;
  };
  struct Slowness {
    ManualClock* clock;
    std::chrono::nanoseconds per_call;
    uint64_t bytes_per_second;
  };

  // Gives the operation its number.
  Verdict Judge(OperationKind kind, const std::string& path,
                uint64_t offset = 0, uint64_t length = 0)
      NEPHILA_REQUIRES(mutex_);
  Verdict JudgeStop(const Operation& operation) NEPHILA_REQUIRES(mutex_);
  // Gives the read its number; how many bytes it may get.
  Result<uint64_t> JudgeRead(const File& file, uint64_t offset, uint64_t length)
      NEPHILA_REQUIRES(mutex_);
  std::optional<Fault> TakeFault(const Operation& operation)
      NEPHILA_REQUIRES(mutex_);
  // Less than `bound`, by the seed and the number, and by nothing else.
  uint64_t Draw(uint64_t number, uint64_t bound) const;
  // Open files have the path in their place that a rename gave them.
  void FollowRename(const std::string& from, const std::string& to)
      NEPHILA_REQUIRES(mutex_);
  // Lets the time of a call pass.
  void Spend(uint64_t bytes) NEPHILA_EXCLUDES(mutex_);
  Status CheckRunning(std::string_view action, const std::string& path)
      NEPHILA_REQUIRES(mutex_);
  // For a call that creates `path` if it is not there.
  Status JudgeCreation(OperationKind kind, const std::string& path)
      NEPHILA_REQUIRES(mutex_);
  template <typename Call>
  Status Mutate(OperationKind kind, const std::string& path, Call call)
      NEPHILA_EXCLUDES(mutex_);

  FileSystem& base_;
  MemoryFileSystem* const memory_;  // base_, or null if it is another kind
  const uint64_t seed_;
  Mutex mutex_;
  uint64_t operations_ NEPHILA_GUARDED_BY(mutex_) = 0;
  std::deque<Operation> log_ NEPHILA_GUARDED_BY(mutex_);
  std::optional<uint64_t> stop_at_ NEPHILA_GUARDED_BY(mutex_);
  StopStyle stop_style_ NEPHILA_GUARDED_BY(mutex_) = StopStyle::kClean;
  bool stopped_ NEPHILA_GUARDED_BY(mutex_) = false;
  std::vector<Plan> plans_ NEPHILA_GUARDED_BY(mutex_);
  uint64_t short_every_ NEPHILA_GUARDED_BY(mutex_) = 0;
  uint64_t long_writes_ NEPHILA_GUARDED_BY(mutex_) = 0;
  uint64_t reads_ NEPHILA_GUARDED_BY(mutex_) = 0;
  std::vector<Plan> read_plans_ NEPHILA_GUARDED_BY(mutex_);
  uint64_t short_read_every_ NEPHILA_GUARDED_BY(mutex_) = 0;
  uint64_t long_reads_ NEPHILA_GUARDED_BY(mutex_) = 0;
  std::set<std::string> unreadable_ NEPHILA_GUARDED_BY(mutex_);
  std::map<const File*, std::string> paths_now_ NEPHILA_GUARDED_BY(mutex_);
  std::optional<Slowness> slowness_ NEPHILA_GUARDED_BY(mutex_);
};

}  // namespace nephila
