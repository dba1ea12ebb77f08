// MemoryFileSystem: a FileSystem in memory that knows what a power loss takes.
//
// Each file has its contents now, its contents at the last Sync and the changes
// between; each directory has its entries now, its entries at the last SyncDir
// and the changes between. LosePower picks a state that a disk could be found
// in. The disk is pessimistic where POSIX allows it: Sync of a new file does
// not keep its name, SyncDir of a directory keeps neither its files' data nor
// its own name in its parent. Space is taken in sectors of 512 bytes; holes
// take none. Paths are the same with and without a leading '/'; ".." is
// refused. Thread-safe by one mutex; copies freely: made for tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/mutex.h"

namespace nephila {

enum class LossMode : uint8_t {
  kNothingUnsynced,  // only what was synced is left
  kEverything,       // the process dies, the machine does not: kill -9
  // What was synced, and some of the rest:
  // - File contents: the size is one that the file had since its last Sync,
  //   and each sector is whole, as it was at some moment since then,
  //   independently of the others; never written parts read as zeros. So an
  //   append can leave zeros where data should be, a large write any of its
  //   sectors, but never a later small write to a sector without an earlier
  //   one. A truncate is one step: a sector it freed does not come back if
  //   the truncate lasted, and has no later contents if it did not.
  // - Entries: of each directory, a prefix of its changes since SyncDir. A
  //   rename is one change, so that across directories it lasts in both or
  //   in neither.
  kTorn,
};

class MemoryFileSystem final : public FileSystem {
 public:
  static constexpr uint64_t kSectorBytes = 512;
  // Files are contiguous in memory, so that a wild offset has to be refused.
  static constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;
  static constexpr uint64_t kDefaultCapacityBytes = uint64_t{1} << 40;

  MemoryFileSystem();
  ~MemoryFileSystem() override;

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenMode mode) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status RemoveDir(const std::string& path) override;
  Status MakeDir(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& dir) override;
  Result<bool> Exists(const std::string& path) override;
  // Also keeps what a rename into or out of `dir` depends on elsewhere.
  Status SyncDir(const std::string& dir) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  Result<uint64_t> FreeSpace(const std::string& dir) override;

  // Stops the machine and starts it again. Files opened before return kStopped
  // from now on and locks held before are void, both without effect on what
  // is there afterwards. Equal states and seeds give equal results.
  void LosePower(LossMode mode, uint64_t seed = 0) NEPHILA_EXCLUDES(mutex_);

  // Writes that need more return kNoSpace, after a short one for what fits.
  // May be less than what is in use.
  void SetCapacity(uint64_t bytes) NEPHILA_EXCLUDES(mutex_);

 private:
  struct Change;
  struct Contents;
  struct Inode;
  struct Directory;
  struct Entry;
  struct EntryChange;
  struct Place;
  class OpenFile;
  class HeldLock;
  class Dice;

  Result<Place> Resolve(std::string_view action, const std::string& path)
      NEPHILA_REQUIRES(mutex_);
  Result<Directory*> ResolveDir(std::string_view action,
                                const std::string& path)
      NEPHILA_REQUIRES(mutex_);
  Result<std::shared_ptr<Inode>> OpenInode(std::string_view action,
                                           const std::string& path,
                                           OpenMode mode)
      NEPHILA_REQUIRES(mutex_);
  void Commit(EntryChange change) NEPHILA_REQUIRES(mutex_);
  // Gives the space of a file back that has neither name nor user.
  void ReleaseIfUnused(const Inode& inode) NEPHILA_REQUIRES(mutex_);
  uint64_t FreeSectors() const NEPHILA_REQUIRES(mutex_);
  // The end of the longest beginning of [begin, end) that there is room for.
  uint64_t FittingEnd(const Contents& contents, uint64_t begin,
                      uint64_t end) const NEPHILA_REQUIRES(mutex_);
  void Apply(Inode& inode, Change change) NEPHILA_REQUIRES(mutex_);
  // The two halves of LosePower: names, then what is under a directory.
  void KeepEntries(LossMode mode, Dice& dice) NEPHILA_REQUIRES(mutex_);
  void RestartFrom(Directory& dir, LossMode mode, Dice& dice)
      NEPHILA_REQUIRES(mutex_);

  Mutex mutex_;
  // Counts power losses: a File or lock of an earlier one is dead.
  uint64_t epoch_ NEPHILA_GUARDED_BY(mutex_) = 0;
  uint64_t capacity_sectors_ NEPHILA_GUARDED_BY(mutex_);
  uint64_t used_sectors_ NEPHILA_GUARDED_BY(mutex_) = 0;
  // Owned here, not by their parents: during a move the old state of one and
  // the new state of another can contain each other.
  std::vector<std::unique_ptr<Directory>> directories_
      NEPHILA_GUARDED_BY(mutex_);
  Directory* const root_;
  // Changes of entries that are not durable, oldest first.
  std::vector<EntryChange> journal_ NEPHILA_GUARDED_BY(mutex_);
};

// How files and directories are modelled; nothing for users below.

// splitmix64. Its own, because a seed must mean the same crash for ever,
// whatever becomes of other generators. The modulo's bias does not matter here.
class MemoryFileSystem::Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint64_t Below(uint64_t bound) {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % bound;
  }

 private:
  uint64_t state_;
};

struct MemoryFileSystem::Change {
  enum class Kind : uint8_t { kWrite, kTruncate, kAllocate };

