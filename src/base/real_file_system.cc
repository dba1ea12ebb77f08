#include "base/real_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/text.h"

namespace nephila {
namespace {

constexpr mode_t kFileMode = 0666;  // less the umask
constexpr mode_t kDirMode = 0777;

// Calls `call` until no signal interrupts it.
template <typename Call>
auto Retry(Call call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

// Sizes and offsets beyond off_t turn negative, which the kernel refuses.
off_t ToOff(uint64_t value) { return static_cast<off_t>(value); }

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  // The result of close is not looked at: a write it could still report as
  // failed was never promised to last, only Sync promises that and reports.
  // Nor is it retried on EINTR: on Linux the descriptor is gone by then.
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Where a call acts: at `name` in an open directory.
struct Place {
  int at() const { return guarded ? dir.get() : AT_FDCWD; }
  int stat_flags() const { return guarded ? AT_SYMLINK_NOFOLLOW : 0; }

  Descriptor dir{-1};
  std::string name;
  // The last name must not be a symbolic link; those before it are checked.
  bool guarded = false;
};

bool IsLink(int dir, const std::string& name) {
  struct stat info;
  return ::fstatat(dir, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(info.st_mode);
}

Unexpected<Error> LinkError(std::string_view action, const std::string& path,
                            const std::string& name) {
  return Unexpected(
      Error{ErrorCode::kInvalidArgument,
            std::string(action) + " " + path + ": " + name +
                " is a symbolic link, and links inside a job are not followed; "
                "put the file or folder itself in its place",
            ELOOP});
}

// What open and stat report for a link depends on the flags.
Unexpected<Error> PlaceError(std::string_view action, const std::string& path,
                             const Place& place, int sys_errno) {
  if (place.guarded && (sys_errno == ELOOP || sys_errno == ENOTDIR) &&
      IsLink(place.at(), place.name)) {
    return LinkError(action, path, place.name);
  }
  return FileError(action, path, sys_errno);
}

std::string UserName(uid_t uid) {
  std::vector<char> buffer(size_t{16} << 10);
  passwd entry{};
  passwd* found = nullptr;
  std::string number = "user " + std::to_string(uid);
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return number;
  }
  return number + " (" + EscapeForTerminal(found->pw_name) + ")";
}

Status CheckOwner(int dir, const std::string& path) {
  struct stat info;
  if (::fstat(dir, &info) != 0) return FileError("look at", path, errno);
  if (info.st_uid == ::geteuid()) return {};
  return Unexpected(
      Error{ErrorCode::kInvalidArgument,
            path + ": this folder belongs to " + UserName(info.st_uid) +
                "; run nephila as that user, or choose another folder",
            EPERM});
}

// The names of a path, without empty ones and "."; nullopt if one is "..".
std::optional<std::vector<std::string>> NamesOf(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (name == "..") return std::nullopt;
    if (!name.empty() && name != ".") names.emplace_back(name);
  }
  return names;
}

bool IsDescriptorShortage(int error) {
  return error == EMFILE || error == ENFILE;
}

class RealFile final : public File {
 public:
  RealFile(std::string path, bool direct, Descriptor fd)
      : File(std::move(path), direct), fd_(std::move(fd)) {}

  Result<size_t> ReadSome(uint64_t offset, std::span<std::byte> out) override {
    NEPHILA_RETURN_IF_ERROR(CheckAligned("read", offset, out));
    const ssize_t n = Retry([&] {
      return ::pread(fd_.get(), out.data(), out.size(), ToOff(offset));
    });
    if (n < 0) return FileErrorAt("read", path(), offset, errno);
    return static_cast<size_t>(n);
  }

  Result<size_t> WriteSome(uint64_t offset,
                           std::span<const std::byte> data) override {
    NEPHILA_RETURN_IF_ERROR(CheckAligned("write", offset, data));
    const ssize_t n = Retry([&] {
      return ::pwrite(fd_.get(), data.data(), data.size(), ToOff(offset));
    });
    if (n < 0) return FileErrorAt("write", path(), offset, errno);
    return static_cast<size_t>(n);
  }

