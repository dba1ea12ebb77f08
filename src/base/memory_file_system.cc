#include "base/memory_file_system.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

namespace nephila {
namespace {

Unexpected<Error> Fail(std::string_view action, std::string_view path,
                       int sys_errno) {
  std::string what(action);
  what += ' ';
  what += path;
  return Unexpected(Error::FromErrno(what, sys_errno));
}

Unexpected<Error> FailAtOffset(std::string_view action, std::string_view path,
                               uint64_t offset, int sys_errno) {
  return Unexpected(
      Error::FromErrno(FilePlace(action, path, offset), sys_errno));
}

}  // namespace

// Where a path leads: a name in the last of the directories on the way. The
// root has no name. `entry` is null if nothing has that name.
struct MemoryFileSystem::Place {
  Directory* dir() const { return way.back(); }
  std::vector<Directory*> way;
  std::string name;
  const Entry* entry = nullptr;
};

// Takes a name away, gives one, or both: one step of a journal.
struct MemoryFileSystem::EntryChange {
  static EntryChange Link(const Place& place, Entry entry) {
    EntryChange change;
    change.to_dir = place.dir();
    change.to = place.name;
    change.entry = std::move(entry);
    change.touched = {place.dir()};
    return change;
  }

  static EntryChange Unlink(const Place& place) {
    EntryChange change;
    change.from_dir = place.dir();
    change.from = place.name;
    change.touched = {place.dir()};
    return change;
  }

  bool Touches(const std::set<Directory*>& dirs) const {
    return std::any_of(touched.begin(), touched.end(),
                       [&dirs](Directory* dir) { return dirs.contains(dir); });
  }

  void Play(std::map<std::string, Entry> Directory::*state) const {
    if (from_dir != nullptr) (from_dir->*state).erase(from);
    if (to_dir != nullptr) (to_dir->*state)[to] = entry;
  }

  Directory* from_dir = nullptr;
  std::string from;
  Directory* to_dir = nullptr;
  std::string to;
  Entry entry;
  // The directories whose earlier changes must last if this one does.
  std::vector<Directory*> touched;
};

class MemoryFileSystem::OpenFile final : public File {
 public:
  OpenFile(std::string path, MemoryFileSystem& fs, uint64_t epoch,
           std::shared_ptr<Inode> inode, bool writable)
      : File(std::move(path)),
        fs_(fs),
        epoch_(epoch),
        inode_(std::move(inode)),
        writable_(writable) {}

  ~OpenFile() override {
    const MutexLock lock(fs_.mutex_);
    if (epoch_ != fs_.epoch_) return;
    --inode_->users;
    fs_.ReleaseIfUnused(*inode_);
  }

  Result<size_t> ReadSome(uint64_t offset, std::span<std::byte> out) override {
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(CheckAlive("read"));
    const std::vector<std::byte>& bytes = inode_->now.bytes;
    if (offset >= bytes.size()) return size_t{0};
    const size_t n = std::min<size_t>(out.size(), bytes.size() - offset);
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(offset), n, out.begin());
    return n;
  }

  Result<size_t> WriteSome(uint64_t offset,
                           std::span<const std::byte> data) override {
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(CheckAlive("write"));
    if (!writable_) return FailAtOffset("write", path(), offset, EBADF);
    if (data.empty()) return size_t{0};
    if (offset > kMaxFileBytes || data.size() > kMaxFileBytes - offset) {
      return FailAtOffset("write", path(), offset, EFBIG);
    }
    const uint64_t end =
        fs_.FittingEnd(inode_->now, offset, offset + data.size());
    if (end == offset) return FailAtOffset("write", path(), offset, ENOSPC);
    const std::span<const std::byte> fits = data.first(end - offset);
    fs_.Apply(*inode_,
              {Change::Kind::kWrite, offset, {fits.begin(), fits.end()}});
    return fits.size();
  }

  Status Sync() override {
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(CheckAlive("sync"));
    inode_->Sync();
    return {};
  }

  Status Truncate(uint64_t size) override {
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(CheckAlive("truncate"));
    if (!writable_) return FailAtOffset("truncate", path(), size, EINVAL);
    if (size > kMaxFileBytes) {
      return FailAtOffset("truncate", path(), size, EFBIG);
    }
    fs_.Apply(*inode_, {Change::Kind::kTruncate, size, {}});
    return {};
  }

