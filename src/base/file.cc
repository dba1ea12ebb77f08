#include "base/file.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace nephila {
namespace {

constexpr size_t kReadChunkBytes = size_t{64} * 1024;

// A short read or write of a direct file can end between two places where the
// next could begin.
uint64_t AlignedDown(uint64_t length) {
  return length - length % kDirectAlignment;
}

Status RemoveTree(FileSystem& fs, const std::string& dir) {
  NEPHILA_TRY(const auto entries, fs.List(dir));
  for (const DirEntry& entry : entries) {
    const std::string path = dir + "/" + entry.name;
    NEPHILA_RETURN_IF_ERROR(entry.is_directory ? RemoveTree(fs, path)
                                               : fs.Remove(path));
  }
  return fs.RemoveDir(dir);
}

}  // namespace

Result<size_t> File::Read(uint64_t offset, std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size()) {
    NEPHILA_TRY(const size_t n, ReadSome(offset + done, out.subspan(done)));
    if (n == 0) break;
    done += n;
    if (!direct_ || done % kDirectAlignment == 0) continue;
    NEPHILA_TRY(const uint64_t size, Size());
    if (offset + done >= size) break;
    done = AlignedDown(done);
    if (n < kDirectAlignment) {
      return Unexpected(
          Error{ErrorCode::kIo, FilePlace("read", path_, offset + done) +
                                    ": a direct read ended early"});
    }
  }
  return done;
}

Status File::ReadExact(uint64_t offset, std::span<std::byte> out) {
  NEPHILA_TRY(const size_t n, Read(offset, out));
  if (n == out.size()) return {};
  return Unexpected(Error{ErrorCode::kCorruption,
                          FilePlace("read", path_, offset) +
                              ": the file ends after " + std::to_string(n) +
                              " of " + std::to_string(out.size()) + " bytes"});
}

Status File::Write(uint64_t offset, std::span<const std::byte> data) {
  size_t done = 0;
  while (done < data.size()) {
    NEPHILA_TRY(size_t n, WriteSome(offset + done, data.subspan(done)));
    if (direct_) n = AlignedDown(n);  // the rest once more
    if (n == 0) {
      return Unexpected(
          Error{ErrorCode::kIo, FilePlace("write", path_, offset + done) +
                                    ": the system accepts no bytes"});
    }
    done += n;
  }
  return {};
}

void File::Advise(uint64_t /*offset*/, uint64_t /*length*/, Advice /*advice*/) {
}

void File::StartWriteback(uint64_t /*offset*/, uint64_t /*length*/) {}

Status File::CheckAligned(std::string_view action, uint64_t offset,
                          std::span<const std::byte> buffer) const {
  if (!direct_) return {};
  const auto address = reinterpret_cast<uintptr_t>(buffer.data());
  if ((offset | buffer.size() | address) % kDirectAlignment == 0) return {};
  return Unexpected(Error{
      ErrorCode::kInvalidArgument,
      FilePlace(action, path_, offset) + ": direct, so offset, length (" +
          std::to_string(buffer.size()) + ") and buffer must be multiples of " +
          std::to_string(kDirectAlignment),
      EINVAL});
}

Status FileSystem::MakeDirs(const std::string& path) {
  for (size_t end = path.find('/', 1); end != std::string::npos;
       end = path.find('/', end + 1)) {
    NEPHILA_RETURN_IF_ERROR(MakeDir(path.substr(0, end)));
  }
  return MakeDir(path);
}

std::string ParentDir(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  if (slash == 0) return "/";
  return std::string(path.substr(0, slash));
}

std::string FilePlace(std::string_view action, std::string_view path,
                      uint64_t offset) {
  std::string place(action);
  place += ' ';
  place += path;
  place += " at offset ";
  place += std::to_string(offset);
  return place;
}

Unexpected<Error> FileError(std::string_view action, std::string_view path,
                            int sys_errno) {
  std::string what(action);
  what += ' ';
  what += path;
  return Unexpected(Error::FromErrno(what, sys_errno));
}