  Status Sync() override {
    // EINTR says that the wait was cut short, not that a write has failed;
    // every other error is final.
    if (Retry([&] { return ::fdatasync(fd_.get()); }) != 0) {
      return SyncError("sync", path(), errno);
    }
    return {};
  }

  Status Truncate(uint64_t size) override {
    if (Retry([&] { return ::ftruncate(fd_.get(), ToOff(size)); }) != 0) {
      return FileErrorAt("truncate", path(), size, errno);
    }
    return {};
  }

  Status Allocate(uint64_t size) override {
    if (size == 0) return {};  // fallocate refuses an empty range
    // Not posix_fallocate: where the file system cannot, that one writes zeros,
    // and over what another thread writes meanwhile.
    if (Retry([&] { return ::fallocate(fd_.get(), 0, 0, ToOff(size)); }) == 0) {
      return {};
    }
    if (errno != EOPNOTSUPP)
      return FileErrorAt("allocate", path(), size, errno);
    return Unexpected(Error{ErrorCode::kUnsupported,
                            FilePlace("allocate", path(), size) +
                                ": the file system cannot reserve space",
                            EOPNOTSUPP});
  }

  Result<uint64_t> Size() override {
    struct stat info;
    if (::fstat(fd_.get(), &info) != 0) {
      return FileError("get the size of", path(), errno);
    }
    return static_cast<uint64_t>(info.st_size);
  }

  void Advise(uint64_t offset, uint64_t length, Advice advice) override {
    int hint = POSIX_FADV_NORMAL;
    switch (advice) {
      case Advice::kSequential:
        hint = POSIX_FADV_SEQUENTIAL;
        break;
      case Advice::kDontNeed:
        hint = POSIX_FADV_DONTNEED;
        break;
      case Advice::kWillNeed:
        hint = POSIX_FADV_WILLNEED;
        break;
    }
    // A hint that is refused changes nothing but speed.
    static_cast<void>(
        ::posix_fadvise(fd_.get(), ToOff(offset), ToOff(length), hint));
  }

  void StartWriteback(uint64_t offset, uint64_t length) override {
    // Not waited for, so that only Sync has an error to tell.
    static_cast<void>(::sync_file_range(fd_.get(), ToOff(offset), ToOff(length),
                                        SYNC_FILE_RANGE_WRITE));
  }

 private:
  const Descriptor fd_;
};

class RealFileLock final : public FileLock {
 public:
  explicit RealFileLock(Descriptor fd) : fd_(std::move(fd)) {}

 private:
  const Descriptor fd_;  // its close ends the lock
};

int FlagsOf(OpenMode mode) {
  switch (mode) {
    case OpenMode::kRead:
      return O_RDONLY;
    case OpenMode::kReadWrite:
      return O_RDWR;
    case OpenMode::kCreate:
      return O_RDWR | O_CREAT;
    case OpenMode::kCreateNew:
      return O_RDWR | O_CREAT | O_EXCL;
  }
  return O_RDONLY;
}

// What open gave us must be a regular file.
Status CheckRegular(const Descriptor& fd, const std::string& path) {
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return FileError("open", path, errno);
  if (S_ISREG(info.st_mode)) return {};
  if (S_ISDIR(info.st_mode)) return FileError("open", path, EISDIR);
  const char* const kind = S_ISFIFO(info.st_mode)   ? "a pipe"
                           : S_ISCHR(info.st_mode)  ? "a character device"
                           : S_ISBLK(info.st_mode)  ? "a block device"
                           : S_ISSOCK(info.st_mode) ? "a socket"
                                                    : "something else";
  return Unexpected(
      Error{ErrorCode::kInvalidArgument,
            "open " + path + ": " + kind + ", not a regular file"});
}

bool IsDirectory(DIR* stream, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat info;
  // One that is gone by now is no directory.
  return ::fstatat(::dirfd(stream), entry.d_name, &info, AT_SYMLINK_NOFOLLOW) ==
             0 &&
         S_ISDIR(info.st_mode);
}

// Without a guarded folder it is the plain one.
class RealFileSystem final : public GuardedFileSystem {
 public:
  explicit RealFileSystem(DescriptorWait wait) : wait_(std::move(wait)) {}

