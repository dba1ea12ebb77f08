// MemoryFileSystem: a FileSystem in memory that knows what a power loss takes.
//
// Each file has its contents now, its contents at the last Sync and the changes
// between; each directory has its entries now, its entries at the last SyncDir
// and the changes between. LosePower picks a state that a disk could be found
// in; KillProcess leaves the machine running. The disk is pessimistic where
// POSIX allows it: Sync of a new file does not keep its name, SyncDir of a
// directory keeps neither its files' data nor its own name in its parent.
// Space is taken in sectors of 512 bytes; holes take none, of memory neither.
// Paths are the same with and without a leading '/'; ".." is refused.
// Thread-safe by one mutex. Cost: Sync and LosePower take what was changed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/loss_mode.h"
#include "base/memory_inode.h"
#include "base/memory_tree.h"
#include "base/mutex.h"

namespace nephila {

class MemoryFileSystem final : public FileSystem {
 public:
  static constexpr uint64_t kSectorBytes = MemoryContents::kSectorBytes;
  static constexpr uint64_t kDefaultCapacityBytes = uint64_t{1} << 40;

  MemoryFileSystem();
  ~MemoryFileSystem() override;

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenOptions options) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status RemoveDir(const std::string& path) override;
  Status MakeDir(const std::string& path) override;
  Result<std::vector<DirEntry>> List(const std::string& dir) override;
  Result<bool> Exists(const std::string& path) override;
  Result<FileStamp> Stamp(const std::string& path) override;
  // Also keeps what a rename into or out of `dir` depends on elsewhere.
  Status SyncDir(const std::string& dir) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  Result<uint64_t> FreeSpace(const std::string& dir) override;

  // kill -9: Files opened before return kStopped from now on and locks held
  // before are void, both without effect on what is there afterwards. All
  // that was written is seen, and none of it is more durable than before.
  void KillProcess() NEPHILA_EXCLUDES(mutex_);
  // Stops the machine, and with it the process, and starts it again. Equal
  // states and seeds give equal results.
  void LosePower(LossMode mode, uint64_t seed = 0) NEPHILA_EXCLUDES(mutex_);

  // The next Sync or SyncDir fails. As in Linux, what it should have kept is
  // still seen but no later Sync writes it, and no LossMode keeps it.
  void FailNextSync(int sys_errno) NEPHILA_EXCLUDES(mutex_);
  // The disk rots: inverts bit 0 to 7 of a byte, in what is read and in what
  // is durable.
  Status FlipBit(const std::string& path, uint64_t offset, unsigned bit)
      NEPHILA_EXCLUDES(mutex_);
  // Writes that need more return kNoSpace, after a short one for what fits;
  // so does Allocate, after it has reserved what fits. May be less than what
  // is in use.
  void SetCapacity(uint64_t bytes) NEPHILA_EXCLUDES(mutex_);

 private:
  class OpenFile;
  class HeldLock;

  Result<std::shared_ptr<MemoryInode>> OpenInode(std::string_view action,
                                                 const std::string& path,
                                                 OpenMode mode)
      NEPHILA_REQUIRES(mutex_);
  // Takes a file's name; its space is free when it has no user either.
  void Unname(MemoryInode& inode) NEPHILA_REQUIRES(mutex_);
  void ReleaseIfUnused(const MemoryInode& inode) NEPHILA_REQUIRES(mutex_);
  void CountUsedSectors() NEPHILA_REQUIRES(mutex_);
  uint64_t FreeSectors() const NEPHILA_REQUIRES(mutex_);
  void Apply(MemoryInode& inode, MemoryChange change) NEPHILA_REQUIRES(mutex_);
  std::optional<int> TakeSyncFailure() NEPHILA_REQUIRES(mutex_);

  Mutex mutex_;
  // Counts deaths: a File or lock of an earlier life is dead.
  uint64_t epoch_ NEPHILA_GUARDED_BY(mutex_) = 0;
  uint64_t capacity_sectors_ NEPHILA_GUARDED_BY(mutex_);
  uint64_t used_sectors_ NEPHILA_GUARDED_BY(mutex_) = 0;
  std::optional<int> sync_errno_ NEPHILA_GUARDED_BY(mutex_);
  MemoryTree tree_ NEPHILA_GUARDED_BY(mutex_);
  int64_t changes_ NEPHILA_GUARDED_BY(mutex_) = 0;  // of all files
};

}  // namespace nephila
