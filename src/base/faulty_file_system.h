// FaultyFileSystem: wraps a FileSystem and fails at a chosen operation.
//
// Every operation that would change the disk gets a number, 1, 2, 3, ..., in
// one sequence over all files, whether or not the wrapped file system accepts
// it. A crash test runs its work once to learn N = operations(), then for each
// n up to N with StopAt(n) on a fresh MemoryFileSystem, then LosePower on that
// one, and opens what is left without this wrapper. Opening a file or making a
// directory that is already there changes nothing and has no number.
// Thread-safe: operations are made one at a time, in the order of their
// numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
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
  uint64_t offset = 0;  // of a write
  uint64_t length = 0;  // of a write; the size for a truncate or an allocate
};

// "#12 write a/b offset 0 length 512".
std::string DescribeOperation(const Operation& operation);

enum class Fault : uint8_t {
  kEio,         // any operation fails, and changes nothing
  kNoSpace,     // a write, allocate, create or makedir fails
  kShortWrite,  // a write of two bytes or more writes fewer, without error
  kSyncFails,   // a sync or syncdir fails, and makes nothing durable
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
      : base_(base), seed_(seed) {}

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
  // Reads of files opened under exactly this path fail with EIO.
  void FailReadsOf(const std::string& path) NEPHILA_EXCLUDES(mutex_);
  // Ends all of the above, a stop too. Numbers and log go on.
  void Heal() NEPHILA_EXCLUDES(mutex_);

  // How many there were, with the one that stopped the machine, if any.
  uint64_t operations() NEPHILA_EXCLUDES(mutex_);
  bool stopped() NEPHILA_EXCLUDES(mutex_);
  // The last kLogLimit operations, oldest first; the one that stopped the
  // machine is the last.
  std::vector<Operation> log() NEPHILA_EXCLUDES(mutex_);

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenMode mode) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status RemoveDir(const std::string& path) override;
  Status MakeDir(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& dir) override;
  Result<bool> Exists(const std::string& path) override;
  Status SyncDir(const std::string& dir) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  Result<uint64_t> FreeSpace(const std::string& dir) override;

 private:
  class FaultyFile;

  // What becomes of an operation: its first `pass` bytes, if it is a write,
  // are done even when there is an error.
  struct Verdict {
    std::optional<Error> error;
    uint64_t pass = 0;
  };
  struct Plan {
    uint64_t from;
    Fault fault;
    uint64_t times;
  };

  // Gives the operation its number.
  Verdict Judge(OperationKind kind, const std::string& path,
                uint64_t offset = 0, uint64_t length = 0)
      NEPHILA_REQUIRES(mutex_);
  Verdict JudgeStop(const Operation& operation) NEPHILA_REQUIRES(mutex_);
  std::optional<Fault> TakeFault(const Operation& operation)
      NEPHILA_REQUIRES(mutex_);
  // At least 1 and less than `length`, by the seed.
  uint64_t PartOf(uint64_t length) NEPHILA_REQUIRES(mutex_);
  Status CheckRunning(std::string_view action, const std::string& path)
      NEPHILA_REQUIRES(mutex_);
  // For a call that creates `path` if it is not there.
  Status JudgeCreation(OperationKind kind, const std::string& path)
      NEPHILA_REQUIRES(mutex_);
  template <typename Call>
  Status Mutate(OperationKind kind, const std::string& path, uint64_t size,
                Call call) NEPHILA_EXCLUDES(mutex_);

  FileSystem& base_;
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
  std::set<std::string> unreadable_ NEPHILA_GUARDED_BY(mutex_);
};

}  // namespace nephila