  uint64_t SizeAfter(uint64_t size) const {
    switch (kind) {
      case Kind::kWrite:
        return std::max(size, offset + data.size());
      case Kind::kTruncate:
        return offset;
      case Kind::kAllocate:
        return std::max(size, offset);
    }
    return size;
  }

  Kind kind;
  uint64_t offset;  // of a write; the size for the others
  std::vector<std::byte> data;
};

struct MemoryFileSystem::Contents {
  static uint64_t SectorsOf(uint64_t bytes) {
    return (bytes + kSectorBytes - 1) / kSectorBytes;
  }

  void Resize(uint64_t size) {
    for (uint64_t i = SectorsOf(size); i < has_sector.size(); ++i) {
      if (has_sector[i]) --used_sectors;
    }
    has_sector.resize(SectorsOf(size), false);
    bytes.resize(size);
  }

  void TakeSectors(uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; ++i) {
      if (!has_sector[i]) ++used_sectors;
      has_sector[i] = true;
    }
  }

  void Apply(const Change& change) {
    Resize(change.SizeAfter(bytes.size()));
    if (change.kind == Change::Kind::kAllocate) {
      TakeSectors(0, SectorsOf(change.offset));
    } else if (change.kind == Change::Kind::kWrite) {
      std::copy(change.data.begin(), change.data.end(),
                bytes.begin() + static_cast<ptrdiff_t>(change.offset));
      TakeSectors(change.offset / kSectorBytes,
                  SectorsOf(change.offset + change.data.size()));
    }
  }

  // Takes over sector `i` as `other` has it, within the size of this.
  void CopySector(uint64_t i, const Contents& other) {
    if (i >= other.has_sector.size() || !other.has_sector[i]) return;
    const uint64_t begin = i * kSectorBytes;
    const uint64_t end =
        std::min({begin + kSectorBytes, bytes.size(), other.bytes.size()});
    std::copy(other.bytes.begin() + static_cast<ptrdiff_t>(begin),
              other.bytes.begin() + static_cast<ptrdiff_t>(end),
              bytes.begin() + static_cast<ptrdiff_t>(begin));
    TakeSectors(i, i + 1);
  }

  std::vector<std::byte> bytes;
  std::vector<bool> has_sector;  // false: a hole
  uint64_t used_sectors = 0;
};

struct MemoryFileSystem::Inode {
  void Sync() {
    for (const Change& change : pending) durable.Apply(change);
    pending.clear();
  }

  // What LossMode::kTorn may leave. Version v is the state after v of the
  // pending changes.
  Contents Torn(Dice& dice) const {
    std::vector<uint64_t> sizes = {durable.bytes.size()};
    for (const Change& change : pending) {
      sizes.push_back(change.SizeAfter(sizes.back()));
    }
    const uint64_t kept = dice.Below(sizes.size());  // the version of the size
    Contents torn;
    torn.Resize(sizes[kept]);
    const auto by_version = ChooseVersions(kept, torn.has_sector.size(), dice);
    Contents replayed = durable;
    for (uint64_t version = 0; version < sizes.size(); ++version) {
      if (version > 0) replayed.Apply(pending[version - 1]);
      for (const uint64_t i : by_version[version]) {
        torn.CopySector(i, replayed);
      }
    }
    return torn;
  }

  // For each version, the sectors of [0, sectors) that are left as of then.
  std::vector<std::vector<uint64_t>> ChooseVersions(uint64_t kept,
                                                    uint64_t sectors,
                                                    Dice& dice) const {
    std::vector<std::vector<uint64_t>> by_version(pending.size() + 1);
    std::vector<uint64_t> truncates;  // versions, as most changes are writes
    for (uint64_t i = 0; i < pending.size(); ++i) {
      if (pending[i].kind == Change::Kind::kTruncate)
        truncates.push_back(i + 1);
    }
    const uint64_t style = dice.Below(3);
    const uint64_t cut = dice.Below(sectors + 1);
    for (uint64_t i = 0; i < sectors; ++i) {
      const auto [oldest, newest] = VersionsOfSector(i, kept, truncates);
      uint64_t version = kept;  // style 0: writes lasted in order, and whole
      if (style == 1) {         // every sector by itself
        version = oldest + dice.Below(newest - oldest + 1);
      } else if (style == 2) {  // written in order of place, up to the cut
        version = i < cut ? newest : oldest;
      }
      by_version[version].push_back(i);
    }
    return by_version;
  }

  // Which versions sector i may have when the file's size is of version
  // `kept`: from the last truncate that freed it, to before the next.
  std::pair<uint64_t, uint64_t> VersionsOfSector(
      uint64_t i, uint64_t kept, const std::vector<uint64_t>& truncates) const {
    uint64_t oldest = 0;
    for (const uint64_t version : truncates) {
      if (pending[version - 1].offset > i * kSectorBytes) continue;
      if (version > kept) return {oldest, version - 1};
      oldest = version;
    }
    return {oldest, pending.size()};
  }

  Contents now;
  Contents durable;
  std::vector<Change> pending;  // from durable to now
  bool named = true;            // in some directory, as of now
  uint64_t users = 0;           // open Files
  bool locked = false;
};

// A file or a directory, never both.
struct MemoryFileSystem::Entry {
  std::shared_ptr<Inode> file;
  Directory* dir = nullptr;
};

struct MemoryFileSystem::Directory {
  std::map<std::string, Entry> now;
  std::map<std::string, Entry> durable;
  uint64_t reached = 0;  // the last epoch that began with it on the disk
};

}  // namespace nephila
