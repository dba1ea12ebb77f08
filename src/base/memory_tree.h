// MemoryTree: the directories of a MemoryFileSystem: names now, names that are
// durable, and the changes between, in one journal.
//
// Knows nothing of what is in the files. Threads: one. Cost: SyncDir takes the
// length of the journal.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/loss_mode.h"
#include "base/random.h"
#include "base/result.h"

namespace nephila {

class MemoryInode;
struct MemoryDirectory;

// A file or a directory, never both.
struct MemoryEntry {
  bool operator==(const MemoryEntry&) const = default;

  std::shared_ptr<MemoryInode> file;
  MemoryDirectory* dir = nullptr;
};

struct MemoryDirectory {
  std::map<std::string, MemoryEntry> now;
  std::map<std::string, MemoryEntry> durable;
  uint64_t reached = 0;  // the last restart that found it on the disk
};

// Where a path leads: a name in the last of the directories on the way. The
// root has no name. `entry` is null if nothing has that name.
struct MemoryPlace {
  MemoryDirectory* dir() const { return way.back(); }
  std::vector<MemoryDirectory*> way;
  std::string name;
  const MemoryEntry* entry = nullptr;
};

class MemoryTree {
 public:
  using FileVisitor = std::function<void(MemoryInode&)>;

  MemoryTree();

  Result<MemoryPlace> Resolve(std::string_view action,
                              const std::string& path) const;
  Result<MemoryDirectory*> ResolveDir(std::string_view action,
                                      const std::string& path) const;

  // REQUIRES for all: what POSIX asks for was checked.
  void Link(const MemoryPlace& place, MemoryEntry entry);
  void LinkNewDirectory(const MemoryPlace& place);
  void Unlink(const MemoryPlace& place);
  void Move(const MemoryPlace& from, const MemoryPlace& to);

  // Also keeps what a rename into or out of `dir` depends on elsewhere.
  void Sync(MemoryDirectory* dir);
  // A Sync that failed: what it should have kept is seen until the power goes,
  // and no later Sync keeps it.
  void FailSync(MemoryDirectory* dir);

  // Leaves the names that the mode keeps, as they are found after a restart.
  void LosePower(LossMode mode, Random& random);
  // Every file that has a name now, by directory and name.
  void ForEachFile(const FileVisitor& visit) const;
  // Every file that has a name now or would have after a power loss; some
  // twice.
  void ForEachKnownFile(const FileVisitor& visit) const;

 private:
  // Takes a name away, gives one, or both: one step of the journal.
  struct Change {
    bool Touches(const std::set<MemoryDirectory*>& dirs) const;

    MemoryDirectory* from_dir = nullptr;
    std::string from;
    MemoryDirectory* to_dir = nullptr;
    std::string to;
    MemoryEntry entry;
    // The directories whose earlier changes must last if this one does.
    std::vector<MemoryDirectory*> touched;
  };
  using State = std::map<std::string, MemoryEntry> MemoryDirectory::*;

  static void Play(const Change& change, State state);
  void Commit(Change change);
  void MakeDurable(const Change& change);
  // Takes all changes that a Sync of `dir` concerns out of the journal.
  std::vector<Change> TakeChanges(MemoryDirectory* dir);
  void KeepEntries(LossMode mode, Random& random);
  void RestartFrom(MemoryDirectory& dir);

  uint64_t restarts_ = 0;
  // Owned here, not by their parents: during a move the old state of one and
  // the new state of another can contain each other.
  std::vector<std::unique_ptr<MemoryDirectory>> directories_;
  MemoryDirectory* const root_;
  // Changes that are not durable, oldest first.
  std::vector<Change> journal_;
  // After a failed Sync the journal does not lead from durable to now.
  bool diverged_ = false;
};

}  // namespace nephila
