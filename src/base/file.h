// File and FileSystem: the only way nephila's data reaches a disk (a log file
// alone is written past them, log.h).
//
// RealFileSystem is the POSIX one; MemoryFileSystem is a twin that knows what
// a power loss would take; FaultyFileSystem wraps either and fails on demand.
// Written data is durable after Sync of its file, a created, renamed or
// removed name after SyncDir of its directory; neither implies the other.
// After a crash of the process alone a restart sees what the dead one wrote
// and cannot tell what of it is durable: it must Sync and SyncDir all that it
// builds on before it makes anything durable that relies on it.
// Every error names the path, and for reads and writes the offset. Files and
// locks end before their file system. A FileSystem can be used from any
// thread; so can a File, whose calls are positional and share no cursor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace nephila {

enum class OpenMode : uint8_t {
  kRead,       // must exist; writes fail
  kReadWrite,  // must exist
  kCreate,     // made if it is not there; contents are kept
  kCreateNew,  // must not exist
};

// Implicit from a mode: Open(path, OpenMode::kRead).
struct OpenOptions {
  OpenOptions(OpenMode open_mode,  // NOLINT(google-explicit-constructor)
              bool is_direct = false)
      : mode(open_mode), direct(is_direct) {}

  OpenMode mode;
  // Past the page cache (O_DIRECT). Offset, length and buffer address of every
  // read and write are multiples of kDirectAlignment, or it fails with EINVAL;
  // a read may end short at the end of the file. Open returns kUnsupported
  // where the file system cannot, possibly after creating the file.
  bool direct;
};

inline constexpr uint64_t kDirectAlignment = 4096;

enum class Advice : uint8_t {
  kSequential,
  // Drops clean pages from the cache. It does nothing for those that are yet
  // to be written: StartWriteback, and then this a while later.
  kDontNeed,
  kWillNeed,
};

class File {
 public:
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // At least one byte unless the file ends at `offset` (0) or `out` is empty.
  virtual Result<size_t> ReadSome(uint64_t offset,
                                  std::span<std::byte> out) = 0;
  // May write less than all of `data`. Past the end, the gap reads as zeros.
  virtual Result<size_t> WriteSome(uint64_t offset,
                                   std::span<const std::byte> data) = 0;

  // Fills `out`; returns less than its size only at the end of the file.
  Result<size_t> Read(uint64_t offset, std::span<std::byte> out);
  // Fills `out`; kCorruption if the file ends before.
  Status ReadExact(uint64_t offset, std::span<std::byte> out);
  // Writes all of `data`. After an error any part of it may be written.
  Status Write(uint64_t offset, std::span<const std::byte> data);

  // Makes data and size durable. After an error nothing is known about what
  // is on disk, and a second Sync that succeeds proves nothing, for the system
  // takes what it failed to write as written: end the process. Nor can the
  // next process believe what it reads of such a file; it has to write again
  // what it wants to keep.
  virtual Status Sync() = 0;
  virtual Status Truncate(uint64_t size) = 0;
  // Reserves disk blocks for [0, size), so that later writes there cannot run
  // out of space, and grows the file to at least `size` bytes. After kNoSpace
  // the file may have grown in part. kUnsupported where the file system cannot
  // reserve (NFS before 4.2, some FUSE; ZFS before 2.2); zeros are never
  // written in its place, as they would race with other writers. Where data
  // is not written in place (btrfs with copy-on-write, ZFS) a write into
  // reserved space can run out of space all the same.
  virtual Status Allocate(uint64_t size) = 0;
  virtual Result<uint64_t> Size() = 0;
  // A hint about [offset, offset + length); length 0 is "to the end".
  virtual void Advise(uint64_t offset, uint64_t length, Advice advice);
  // Begins to write what is not yet on disk of [offset, offset + length),
  // length 0 being "to the end", so that a later Sync has less to do. Promises
  // nothing; may block when the disk has much to do already.
  virtual void StartWriteback(uint64_t offset, uint64_t length);

  // As opened; a rename does not change it.
  const std::string& path() const { return path_; }
  bool direct() const { return direct_; }

 protected:
  explicit File(std::string path, bool direct = false)
      : path_(std::move(path)), direct_(direct) {}

  // EINVAL for a direct file and a place or buffer that is not aligned.
  Status CheckAligned(std::string_view action, uint64_t offset,
                      std::span<const std::byte> buffer) const;

 private:
  const std::string path_;
  const bool direct_;
};

