// File and FileSystem: the only way nephila touches a disk.
//
// RealFileSystem is the POSIX one; MemoryFileSystem is a twin that knows what
// a power loss would take; FaultyFileSystem wraps either and fails on demand.
// Written data is durable after Sync of its file, a created, renamed or
// removed name after SyncDir of its directory; neither implies the other.
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

enum class Advice : uint8_t { kSequential, kDontNeed, kWillNeed };

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
  // is on disk, and a second Sync that succeeds proves nothing: end the
  // process.
  virtual Status Sync() = 0;
  virtual Status Truncate(uint64_t size) = 0;
  // Reserves disk blocks for [0, size), so that later writes there cannot run
  // out of space, and grows the file to at least `size` bytes. After kNoSpace
  // the file may have grown in part.
  virtual Status Allocate(uint64_t size) = 0;
  virtual Result<uint64_t> Size() = 0;
  // A hint about [offset, offset + length); length 0 is "to the end".
  virtual void Advise(uint64_t offset, uint64_t length, Advice advice);

  const std::string& path() const { return path_; }

 protected:
  explicit File(std::string path) : path_(std::move(path)) {}

 private:
  const std::string path_;
};

// Held until destroyed.
class FileLock {
 public:
  virtual ~FileLock() = default;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 protected:
  FileLock() = default;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  virtual Result<std::unique_ptr<File>> Open(const std::string& path,
                                             OpenMode mode) = 0;
  // Replaces `to` in one step. A File open on either stays with its contents.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;     // a file
  virtual Status RemoveDir(const std::string& path) = 0;  // an empty one
  // Both are fine with a directory that is already there. Each new directory
  // is an entry of its parent, durable after SyncDir of that parent.
  virtual Status MakeDir(const std::string& path) = 0;
  Status MakeDirs(const std::string& path);
  // The names in a directory, sorted, without "." and "..".
  virtual Result<std::vector<std::string>> List(const std::string& dir) = 0;
  virtual Result<bool> Exists(const std::string& path) = 0;
  // Makes creations, renames and removals in `dir` durable.
  virtual Status SyncDir(const std::string& dir) = 0;
  // Creates the file if need be; it stays when the lock goes. kBusy, at once,
  // if another holder in this or another process has it.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path) = 0;
  // Bytes this process could still write under `dir`.
  virtual Result<uint64_t> FreeSpace(const std::string& dir) = 0;

 protected:
  FileSystem() = default;
};

// The directory part of a path: "a" of "a/b", "/" of "/b", "." of "b".
std::string ParentDir(std::string_view path);

// "<action> <path> at offset <offset>", as the errors of files have it.
std::string FilePlace(std::string_view action, std::string_view path,
                      uint64_t offset);

// kCorruption for a file of more than `max_bytes`: such a file is not ours.
Result<std::string> ReadWholeFile(FileSystem& fs, const std::string& path,
                                  size_t max_bytes);

// Makes `path` hold `contents`, durably: whenever the machine stops, `path` is
// wholly the old file (or absent, if it was) or wholly the new one. Goes by
// way of `path`.tmp, which a crash may leave and the next call overwrites; so
// one caller at a time per path.
Status PublishFile(FileSystem& fs, const std::string& path,
                   std::string_view contents);

}  // namespace nephila
