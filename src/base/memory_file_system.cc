#include "base/memory_file_system.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

namespace nephila {
namespace {

// As off_t.
constexpr uint64_t kMaxFileBytes =
    static_cast<uint64_t>(std::numeric_limits<int64_t>::max());

}  // namespace

class MemoryFileSystem::OpenFile final : public File {
 public:
  OpenFile(std::string path, OpenOptions options, MemoryFileSystem& fs,
           uint64_t epoch, std::shared_ptr<MemoryInode> inode)
      : File(std::move(path), options.direct),
        fs_(fs),
        epoch_(epoch),
        inode_(std::move(inode)),
        writable_(options.mode != OpenMode::kRead) {}

  ~OpenFile() override {
    const MutexLock lock(fs_.mutex_);
    if (epoch_ != fs_.epoch_) return;
    --inode_->users;
    fs_.ReleaseIfUnused(*inode_);
  }

  Result<size_t> ReadSome(uint64_t offset, std::span<std::byte> out) override {
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(CheckAlive("read"));
    NEPHILA_RETURN_IF_ERROR(CheckAligned("read", offset, out));
    return inode_->now().Read(offset, out);
  }

  Result<size_t> WriteSome(uint64_t offset,
                           std::span<const std::byte> data) override {
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(CheckAlive("write"));
    if (!writable_) return FileErrorAt("write", path(), offset, EBADF);
    NEPHILA_RETURN_IF_ERROR(CheckAligned("write", offset, data));
    if (data.empty()) return size_t{0};
    if (offset > kMaxFileBytes || data.size() > kMaxFileBytes - offset) {
      return FileErrorAt("write", path(), offset, EFBIG);
    }
    uint64_t end = inode_->now().FittingEnd(offset, offset + data.size(),
                                            fs_.FreeSectors());
    if (direct()) end -= end % kDirectAlignment;
    if (end == offset) return FileErrorAt("write", path(), offset, ENOSPC);
    const std::span<const std::byte> fits = data.first(end - offset);
    fs_.Apply(*inode_,
              {MemoryChange::Kind::kWrite, offset, {fits.begin(), fits.end()}});
    return fits.size();
  }

  Status Sync() override {
    const MutexLock lock(fs_.mutex_);
    const std::optional<int> error = fs_.TakeSyncFailure();
    NEPHILA_RETURN_IF_ERROR(CheckAlive("sync"));
    if (error.has_value()) {
      inode_->FailSync();
      return SyncError("sync", path(), *error);
    }
    inode_->Sync();
    return {};
  }

  Status Truncate(uint64_t size) override {
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(CheckAlive("truncate"));
    if (!writable_) return FileErrorAt("truncate", path(), size, EINVAL);
    if (size > kMaxFileBytes) {
      return FileErrorAt("truncate", path(), size, EFBIG);
    }
    fs_.Apply(*inode_, {MemoryChange::Kind::kTruncate, size, {}});
    return {};
  }

  Status Allocate(uint64_t size) override {
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(CheckAlive("allocate"));
    if (size == 0) return {};
    if (!writable_) return FileErrorAt("allocate", path(), size, EBADF);
    if (size > kMaxFileBytes) {
      return FileErrorAt("allocate", path(), size, EFBIG);
    }
    const uint64_t end = inode_->now().FittingEnd(0, size, fs_.FreeSectors());
    // As ext4, which fills the disk before it says so.
    if (end > 0) {
      fs_.Apply(*inode_, {MemoryChange::Kind::kAllocate, end, {}});
    }
    if (end < size) return FileErrorAt("allocate", path(), size, ENOSPC);
    return {};
  }

  Result<uint64_t> Size() override {
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(CheckAlive("get the size of"));
    return inode_->now().size();
  }

 private:
  Status CheckAlive(std::string_view action) NEPHILA_REQUIRES(fs_.mutex_) {
    if (epoch_ == fs_.epoch_) return {};
    return Unexpected(
        Error{ErrorCode::kStopped, std::string(action) + " " + path() +
                                       ": the process that opened it is dead"});
  }

  MemoryFileSystem& fs_;
  const uint64_t epoch_;
  const std::shared_ptr<MemoryInode> inode_;
  const bool writable_;
};

class MemoryFileSystem::HeldLock final : public FileLock {
 public:
  HeldLock(MemoryFileSystem& fs, uint64_t epoch,
           std::shared_ptr<MemoryInode> inode)
      : fs_(fs), epoch_(epoch), inode_(std::move(inode)) {}

  ~HeldLock() override {
    const MutexLock lock(fs_.mutex_);
    if (epoch_ == fs_.epoch_) inode_->locked = false;
  }

