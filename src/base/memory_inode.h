// MemoryInode: one file of a MemoryFileSystem: its contents now, those that
// are durable, and the changes between.
//
// Threads: one. Cost: Sync takes what was changed since the last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/loss_mode.h"
#include "base/memory_contents.h"
#include "base/random.h"

namespace nephila {

struct MemoryChange {
  enum class Kind : uint8_t { kWrite, kTruncate, kAllocate };

  uint64_t SizeAfter(uint64_t size) const;
  void ApplyTo(MemoryContents& contents) const;

  Kind kind;
  uint64_t offset;  // of a write; the size for the others
  std::vector<std::byte> data;
};

class MemoryInode {
 public:
  const MemoryContents& now() const { return now_; }

  void Apply(MemoryChange change);
  void Sync();
  // A Sync that failed: what it should have kept stays visible but is clean
  // to the system, so that no later Sync writes it.
  void FailSync();
  void LosePower(LossMode mode, Random& random);
  // In what is read and in what is durable. REQUIRES: offset < now().size().
  void FlipBit(uint64_t offset, unsigned bit);

  bool named = true;   // in some directory, as of now
  uint64_t users = 0;  // open Files
  bool locked = false;
  int64_t changed = 0;  // by which change of the file system, last

 private:
  // Version v is the state after v of the pending changes.
  struct Kept {
    uint64_t version;  // the last one whose size and truncates lasted
    uint64_t size;     // that of the version, or inside the write after it
  };
  using Sectors = std::vector<uint64_t>;

  MemoryContents Torn(Random& random) const;
  Kept ChooseSize(Random& random) const;
  // The durable contents, and of the pending changes only the shape up to
  // what was kept: right wherever no pending write has been.
  MemoryContents Unwritten(const Kept& kept) const;
  Sectors WrittenSectors() const;
  std::vector<Sectors> ChooseVersions(const Kept& kept, Random& random) const;
  std::pair<uint64_t, uint64_t> VersionsOfSector(
      uint64_t i, uint64_t kept, const std::vector<uint64_t>& truncates) const;
  std::vector<uint64_t> Truncates() const;
  // Where a truncate that lasted cuts off what is older than it.
  uint64_t CutAfter(uint64_t version, uint64_t kept,
                    const std::vector<uint64_t>& truncates) const;

  MemoryContents now_;
  MemoryContents durable_;
  std::vector<MemoryChange> pending_;
  // After a failed Sync durable_ and pending_ do not make up now_ any more.
  bool diverged_ = false;
};

}  // namespace nephila