  Status Allocate(uint64_t size) override {
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(CheckAlive("allocate"));
    if (size == 0) return {};
    if (!writable_) return FailAtOffset("allocate", path(), size, EBADF);
    if (size > kMaxFileBytes) {
      return FailAtOffset("allocate", path(), size, EFBIG);
    }
    if (fs_.FittingEnd(inode_->now, 0, size) < size) {
      return FailAtOffset("allocate", path(), size, ENOSPC);
    }
    fs_.Apply(*inode_, {Change::Kind::kAllocate, size, {}});
    return {};
  }

  Result<uint64_t> Size() override {
    const MutexLock lock(fs_.mutex_);
    NEPHILA_RETURN_IF_ERROR(CheckAlive("get the size of"));
    return uint64_t{inode_->now.bytes.size()};
  }

 private:
  Status CheckAlive(std::string_view action) NEPHILA_REQUIRES(fs_.mutex_) {
    if (epoch_ == fs_.epoch_) return {};
    return Unexpected(Error{
        ErrorCode::kStopped,
        std::string(action) + " " + path() + ": opened before a power loss"});
  }

  MemoryFileSystem& fs_;
  const uint64_t epoch_;
  const std::shared_ptr<Inode> inode_;
  const bool writable_;
};

class MemoryFileSystem::HeldLock final : public FileLock {
 public:
  HeldLock(MemoryFileSystem& fs, uint64_t epoch, std::shared_ptr<Inode> inode)
      : fs_(fs), epoch_(epoch), inode_(std::move(inode)) {}

  ~HeldLock() override {
    const MutexLock lock(fs_.mutex_);
    if (epoch_ == fs_.epoch_) inode_->locked = false;
  }

 private:
  MemoryFileSystem& fs_;
  const uint64_t epoch_;
  const std::shared_ptr<Inode> inode_;
};

MemoryFileSystem::MemoryFileSystem()
    : capacity_sectors_(kDefaultCapacityBytes / kSectorBytes),
      root_(directories_.emplace_back(std::make_unique<Directory>()).get()) {}

MemoryFileSystem::~MemoryFileSystem() = default;

Result<std::unique_ptr<File>> MemoryFileSystem::Open(const std::string& path,
                                                     OpenMode mode) {
  const MutexLock lock(mutex_);
  NEPHILA_TRY(auto inode, OpenInode("open", path, mode));
  ++inode->users;
  std::unique_ptr<File> file = std::make_unique<OpenFile>(
      path, *this, epoch_, std::move(inode), mode != OpenMode::kRead);
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
  const MutexLock lock(mutex_);
  NEPHILA_TRY(const Place source, Resolve("rename", from));
  NEPHILA_TRY(const Place target, Resolve(action, to));
  if (source.name.empty() || target.name.empty()) {
    return Fail(action, to, EBUSY);
  }
  if (source.entry == nullptr) return Fail(action, to, ENOENT);
  if (source.entry == target.entry) return {};
  const Entry moved = *source.entry;
  EntryChange change = EntryChange::Link(target, moved);
  change.from_dir = source.dir();
  change.from = source.name;
  change.touched.push_back(source.dir());
  if (moved.dir != nullptr) {
    if (std::count(target.way.begin(), target.way.end(), moved.dir) > 0) {
      return Fail(action, to, EINVAL);  // into itself
    }
    // What brought the directories above the new place there has to last
    // too, or two could end up within each other.
    change.touched.insert(change.touched.end(), target.way.begin(),
                          target.way.end());
  }
  std::shared_ptr<Inode> replaced;
  if (target.entry != nullptr) {
    const bool onto_dir = target.entry->dir != nullptr;
    if (moved.dir == nullptr && onto_dir) return Fail(action, to, EISDIR);
    if (moved.dir != nullptr && !onto_dir) return Fail(action, to, ENOTDIR);
    if (onto_dir && !target.entry->dir->now.empty()) {
      return Fail(action, to, ENOTEMPTY);
    }
    replaced = target.entry->file;
  }
  Commit(std::move(change));
  if (replaced != nullptr) {
    replaced->named = false;
    ReleaseIfUnused(*replaced);
  }
  return {};
}

Status MemoryFileSystem::Remove(const std::string& path) {
  const MutexLock lock(mutex_);
  NEPHILA_TRY(const Place place, Resolve("remove", path));
  if (place.name.empty()) return Fail("remove", path, EISDIR);
  if (place.entry == nullptr) return Fail("remove", path, ENOENT);
  if (place.entry->dir != nullptr) return Fail("remove", path, EISDIR);
  const std::shared_ptr<Inode> inode = place.entry->file;
  Commit(EntryChange::Unlink(place));
  inode->named = false;
  ReleaseIfUnused(*inode);
  return {};
}

