#include "base/file.h"

#include <algorithm>
#include <utility>

namespace nephila {
namespace {

constexpr size_t kReadChunkBytes = size_t{64} * 1024;

Status WriteAndSync(FileSystem& fs, const std::string& path,
                    std::string_view contents) {
  NEPHILA_TRY(auto file, fs.Open(path, OpenMode::kCreate));
  // What an earlier attempt left may be longer than `contents`.
  NEPHILA_RETURN_IF_ERROR(file->Truncate(0));
  NEPHILA_RETURN_IF_ERROR(file->Write(0, std::as_bytes(std::span(contents))));
  return file->Sync();
}

}  // namespace

Result<size_t> File::Read(uint64_t offset, std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size()) {
    NEPHILA_TRY(const size_t n, ReadSome(offset + done, out.subspan(done)));
    if (n == 0) break;
    done += n;
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
    NEPHILA_TRY(const size_t n, WriteSome(offset + done, data.subspan(done)));
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

Status PublishFile(FileSystem& fs, const std::string& path,
                   std::string_view contents) {
  const std::string aside = path + ".tmp";
  Status written = WriteAndSync(fs, aside, contents);
  if (written.has_value()) written = fs.Rename(aside, path);
  if (!written.has_value()) {
    // On a full disk the half-written file would only make matters worse.
    IgnoreError(fs.Remove(aside), "the first error is the one that counts");
    return written;
  }
  return fs.SyncDir(ParentDir(path));
}

}  // namespace nephila
