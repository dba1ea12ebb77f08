#include "base/frozen_file_system.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

namespace nephila {
namespace {

class FrozenLock final : public FileLock {};

Unexpected<Error> Refused(const std::string& path) {
  return Unexpected(Error{ErrorCode::kUnsupported,
                          path + ": these files are only looked at"});
}

}  // namespace

class FrozenFile final : public File {
 public:
  // Without `real` it is of the view alone.
  FrozenFile(const std::string& path, std::unique_ptr<File> real,
             std::shared_ptr<FrozenFileSystem::Changed> changed)
      : File(path, real != nullptr && real->direct()),
        real_(std::move(real)),
        changed_(std::move(changed)) {}

  Result<size_t> ReadSome(uint64_t offset, std::span<std::byte> out) override {
    NEPHILA_TRY(const uint64_t size, Size());
    if (offset >= size || out.empty()) return size_t{0};
    if (changed_->copy) {
      const size_t count = std::min<uint64_t>(out.size(), size - offset);
      std::memcpy(out.data(), changed_->copy->data() + offset, count);
      return count;
    }
    NEPHILA_TRY(const size_t count, real_->ReadSome(offset, out));
    return std::min<uint64_t>(count, size - offset);
  }

  Result<size_t> WriteSome(uint64_t offset,
                           std::span<const std::byte> data) override {
    NEPHILA_RETURN_IF_ERROR(Copy());
    if (offset + data.size() > FrozenFileSystem::kMostCopied) {
      return Refused(path());
    }
    std::string& copy = *changed_->copy;
    copy.resize(std::max<uint64_t>(copy.size(), offset + data.size()));
    std::memcpy(copy.data() + offset, data.data(), data.size());
    return data.size();
  }

  Status Sync() override { return {}; }
  Status Truncate(uint64_t size) override {
    if (!changed_->copy && size <= changed_->size) {
      changed_->size = size;
      return {};
    }
    if (size > FrozenFileSystem::kMostCopied) return Refused(path());
    NEPHILA_RETURN_IF_ERROR(Copy());
    changed_->copy->resize(size);
    return {};
  }
  // Nothing will be written, so nothing has to be held.
  Status Allocate(uint64_t /*size*/) override { return {}; }
  Result<uint64_t> Size() override {
    return changed_->copy ? changed_->copy->size() : changed_->size;
  }

 private:
  Status Copy() {
    if (changed_->copy) return {};
    if (changed_->size > FrozenFileSystem::kMostCopied) return Refused(path());
    std::string copy(changed_->size, '\0');
    if (real_ != nullptr && !copy.empty()) {
      NEPHILA_RETURN_IF_ERROR(
          real_->ReadExact(0, std::as_writable_bytes(std::span(copy))));
    }
    changed_->copy = std::move(copy);
    return {};
  }

  const std::unique_ptr<File> real_;
  const std::shared_ptr<FrozenFileSystem::Changed> changed_;
};

Result<bool> FrozenFileSystem::ExistsBelow(const std::string& path) {
  if (removed_.contains(path)) return false;
  return real_.Exists(path);
}

Result<std::unique_ptr<File>> FrozenFileSystem::Open(const std::string& path,
                                                     OpenOptions options) {
  const auto known = changed_.find(path);
  NEPHILA_TRY(const bool below, ExistsBelow(path));
  const bool exists = below || known != changed_.end();
  if (exists && options.mode == OpenMode::kCreateNew) {
    return FileError("creating", path, EEXIST);
  }
  const bool makes =
      options.mode == OpenMode::kCreate || options.mode == OpenMode::kCreateNew;
  if (!exists && !makes) return FileError("opening", path, ENOENT);
  std::unique_ptr<File> real;
  auto changed = std::make_shared<Changed>();
  if (known != changed_.end()) changed = known->second;
  if (below && !changed->copy) {
    options.mode = OpenMode::kRead;
    NEPHILA_TRY(real, real_.Open(path, options));
    if (known == changed_.end()) {
      NEPHILA_TRY(changed->size, real->Size());
    }
  } else if (!changed->copy) {
    changed->copy.emplace();
  }
  changed_[path] = changed;
  return std::unique_ptr<File>(
      std::make_unique<FrozenFile>(path, std::move(real), changed));
}

Status FrozenFileSystem::Rename(const std::string& from,
                                const std::string& to) {
  const auto known = changed_.find(from);
  // Only what was written here is ever renamed by those who open a store.
  if (known == changed_.end() || !known->second->copy) return Refused(from);
  changed_[to] = known->second;
  Forget(from);
  return {};
}

void FrozenFileSystem::Forget(const std::string& path) {
  changed_.erase(path);
  removed_.insert(path);
}

Status FrozenFileSystem::Remove(const std::string& path) {
  NEPHILA_TRY(const bool exists, Exists(path));
  if (!exists) return FileError("removing", path, ENOENT);
  Forget(path);
  return {};
}

Status FrozenFileSystem::RemoveDir(const std::string& path) {
  return Refused(path);
}

Status FrozenFileSystem::MakeDir(const std::string& path) {
  NEPHILA_TRY(const bool exists, real_.Exists(path));
  return exists ? Status() : Refused(path);
}

Result<std::vector<DirEntry>> FrozenFileSystem::List(const std::string& dir) {
  NEPHILA_TRY(std::vector<DirEntry> entries, real_.List(dir));
  std::erase_if(entries, [&](const DirEntry& entry) {
    return removed_.contains(dir + "/" + entry.name);
  });
  for (const auto& [path, changed] : changed_) {
    if (ParentDir(path) != dir) continue;
    const DirEntry entry{path.substr(dir.size() + 1), false};
    const bool is_there = std::any_of(
        entries.begin(), entries.end(),
        [&](const DirEntry& known) { return known.name == entry.name; });
    if (!is_there) entries.push_back(entry);
  }
  std::sort(
      entries.begin(), entries.end(),
      [](const DirEntry& a, const DirEntry& b) { return a.name < b.name; });
  return entries;
}

Result<bool> FrozenFileSystem::Exists(const std::string& path) {
  if (changed_.contains(path)) return true;
  return ExistsBelow(path);
}

Result<FileStamp> FrozenFileSystem::Stamp(const std::string& path) {
  const auto known = changed_.find(path);
  if (known != changed_.end()) {
    const Changed& changed = *known->second;
    return FileStamp{changed.copy ? changed.copy->size() : changed.size, 0};
  }
  if (removed_.contains(path)) return FileError("look at", path, ENOENT);
  return real_.Stamp(path);
}

Status FrozenFileSystem::SyncDir(const std::string& /*dir*/) { return {}; }

Result<std::unique_ptr<FileLock>> FrozenFileSystem::Lock(
    const std::string& /*path*/) {
  return std::unique_ptr<FileLock>(std::make_unique<FrozenLock>());
}

Result<uint64_t> FrozenFileSystem::FreeSpace(const std::string& dir) {
  return real_.FreeSpace(dir);
}

}  // namespace nephila