Status MemoryFileSystem::RemoveDir(const std::string& path) {
  const MutexLock lock(mutex_);
  NEPHILA_TRY(const Place place, Resolve("remove directory", path));
  const auto fail = [&path](int error) {
    return Fail("remove directory", path, error);
  };
  if (place.name.empty()) return fail(EBUSY);
  if (place.entry == nullptr) return fail(ENOENT);
  if (place.entry->dir == nullptr) return fail(ENOTDIR);
  if (!place.entry->dir->now.empty()) return fail(ENOTEMPTY);
  Commit(EntryChange::Unlink(place));
  return {};
}

Status MemoryFileSystem::MakeDir(const std::string& path) {
  const MutexLock lock(mutex_);
  NEPHILA_TRY(const Place place, Resolve("make directory", path));
  if (place.name.empty()) return {};
  if (place.entry != nullptr) {
    if (place.entry->dir != nullptr) return {};
    return Fail("make directory", path, EEXIST);
  }
  Directory* dir =
      directories_.emplace_back(std::make_unique<Directory>()).get();
  Commit(EntryChange::Link(place, Entry{nullptr, dir}));
  return {};
}

Result<std::vector<std::string>> MemoryFileSystem::List(
    const std::string& dir) {
  const MutexLock lock(mutex_);
  NEPHILA_TRY(const Directory* directory, ResolveDir("list", dir));
  std::vector<std::string> names;
  for (const auto& [name, entry] : directory->now) names.push_back(name);
  return names;
}

Result<bool> MemoryFileSystem::Exists(const std::string& path) {
  const MutexLock lock(mutex_);
  const Result<Place> place = Resolve("look for", path);
  if (place.has_value()) {
    return place->name.empty() || place->entry != nullptr;
  }
  if (place.error().code == ErrorCode::kNotFound) return false;
  return Unexpected(place.error());
}

Status MemoryFileSystem::SyncDir(const std::string& dir) {
  const MutexLock lock(mutex_);
  NEPHILA_TRY(Directory* const directory, ResolveDir("sync directory", dir));
  // Backwards, so that the directories a change depends on are known before
  // their own earlier changes come up.
  std::set<Directory*> wanted = {directory};
  std::vector<bool> lasts(journal_.size(), false);
  for (size_t i = journal_.size(); i-- > 0;) {
    if (!journal_[i].Touches(wanted)) continue;
    lasts[i] = true;
    wanted.insert(journal_[i].touched.begin(), journal_[i].touched.end());
  }
  std::vector<EntryChange> rest;
  for (size_t i = 0; i < journal_.size(); ++i) {
    if (lasts[i]) {
      journal_[i].Play(&Directory::durable);
    } else {
      rest.push_back(std::move(journal_[i]));
    }
  }
  journal_ = std::move(rest);
  return {};
}

Result<uint64_t> MemoryFileSystem::FreeSpace(const std::string& dir) {
  const MutexLock lock(mutex_);
  NEPHILA_RETURN_IF_ERROR(ResolveDir("get the free space of", dir));
  return FreeSectors() * kSectorBytes;
}

void MemoryFileSystem::SetCapacity(uint64_t bytes) {
  const MutexLock lock(mutex_);
  capacity_sectors_ = bytes / kSectorBytes;
}

void MemoryFileSystem::LosePower(LossMode mode, uint64_t seed) {
  const MutexLock lock(mutex_);
  Dice dice(seed);
  ++epoch_;
  used_sectors_ = 0;
  KeepEntries(mode, dice);
  RestartFrom(*root_, mode, dice);
  std::erase_if(directories_, [epoch = epoch_](const auto& dir) {
    return dir->reached != epoch;
  });
}

void MemoryFileSystem::KeepEntries(LossMode mode, Dice& dice) {
  std::map<Directory*, uint64_t> changes;
  for (const EntryChange& change : journal_) {
    for (Directory* dir : change.touched) ++changes[dir];
  }
  // How many of its changes a directory keeps, drawn in the order of the
  // journal: that of the map is one of addresses, new in each run.
  std::map<Directory*, uint64_t> left;
  std::set<Directory*> ended;
  for (const EntryChange& change : journal_) {
    bool lasts = mode == LossMode::kEverything;
    if (mode == LossMode::kTorn) {
      lasts = !change.Touches(ended);
      for (Directory* dir : change.touched) {
        const auto [it, is_new] = left.try_emplace(dir, 0);
        if (is_new) it->second = dice.Below(changes[dir] + 1);
        if (it->second == 0) lasts = false;
        if (it->second > 0) --it->second;
      }
    }
    if (lasts) {
      change.Play(&Directory::durable);
    } else {
      ended.insert(change.touched.begin(), change.touched.end());
    }
  }
  journal_.clear();
}