  void Guard(const std::string& dir) override {
    if (dir.empty()) return;
    std::string folder = dir;
    while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    const MutexLock lock(mutex_);
    for (const std::string& other : guarded_) {
      if (folder == other || NamesBelow(other, folder)) return;
    }
    guarded_.push_back(std::move(folder));
  }

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenOptions options) override {
    // A pipe without a writer must not hold us up before we see what it is.
    int flags = FlagsOf(options.mode) | O_NONBLOCK;
    if (options.direct) flags |= O_DIRECT;
    auto opened = OpenDescriptor("open", path, flags,
                                 /*changes=*/options.mode != OpenMode::kRead);
    if (!opened.has_value()) {
      if (!options.direct || opened.error().sys_errno != EINVAL) {
        return Unexpected(std::move(opened).error());
      }
      return Unexpected(Error{
          ErrorCode::kUnsupported,
          "open " + path + ": the file system has no direct I/O", EINVAL});
    }
    Descriptor fd = *std::move(opened);
    NEPHILA_RETURN_IF_ERROR(CheckRegular(fd, path));
    const int kept = ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK;
    if (::fcntl(fd.get(), F_SETFL, kept) != 0) {
      return FileError("open", path, errno);
    }
    std::unique_ptr<File> file =
        std::make_unique<RealFile>(path, options.direct, std::move(fd));
    return file;
  }

  Status Rename(const std::string& from, const std::string& to) override {
    NEPHILA_TRY(const Place old_place, Find("rename", from, /*changes=*/true));
    NEPHILA_TRY(const Place new_place, Find("rename", to, /*changes=*/true));
    if (::renameat(old_place.at(), old_place.name.c_str(), new_place.at(),
                   new_place.name.c_str()) != 0) {
      return FileError("rename " + from + " to", to, errno);
    }
    return {};
  }

  Status Remove(const std::string& path) override {
    NEPHILA_TRY(const Place place, Find("remove", path, /*changes=*/true));
    if (::unlinkat(place.at(), place.name.c_str(), 0) != 0) {
      return FileError("remove", path, errno);
    }
    return {};
  }

  Status RemoveDir(const std::string& path) override {
    NEPHILA_TRY(const Place place,
                Find("remove directory", path, /*changes=*/true));
    if (::unlinkat(place.at(), place.name.c_str(), AT_REMOVEDIR) != 0) {
      return FileError("remove directory", path, errno);
    }
    return {};
  }

  Status MakeDir(const std::string& path) override {
    constexpr std::string_view kAction = "make directory";
    NEPHILA_TRY(const Place place, Find(kAction, path, /*changes=*/true));
    if (::mkdirat(place.at(), place.name.c_str(), kDirMode) == 0) return {};
    const int error = errno;
    struct stat info;
    if (error == EEXIST && ::fstatat(place.at(), place.name.c_str(), &info,
                                     place.stat_flags()) == 0) {
      if (S_ISDIR(info.st_mode)) return {};
      if (S_ISLNK(info.st_mode)) return LinkError(kAction, path, place.name);
    }
    return FileError(kAction, path, error);
  }

  Result<std::vector<DirEntry>> List(const std::string& dir) override {
    NEPHILA_TRY(Descriptor fd,
                OpenDescriptor("list", dir, O_RDONLY | O_DIRECTORY));
    const std::unique_ptr<DIR, CloseDir> stream(::fdopendir(fd.get()));
    if (stream == nullptr) return FileError("list", dir, errno);
    fd.Release();  // the stream closes it
    std::vector<DirEntry> entries;
    for (;;) {
      errno = 0;  // the end and an error are both a null pointer
      // Safe: the stream is ours alone.
      const dirent* entry = ::readdir(stream.get());  // NOLINT
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      entries.push_back({std::string(name), IsDirectory(stream.get(), *entry)});
    }
    if (errno != 0) return FileError("list", dir, errno);
    std::sort(
        entries.begin(), entries.end(),
        [](const DirEntry& a, const DirEntry& b) { return a.name < b.name; });
    return entries;
  }