// Held until destroyed, or until the process ends and no child that it forked
// still has the lock's descriptor.
class FileLock {
 public:
  virtual ~FileLock() = default;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 protected:
  FileLock() = default;
};

struct DirEntry {
  bool operator==(const DirEntry&) const = default;

  std::string name;
  bool is_directory;  // itself: a symbolic link is none
};

// What tells two versions of a file apart without reading them.
struct FileStamp {
  bool operator==(const FileStamp&) const = default;

  uint64_t size = 0;
  // Grows with each change; its unit is the file system's own.
  int64_t changed = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  // Regular files only: anything else is refused at once, by its kind.
  virtual Result<std::unique_ptr<File>> Open(const std::string& path,
                                             OpenOptions options) = 0;
  // Replaces `to` in one step. A File open on either stays with its contents.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;     // a file
  virtual Status RemoveDir(const std::string& path) = 0;  // an empty one
  // Both are fine with a directory that is already there. Each new directory
  // is an entry of its parent, durable after SyncDir of that parent.
  virtual Status MakeDir(const std::string& path) = 0;
  Status MakeDirs(const std::string& path);
  // What is in a directory, sorted by name, without "." and "..".
  virtual Result<std::vector<DirEntry>> List(const std::string& dir) = 0;
  virtual Result<bool> Exists(const std::string& path) = 0;
  // Of a file; kNotFound if there is none.
  virtual Result<FileStamp> Stamp(const std::string& path) = 0;
  // Makes creations, renames and removals in `dir` durable.
  virtual Status SyncDir(const std::string& dir) = 0;
  // Creates the file if need be; it stays when the lock goes. kBusy, at once,
  // if another holder in this or another process has it.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path) = 0;
  // Bytes that the file system of `dir` has free for ordinary users, now: one
  // number for all who write there, and quotas and metadata do not show in it.
  virtual Result<uint64_t> FreeSpace(const std::string& dir) = 0;

 protected:
  FileSystem() = default;
};

// The directory part of a path: "a" of "a/b", "/" of "/b", "." of "b".
std::string ParentDir(std::string_view path);

// "<action> <path> at offset <offset>", as the errors of files have it.
std::string FilePlace(std::string_view action, std::string_view path,
                      uint64_t offset);
// How every FileSystem reports an errno: what was done, to which file, where.
Unexpected<Error> FileError(std::string_view action, std::string_view path,
                            int sys_errno);
Unexpected<Error> FileErrorAt(std::string_view action, std::string_view path,
                              uint64_t offset, int sys_errno);
// Of a Sync or SyncDir: kIo even for want of space, since kNoSpace asks for a
// second try and a failed sync must not have one.
Unexpected<Error> SyncError(std::string_view action, std::string_view path,
                            int sys_errno);

// kCorruption for a file of more than `max_bytes`: such a file is not ours.
Result<std::string> ReadWholeFile(FileSystem& fs, const std::string& path,
                                  size_t max_bytes);

// Removes a file, or a directory with all it holds; fine if nothing is there.
// Durable after SyncDir of the parent. After an error some of it is gone.
Status RemoveAll(FileSystem& fs, const std::string& path);

// Makes `path` a directory, with those above it, durably: SyncDirs every
// parent, also of what was there, since who made it may have died before.
Status EnsureDir(FileSystem& fs, const std::string& path);

// Writes a file in any number of steps that appears whole or not at all:
// whenever the machine stops, `path` is wholly the old file (or absent, if it
// was) or wholly the new one. Goes by way of `path`.tmp, which a crash may
// leave and the next Create empties; so one at a time per path.
class AsideFile {
 public:
  // `fs` outlives this.
  static Result<std::unique_ptr<AsideFile>> Create(FileSystem& fs,
                                                   const std::string& path);
  // Without a Commit, removes the .tmp as best it can.
  ~AsideFile();
  AsideFile(const AsideFile&) = delete;
  AsideFile& operator=(const AsideFile&) = delete;

  File& file() { return *file_; }
  // Syncs, renames, syncs the directory. After an error `path` is either file.
  // REQUIRES: called once.
  Status Commit();

 private:
  AsideFile(FileSystem& fs, const std::string& path)
      : fs_(fs), path_(path), aside_(path + ".tmp") {}

  FileSystem& fs_;
  const std::string path_;
  const std::string aside_;
  std::unique_ptr<File> file_;
  bool commit_called_ = false;
  bool renamed_ = false;
};

// Makes `path` hold `contents`, durably, by an AsideFile.
Status PublishFile(FileSystem& fs, const std::string& path,
                   std::string_view contents);

}  // namespace nephila