 private:
  MemoryFileSystem& fs_;
  const uint64_t epoch_;
  const std::shared_ptr<MemoryInode> inode_;
};

MemoryFileSystem::MemoryFileSystem()
    : capacity_sectors_(kDefaultCapacityBytes / kSectorBytes) {}

MemoryFileSystem::~MemoryFileSystem() = default;

Result<std::unique_ptr<File>> MemoryFileSystem::Open(const std::string& path,
                                                     OpenOptions options) {
  const MutexLock lock(mutex_);
  NEPHILA_TRY(auto inode, OpenInode("open", path, options.mode));
  ++inode->users;
  std::unique_ptr<File> file = std::make_unique<OpenFile>(
      path, options, *this, epoch_, std::move(inode));
  return file;
}

Result<std::unique_ptr<FileLock>> MemoryFileSystem::Lock(
    const std::string& path) {
  const MutexLock lock(mutex_);
  NEPHILA_TRY(auto inode, OpenInode("lock", path, OpenMode::kCreate));
  if (inode->locked) {
    return Unexpected(Error{ErrorCode::kBusy,
                            "lock " + path + ": another holder has it",
                            EWOULDBLOCK});
  }
  inode->locked = true;
  std::unique_ptr<FileLock> held =
      std::make_unique<HeldLock>(*this, epoch_, std::move(inode));
  return held;
}

Status MemoryFileSystem::Rename(const std::string& from,
                                const std::string& to) {
  const std::string action = "rename " + from + " to";
  const auto fail = [&](int error) { return FileError(action, to, error); };
  const MutexLock lock(mutex_);
  NEPHILA_TRY(const MemoryPlace source, tree_.Resolve("rename", from));
  NEPHILA_TRY(const MemoryPlace target, tree_.Resolve(action, to));
  if (source.name.empty() || target.name.empty()) return fail(EBUSY);
  if (source.entry == nullptr) return fail(ENOENT);
  if (source.entry == target.entry) return {};
  MemoryDirectory* const moved = source.entry->dir;
  if (moved != nullptr &&
      std::count(target.way.begin(), target.way.end(), moved) > 0) {
    return fail(EINVAL);  // into itself
  }
  std::shared_ptr<MemoryInode> replaced;
  if (target.entry != nullptr) {
    const bool onto_dir = target.entry->dir != nullptr;
    if (moved == nullptr && onto_dir) return fail(EISDIR);
    if (moved != nullptr && !onto_dir) return fail(ENOTDIR);
    if (onto_dir && !target.entry->dir->now.empty()) return fail(ENOTEMPTY);
    replaced = target.entry->file;
  }
  tree_.Move(source, target);
  if (replaced != nullptr) Unname(*replaced);
  return {};
}

Status MemoryFileSystem::Remove(const std::string& path) {
  const MutexLock lock(mutex_);
  NEPHILA_TRY(const MemoryPlace place, tree_.Resolve("remove", path));
  if (place.name.empty()) return FileError("remove", path, EISDIR);
  if (place.entry == nullptr) return FileError("remove", path, ENOENT);
  if (place.entry->dir != nullptr) return FileError("remove", path, EISDIR);
  const std::shared_ptr<MemoryInode> inode = place.entry->file;
  tree_.Unlink(place);
  Unname(*inode);
  return {};
}

Status MemoryFileSystem::RemoveDir(const std::string& path) {
  const MutexLock lock(mutex_);
  NEPHILA_TRY(const MemoryPlace place, tree_.Resolve("remove directory", path));
  const auto fail = [&path](int error) {
    return FileError("remove directory", path, error);
  };
  if (place.name.empty()) return fail(EBUSY);
  if (place.entry == nullptr) return fail(ENOENT);
  if (place.entry->dir == nullptr) return fail(ENOTDIR);
  if (!place.entry->dir->now.empty()) return fail(ENOTEMPTY);
  tree_.Unlink(place);
  return {};
}

Status MemoryFileSystem::MakeDir(const std::string& path) {
  const MutexLock lock(mutex_);
  NEPHILA_TRY(const MemoryPlace place, tree_.Resolve("make directory", path));
  if (place.name.empty()) return {};
  if (place.entry != nullptr) {
    if (place.entry->dir != nullptr) return {};
    return FileError("make directory", path, EEXIST);
  }
  tree_.LinkNewDirectory(place);
  return {};
}

Result<std::vector<DirEntry>> MemoryFileSystem::List(const std::string& dir) {
  const MutexLock lock(mutex_);
  NEPHILA_TRY(const MemoryDirectory* directory, tree_.ResolveDir("list", dir));
  std::vector<DirEntry> entries;
  for (const auto& [name, entry] : directory->now) {
    entries.push_back({name, entry.dir != nullptr});
  }
  return entries;
}

Result<bool> MemoryFileSystem::Exists(const std::string& path) {
  const MutexLock lock(mutex_);
  const Result<MemoryPlace> place = tree_.Resolve("look for", path);
  if (place.has_value()) {
    return place->name.empty() || place->entry != nullptr;
  }
  if (place.error().code == ErrorCode::kNotFound) return false;
  return Unexpected(place.error());
}

Result<FileStamp> MemoryFileSystem::Stamp(const std::string& path) {
  const MutexLock lock(mutex_);
  NEPHILA_TRY(const MemoryPlace place, tree_.Resolve("look at", path));
  if (place.entry == nullptr || place.entry->file == nullptr) {
    return FileError("look at", path, ENOENT);
  }
  const MemoryInode& file = *place.entry->file;
  return FileStamp{file.now().size(), file.changed};
}

Status MemoryFileSystem::SyncDir(const std::string& dir) {
  const MutexLock lock(mutex_);
  const std::optional<int> error = TakeSyncFailure();
  NEPHILA_TRY(MemoryDirectory* const directory,
              tree_.ResolveDir("sync directory", dir));
  if (error.has_value()) {
    tree_.FailSync(directory);
    return SyncError("sync directory", dir, *error);
  }
  tree_.Sync(directory);
  return {};
}

Result<uint64_t> MemoryFileSystem::FreeSpace(const std::string& dir) {
  const MutexLock lock(mutex_);
  NEPHILA_RETURN_IF_ERROR(tree_.ResolveDir("get the free space of", dir));
  return FreeSectors() * kSectorBytes;
}

void MemoryFileSystem::KillProcess() {
  const MutexLock lock(mutex_);
  ++epoch_;
  tree_.ForEachKnownFile([](MemoryInode& inode) {
    inode.users = 0;
    inode.locked = false;
  });
  CountUsedSectors();
}

void MemoryFileSystem::LosePower(LossMode mode, uint64_t seed) {
  const MutexLock lock(mutex_);
  Random random(seed);
  ++epoch_;
  sync_errno_.reset();
  tree_.LosePower(mode, random);
  tree_.ForEachFile(
      [mode, &random](MemoryInode& inode) { inode.LosePower(mode, random); });
  CountUsedSectors();
}

void MemoryFileSystem::FailNextSync(int sys_errno) {
  const MutexLock lock(mutex_);
  sync_errno_ = sys_errno;
}

Status MemoryFileSystem::FlipBit(const std::string& path, uint64_t offset,
                                 unsigned bit) {
  const MutexLock lock(mutex_);
  NEPHILA_TRY(const auto inode, OpenInode("flip", path, OpenMode::kReadWrite));
  if (offset >= inode->now().size()) {
    return FileErrorAt("flip", path, offset, EINVAL);
  }
  inode->FlipBit(offset, bit);
  CountUsedSectors();
  return {};
}

void MemoryFileSystem::SetCapacity(uint64_t bytes) {
  const MutexLock lock(mutex_);
  capacity_sectors_ = bytes / kSectorBytes;
}

Result<std::shared_ptr<MemoryInode>> MemoryFileSystem::OpenInode(
    std::string_view action, const std::string& path, OpenMode mode) {
  NEPHILA_TRY(const MemoryPlace place, tree_.Resolve(action, path));
  const bool may_create =
      mode == OpenMode::kCreate || mode == OpenMode::kCreateNew;
  if (place.name.empty()) return FileError(action, path, EISDIR);
  if (place.entry == nullptr) {
    if (!may_create) return FileError(action, path, ENOENT);
    auto inode = std::make_shared<MemoryInode>();
    tree_.Link(place, MemoryEntry{inode, nullptr});
    return inode;
  }
  if (mode == OpenMode::kCreateNew) return FileError(action, path, EEXIST);
  if (place.entry->dir != nullptr) return FileError(action, path, EISDIR);
  return place.entry->file;
}

void MemoryFileSystem::Unname(MemoryInode& inode) {
  inode.named = false;
  ReleaseIfUnused(inode);
}

void MemoryFileSystem::ReleaseIfUnused(const MemoryInode& inode) {
  if (!inode.named && inode.users == 0) {
    used_sectors_ -= inode.now().used_sectors();
  }
}

void MemoryFileSystem::CountUsedSectors() {
  uint64_t used = 0;
  tree_.ForEachFile(
      [&used](MemoryInode& inode) { used += inode.now().used_sectors(); });
  used_sectors_ = used;
}

uint64_t MemoryFileSystem::FreeSectors() const {
  return capacity_sectors_ - std::min(capacity_sectors_, used_sectors_);
}

void MemoryFileSystem::Apply(MemoryInode& inode, MemoryChange change) {
  used_sectors_ -= inode.now().used_sectors();
  inode.Apply(std::move(change));
  inode.changed = ++changes_;
  used_sectors_ += inode.now().used_sectors();
}

std::optional<int> MemoryFileSystem::TakeSyncFailure() {
  return std::exchange(sync_errno_, std::nullopt);
}

}  // namespace nephila