  // A link below a guarded folder exists, wherever it points: who opens it is
  // told.
  Result<bool> Exists(const std::string& path) override {
    struct stat info;
    auto place = Find("look for", path);
    if (!place.has_value()) {
      const int error = place.error().sys_errno;
      if (error == ENOENT || error == ENOTDIR) return false;
      return Unexpected(std::move(place).error());
    }
    if (::fstatat(place->at(), place->name.c_str(), &info,
                  place->stat_flags()) == 0) {
      return true;
    }
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return FileError("look for", path, errno);
  }

  Result<FileStamp> Stamp(const std::string& path) override {
    NEPHILA_TRY(const Place place, Find("look at", path));
    struct stat info;
    if (::fstatat(place.at(), place.name.c_str(), &info, place.stat_flags()) !=
        0) {
      return FileError("look at", path, errno);
    }
    if (S_ISLNK(info.st_mode)) return LinkError("look at", path, place.name);
    constexpr int64_t kNanoseconds = 1'000'000'000;
    return FileStamp{
        static_cast<uint64_t>(info.st_size),
        int64_t{info.st_mtim.tv_sec} * kNanoseconds + info.st_mtim.tv_nsec};
  }

  Status SyncDir(const std::string& dir) override {
    NEPHILA_TRY(const Descriptor fd,
                OpenDescriptor("sync directory", dir, O_RDONLY | O_DIRECTORY));
    if (Retry([&] { return ::fsync(fd.get()); }) != 0) {
      return SyncError("sync directory", dir, errno);
    }
    return {};
  }

  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    NEPHILA_TRY(Descriptor fd, OpenLock(path));
    if (Retry([&] { return ::flock(fd.get(), LOCK_EX | LOCK_NB); }) != 0) {
      const int error = errno;
      if (error != EWOULDBLOCK) return FileError("lock", path, error);
      return Unexpected(Error{
          ErrorCode::kBusy, "lock " + path + ": another holder has it", error});
    }
    std::unique_ptr<FileLock> lock =
        std::make_unique<RealFileLock>(std::move(fd));
    return lock;
  }

  Result<uint64_t> FreeSpace(const std::string& dir) override {
    constexpr std::string_view kAction = "get the free space of";
    NEPHILA_TRY(const Descriptor fd, OpenDescriptor(kAction, dir, O_PATH));
    struct statvfs info;
    if (Retry([&] { return ::fstatvfs(fd.get(), &info); }) != 0) {
      return FileError(kAction, dir, errno);
    }
    return uint64_t{info.f_bavail} * uint64_t{info.f_frsize};
  }

 private:
  struct CloseDir {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };

  // The names of `path` below the folder `dir`; nullopt if it is not inside.
  static std::optional<std::vector<std::string>> NamesBelow(
      const std::string& dir, const std::string& path) {
    if (!path.starts_with(dir)) return std::nullopt;
    const std::string_view rest = std::string_view(path).substr(dir.size());
    if (!rest.starts_with('/') && !dir.ends_with('/')) return std::nullopt;
    auto names = NamesOf(rest);
    if (names && names->empty()) return std::nullopt;  // the folder itself
    return names;
  }

  // The result of `call`, which is made again while it finds no free
  // descriptor.
  template <typename Call>
  std::invoke_result_t<Call> WithDescriptor(const Call& call) const {
    for (;;) {
      auto result = call();
      if (result.has_value() || wait_ == nullptr ||
          !IsDescriptorShortage(result.error().sys_errno)) {
        return result;
      }
      wait_(result.error());
    }
  }