Unexpected<Error> SyncError(std::string_view action, std::string_view path,
                            int sys_errno) {
  Error error = FileError(action, path, sys_errno).error();
  error.code = ErrorCode::kIo;
  return Unexpected(std::move(error));
}

Unexpected<Error> FileErrorAt(std::string_view action, std::string_view path,
                              uint64_t offset, int sys_errno) {
  return Unexpected(
      Error::FromErrno(FilePlace(action, path, offset), sys_errno));
}

Result<std::string> ReadWholeFile(FileSystem& fs, const std::string& path,
                                  size_t max_bytes) {
  NEPHILA_TRY(auto file, fs.Open(path, OpenMode::kRead));
  std::string contents;
  // Up to the end rather than up to Size(), so that a file which is growing is
  // not cut at a length it had before.
  for (;;) {
    const size_t old_size = contents.size();
    const size_t room = max_bytes - old_size;
    // One byte over, to tell "ends here" from "goes on".
    const size_t want = std::min(room, kReadChunkBytes) + 1;
    contents.resize(old_size + want);
    NEPHILA_TRY(
        const size_t n,
        file->Read(old_size, std::as_writable_bytes(
                                 std::span(contents).subspan(old_size, want))));
    contents.resize(old_size + n);
    if (n < want) return contents;
    if (contents.size() > max_bytes) {
      return Unexpected(Error{ErrorCode::kCorruption,
                              "read " + path + ": longer than " +
                                  std::to_string(max_bytes) + " bytes"});
    }
  }
}

Status RemoveAll(FileSystem& fs, const std::string& path) {
  // Not List first: that would look through a symbolic link.
  Status removed = fs.Remove(path);
  if (removed.has_value() || removed.error().sys_errno == ENOENT) return {};
  if (removed.error().sys_errno != EISDIR) return removed;
  return RemoveTree(fs, path);
}

Status EnsureDir(FileSystem& fs, const std::string& path) {
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string dir = path.substr(0, end);
    begin = end + 1;
    if (dir.empty() || dir.ends_with('/')) continue;
    NEPHILA_TRY(const bool existed, fs.Exists(dir));
    if (!existed) NEPHILA_RETURN_IF_ERROR(fs.MakeDir(dir));
    Status synced = fs.SyncDir(ParentDir(dir));
    // A directory that we may pass but not read, /home say, is not ours: who
    // made what is in it has seen to it.
    if (!synced.has_value() &&
        !(existed && synced.error().sys_errno == EACCES)) {
      return synced;
    }
  }
  // Only a directory can be made that is there.
  return fs.MakeDir(path);
}

Result<std::unique_ptr<AsideFile>> AsideFile::Create(FileSystem& fs,
                                                     const std::string& path) {
  std::unique_ptr<AsideFile> aside(new AsideFile(fs, path));
  NEPHILA_TRY(aside->file_, fs.Open(aside->aside_, OpenMode::kCreate));
  // What an earlier attempt left may be longer.
  NEPHILA_RETURN_IF_ERROR(aside->file_->Truncate(0));
  return aside;
}

AsideFile::~AsideFile() {
  if (renamed_ || file_ == nullptr) return;
  // On a full disk the half-written file would only make matters worse.
  IgnoreError(fs_.Remove(aside_), "what is left is overwritten by the next");
}

Status AsideFile::Commit() {
  NEPHILA_CHECK(!commit_called_);
  commit_called_ = true;
  NEPHILA_RETURN_IF_ERROR(file_->Sync());
  NEPHILA_RETURN_IF_ERROR(fs_.Rename(aside_, path_));
  renamed_ = true;
  return fs_.SyncDir(ParentDir(path_));
}

Status PublishFile(FileSystem& fs, const std::string& path,
                   std::string_view contents) {
  NEPHILA_TRY(const auto aside, AsideFile::Create(fs, path));
  NEPHILA_RETURN_IF_ERROR(
      aside->file().Write(0, std::as_bytes(std::span(contents))));
  return aside->Commit();
}

}  // namespace nephila
