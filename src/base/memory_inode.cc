#include "base/memory_inode.h"

#include <algorithm>
#include <limits>

namespace nephila {
namespace {

constexpr uint64_t kSectorBytes = MemoryContents::kSectorBytes;
constexpr uint64_t kNoCut = std::numeric_limits<uint64_t>::max();

}  // namespace

uint64_t MemoryChange::SizeAfter(uint64_t size) const {
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

void MemoryChange::ApplyTo(MemoryContents& contents) const {
  switch (kind) {
    case Kind::kWrite:
      contents.Write(offset, data);
      break;
    case Kind::kTruncate:
      contents.Truncate(offset);
      break;
    case Kind::kAllocate:
      contents.Reserve(offset);
      break;
  }
}

void MemoryInode::Apply(MemoryChange change) {
  change.ApplyTo(now_);
  pending_.push_back(std::move(change));
}

void MemoryInode::Sync() {
  if (diverged_) {
    for (const MemoryChange& change : pending_) change.ApplyTo(durable_);
  } else if (!pending_.empty()) {
    for (const MemoryChange& change : pending_) {
      if (change.kind == MemoryChange::Kind::kAllocate) continue;
      durable_.SharePages(now_, change.offset,
                          change.kind == MemoryChange::Kind::kWrite
                              ? change.offset + change.data.size()
                              : kNoCut);
    }
    durable_.ShareShape(now_);
  }
  pending_.clear();
}

void MemoryInode::FailSync() {
  diverged_ |= !pending_.empty();
  pending_.clear();
}

void MemoryInode::LosePower(LossMode mode, Random& random) {
  users = 0;
  locked = false;
  named = true;
  if (pending_.empty() && !diverged_) return;
  switch (mode) {
    case LossMode::kNothingUnsynced:
      break;
    case LossMode::kEverything:
      Sync();
      break;
    case LossMode::kTorn:
      durable_ = Torn(random);
      break;
  }
  now_ = durable_;
  pending_.clear();
  diverged_ = false;
}

void MemoryInode::FlipBit(uint64_t offset, unsigned bit) {
  now_.FlipBit(offset, bit);
  if (offset < durable_.size()) durable_.FlipBit(offset, bit);
}

MemoryContents MemoryInode::Torn(Random& random) const {
  const Kept kept = ChooseSize(random);
  MemoryContents torn = Unwritten(kept);
  const std::vector<uint64_t> truncates = Truncates();
  const std::vector<Sectors> by_version = ChooseVersions(kept, random);
  MemoryContents replayed = durable_;
  for (uint64_t version = 0; version < by_version.size(); ++version) {
    if (version > 0) pending_[version - 1].ApplyTo(replayed);
    const uint64_t cut = CutAfter(version, kept.version, truncates);
    for (const uint64_t i : by_version[version]) {
      torn.CopySector(i, replayed, cut);
    }
  }
  return torn;
}

MemoryInode::Kept MemoryInode::ChooseSize(Random& random) const {
  Kept kept{random.Below(pending_.size() + 1), durable_.size()};
  for (uint64_t i = 0; i < kept.version; ++i) {
    kept.size = pending_[i].SizeAfter(kept.size);
  }
  if (kept.version == pending_.size()) return kept;
  const MemoryChange& next = pending_[kept.version];
  if (next.kind != MemoryChange::Kind::kWrite) return kept;
  // The bytes that the next write adds after those of any gap.
  const uint64_t from = std::max(kept.size, next.offset);
  const uint64_t to = next.SizeAfter(kept.size);
  if (to > from && random.Below(2) == 0) {
    kept.size = from + random.Below(to - from);
  }
  return kept;
}

MemoryContents MemoryInode::Unwritten(const Kept& kept) const {
  MemoryContents contents = durable_;
  for (uint64_t i = 0; i < kept.version; ++i) {
    const MemoryChange& change = pending_[i];
    if (change.kind == MemoryChange::Kind::kWrite) {
      contents.Truncate(change.SizeAfter(contents.size()));
    } else {
      change.ApplyTo(contents);
    }
  }
  contents.Truncate(kept.size);
  return contents;
}

MemoryInode::Sectors MemoryInode::WrittenSectors() const {
  Sectors sectors;
  for (const MemoryChange& change : pending_) {
    const uint64_t end =
        MemoryContents::SectorsOf(change.offset + change.data.size());
    for (uint64_t i = change.offset / kSectorBytes;
         change.kind == MemoryChange::Kind::kWrite && i < end; ++i) {
      sectors.push_back(i);
    }
  }
  std::sort(sectors.begin(), sectors.end());
  sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
  return sectors;
}

// For each version, the written sectors that are left as of then.
std::vector<MemoryInode::Sectors> MemoryInode::ChooseVersions(
    const Kept& kept, Random& random) const {
  std::vector<Sectors> by_version(pending_.size() + 1);
  const std::vector<uint64_t> truncates = Truncates();
  const Sectors sectors = WrittenSectors();
  const uint64_t style = random.Below(3);
  const uint64_t cut = random.Below(sectors.size() + 1);
  uint64_t size = durable_.size();
  for (uint64_t i = 0; i < kept.version; ++i) {
    size = pending_[i].SizeAfter(size);
  }
  for (uint64_t n = 0; n < sectors.size(); ++n) {
    const auto [oldest, newest] =
        VersionsOfSector(sectors[n], kept.version, truncates);
    // Style 0: writes lasted in order and whole, but for the one that the
    // size is inside of.
    uint64_t version = kept.version + (kept.size != size ? 1 : 0);
    if (style == 1) {  // every sector by itself
      version = oldest + random.Below(newest - oldest + 1);
    } else if (style == 2) {  // written in order of place, up to the cut
      version = n < cut ? newest : oldest;
    }
    by_version[version].push_back(sectors[n]);
  }
  return by_version;
}

// Which versions sector i may have when the file's size is of version `kept`:
// from the last truncate that freed it, to before the next.
std::pair<uint64_t, uint64_t> MemoryInode::VersionsOfSector(
    uint64_t i, uint64_t kept, const std::vector<uint64_t>& truncates) const {
  uint64_t oldest = 0;
  for (const uint64_t version : truncates) {
    if (pending_[version - 1].offset > i * kSectorBytes) continue;
    if (version > kept) return {oldest, version - 1};
    oldest = version;
  }
  return {oldest, pending_.size()};
}

std::vector<uint64_t> MemoryInode::Truncates() const {
  std::vector<uint64_t> versions;  // few, as most changes are writes
  for (uint64_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i].kind == MemoryChange::Kind::kTruncate) {
      versions.push_back(i + 1);
    }
  }
  return versions;
}

uint64_t MemoryInode::CutAfter(uint64_t version, uint64_t kept,
                               const std::vector<uint64_t>& truncates) const {
  uint64_t cut = kNoCut;
  for (const uint64_t truncate : truncates) {
    if (truncate <= version || truncate > kept) continue;
    cut = std::min(cut, pending_[truncate - 1].offset);
  }
  return cut;
}

}  // namespace nephila