  // `changes`: whether the call makes, changes or removes something.
  Result<Place> Find(std::string_view action, const std::string& path,
                     bool changes = false) NEPHILA_EXCLUDES(mutex_) {
    return WithDescriptor([&] { return FindOnce(action, path, changes); });
  }

  Result<Place> FindOnce(std::string_view action, const std::string& path,
                         bool changes) NEPHILA_EXCLUDES(mutex_) {
    std::string folder;
    std::optional<std::vector<std::string>> names;
    {
      const MutexLock lock(mutex_);
      for (const std::string& dir : guarded_) {
        if (dir.size() <= folder.size()) continue;
        if (auto below = NamesBelow(dir, path)) {
          folder = dir;
          names = std::move(below);
        }
      }
    }
    Place place;
    if (!names) {
      place.name = path;
      return place;
    }
    return Walk(action, path, folder, *std::move(names), changes);
  }

  static Result<Place> Walk(std::string_view action, const std::string& path,
                            const std::string& folder,
                            std::vector<std::string> names, bool changes) {
    constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    Descriptor dir(Retry([&] { return ::open(folder.c_str(), kFlags); }));
    if (dir.get() < 0) return FileError(action, path, errno);
    if (changes) NEPHILA_RETURN_IF_ERROR(CheckOwner(dir.get(), folder));
    Place place{std::move(dir), std::move(names.front()), /*guarded=*/true};
    for (size_t i = 1; i < names.size(); ++i) {
      Descriptor next(Retry([&] {
        return ::openat(place.at(), place.name.c_str(), kFlags | O_NOFOLLOW);
      }));
      if (next.get() < 0) return PlaceError(action, path, place, errno);
      place = {std::move(next), std::move(names[i]), /*guarded=*/true};
    }
    return place;
  }

  Result<Descriptor> OpenDescriptor(std::string_view action,
                                    const std::string& path, int flags,
                                    bool changes = false) {
    return WithDescriptor(
        [&] { return OpenOnce(action, path, flags, changes); });
  }

  Result<Descriptor> OpenOnce(std::string_view action, const std::string& path,
                              int flags, bool changes) {
    NEPHILA_TRY(const Place place, FindOnce(action, path, changes));
    if (place.guarded) flags |= O_NOFOLLOW;
    const int fd = Retry([&] {
      return ::openat(place.at(), place.name.c_str(), flags | O_CLOEXEC,
                      kFileMode);
    });
    if (fd < 0) return PlaceError(action, path, place, errno);
    // O_PATH opens the link itself.
    if (place.guarded && (flags & O_PATH) != 0 &&
        IsLink(place.at(), place.name)) {
      ::close(fd);
      return LinkError(action, path, place.name);
    }
    return Descriptor(fd);
  }

  // A lock that is there can be taken in the folder of another user, to check
  // it for example; it changes nothing.
  Result<Descriptor> OpenLock(const std::string& path) {
    auto found = OpenDescriptor("lock", path, O_RDWR);
    if (found.has_value() || found.error().code != ErrorCode::kNotFound) {
      return found;
    }
    return OpenDescriptor("lock", path, O_RDWR | O_CREAT, /*changes=*/true);
  }

  Mutex mutex_;
  std::vector<std::string> guarded_ NEPHILA_GUARDED_BY(mutex_);
  const DescriptorWait wait_;
};

}  // namespace

std::unique_ptr<FileSystem> MakeRealFileSystem(DescriptorWait wait) {
  return std::make_unique<RealFileSystem>(std::move(wait));
}

std::unique_ptr<GuardedFileSystem> MakeGuardedFileSystem(const std::string& dir,
                                                         DescriptorWait wait) {
  auto fs = std::make_unique<RealFileSystem>(std::move(wait));
  fs->Guard(dir);
  return fs;
}

Status CheckOwnFolder(const std::string& dir) {
  const Descriptor fd(Retry(
      [&] { return ::open(dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); }));
  // What cannot be opened is for whoever uses it to name.
  if (fd.get() < 0) return {};
  return CheckOwner(fd.get(), dir);
}

}  // namespace nephila