void MemoryFileSystem::RestartFrom(Directory& dir, LossMode mode, Dice& dice) {
  dir.reached = epoch_;
  dir.now = dir.durable;
  for (const auto& [name, entry] : dir.now) {
    if (entry.dir != nullptr) {
      RestartFrom(*entry.dir, mode, dice);
      continue;
    }
    Inode& inode = *entry.file;
    if (mode == LossMode::kNothingUnsynced) inode.now = inode.durable;
    if (mode == LossMode::kTorn) inode.now = inode.Torn(dice);
    inode.durable = inode.now;
    inode.pending.clear();
    inode.named = true;
    inode.users = 0;
    inode.locked = false;
    used_sectors_ += inode.now.used_sectors;
  }
}

Result<MemoryFileSystem::Place> MemoryFileSystem::Resolve(
    std::string_view action, const std::string& path) {
  Place place{{root_}, {}, nullptr};
  for (std::string_view rest = path; !rest.empty();) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") return Fail(action, path, EINVAL);
    if (!place.name.empty()) {
      if (place.entry == nullptr) return Fail(action, path, ENOENT);
      if (place.entry->dir == nullptr) return Fail(action, path, ENOTDIR);
      place.way.push_back(place.entry->dir);
    }
    place.name = part;
    const auto it = place.dir()->now.find(place.name);
    place.entry = it == place.dir()->now.end() ? nullptr : &it->second;
  }
  return place;
}

Result<MemoryFileSystem::Directory*> MemoryFileSystem::ResolveDir(
    std::string_view action, const std::string& path) {
  NEPHILA_TRY(const Place place, Resolve(action, path));
  if (place.name.empty()) return root_;
  if (place.entry == nullptr) return Fail(action, path, ENOENT);
  if (place.entry->dir == nullptr) return Fail(action, path, ENOTDIR);
  return place.entry->dir;
}

Result<std::shared_ptr<MemoryFileSystem::Inode>> MemoryFileSystem::OpenInode(
    std::string_view action, const std::string& path, OpenMode mode) {
  NEPHILA_TRY(const Place place, Resolve(action, path));
  const bool may_create =
      mode == OpenMode::kCreate || mode == OpenMode::kCreateNew;
  if (place.name.empty()) return Fail(action, path, EISDIR);
  if (place.entry == nullptr) {
    if (!may_create) return Fail(action, path, ENOENT);
    auto inode = std::make_shared<Inode>();
    Commit(EntryChange::Link(place, Entry{inode, nullptr}));
    return inode;
  }
  if (mode == OpenMode::kCreateNew) return Fail(action, path, EEXIST);
  if (place.entry->dir != nullptr) return Fail(action, path, EISDIR);
  return place.entry->file;
}

void MemoryFileSystem::Commit(EntryChange change) {
  change.Play(&Directory::now);
  journal_.push_back(std::move(change));
}

void MemoryFileSystem::ReleaseIfUnused(const Inode& inode) {
  if (!inode.named && inode.users == 0) {
    used_sectors_ -= inode.now.used_sectors;
  }
}

uint64_t MemoryFileSystem::FreeSectors() const {
  return capacity_sectors_ - std::min(capacity_sectors_, used_sectors_);
}

uint64_t MemoryFileSystem::FittingEnd(const Contents& contents, uint64_t begin,
                                      uint64_t end) const {
  uint64_t room = FreeSectors();
  for (uint64_t i = begin / kSectorBytes; i < Contents::SectorsOf(end); ++i) {
    if (i < contents.has_sector.size() && contents.has_sector[i]) continue;
    if (room == 0) return std::max(begin, i * kSectorBytes);
    --room;
  }
  return end;
}

void MemoryFileSystem::Apply(Inode& inode, Change change) {
  used_sectors_ -= inode.now.used_sectors;
  inode.now.Apply(change);
  used_sectors_ += inode.now.used_sectors;
  inode.pending.push_back(std::move(change));
}

}  // namespace nephila
