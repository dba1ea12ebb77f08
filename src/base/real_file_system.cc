#include "base/real_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

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
  Descriptor& operator=(Descriptor&&) = delete;
  // The result of close is not looked at: a write it could still report as
  // failed was never promised to last, only Sync promises that and reports.
  // Nor is it retried on EINTR: on Linux the descriptor is gone by then.
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

Result<Descriptor> OpenDescriptor(std::string_view action,
                                  const std::string& path, int flags) {
  const int fd =
      Retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC, kFileMode); });
  if (fd < 0) return FileError(action, path, errno);
  return Descriptor(fd);
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

class RealFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenOptions options) override {
    // A pipe without a writer must not hold us up before we see what it is.
    int flags = FlagsOf(options.mode) | O_NONBLOCK;
    if (options.direct) flags |= O_DIRECT;
    auto opened = OpenDescriptor("open", path, flags);
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
    if (::renameat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str()) != 0) {
      return FileError("rename " + from + " to", to, errno);
    }
    return {};
  }

  Status Remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0) return FileError("remove", path, errno);
    return {};
  }

  Status RemoveDir(const std::string& path) override {
    if (::rmdir(path.c_str()) != 0) {
      return FileError("remove directory", path, errno);
    }
    return {};
  }

  Status MakeDir(const std::string& path) override {
    if (::mkdir(path.c_str(), kDirMode) == 0) return {};
    const int error = errno;
    struct stat info;
    if (error == EEXIST && ::stat(path.c_str(), &info) == 0 &&
        S_ISDIR(info.st_mode)) {
      return {};
    }
    return FileError("make directory", path, error);
  }

  Result<std::vector<DirEntry>> List(const std::string& dir) override {
    const std::unique_ptr<DIR, CloseDir> stream(::opendir(dir.c_str()));
    if (stream == nullptr) return FileError("list", dir, errno);
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

  Result<bool> Exists(const std::string& path) override {
    struct stat info;
    if (::stat(path.c_str(), &info) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return FileError("look for", path, errno);
  }

  Result<FileStamp> Stamp(const std::string& path) override {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) {
      return FileError("look at", path, errno);
    }
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
    NEPHILA_TRY(Descriptor fd, OpenDescriptor("lock", path, O_RDWR | O_CREAT));
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
    struct statvfs info;
    if (Retry([&] { return ::statvfs(dir.c_str(), &info); }) != 0) {
      return FileError("get the free space of", dir, errno);
    }
    return uint64_t{info.f_bavail} * uint64_t{info.f_frsize};
  }

 private:
  struct CloseDir {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
};

}  // namespace

std::unique_ptr<FileSystem> MakeRealFileSystem() {
  return std::make_unique<RealFileSystem>();
}

}  // namespace nephila
