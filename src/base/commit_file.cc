#include "base/commit_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

namespace nephila {
namespace {

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Result<std::unique_ptr<AsideFile>> WriteAside(
    FileSystem& fs, const std::string& path,
    std::initializer_list<std::string_view> parts) {
  NEPHILA_TRY(auto aside, AsideFile::Create(fs, path));
  uint64_t end = 0;
  for (const std::string_view part : parts) {
    NEPHILA_RETURN_IF_ERROR(aside->file().Write(end, Bytes(part)));
    end += part.size();
  }
  return aside;
}

}  // namespace

std::string CommitFileName(std::string_view prefix, uint64_t first_generation) {
  return fmt::format("{}{:08}", prefix, first_generation);
}

std::optional<uint64_t> CommitFileGeneration(std::string_view prefix,
                                             std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  uint64_t generation = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), generation);
  if (error != std::errc() || end != name.data() + name.size()) {
    return std::nullopt;
  }
  return generation;
}

Result<std::vector<uint64_t>> ListCommitFiles(FileSystem& fs,
                                              const std::string& dir,
                                              std::string_view prefix) {
  NEPHILA_TRY(const std::vector<DirEntry> entries, fs.List(dir));
  std::vector<uint64_t> files;
  for (const DirEntry& entry : entries) {
    if (const auto generation = CommitFileGeneration(prefix, entry.name)) {
      files.push_back(*generation);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

Unexpected<Error> NoSuchCommit(const std::string& dir, uint64_t generation) {
  return Unexpected(
      Error{ErrorCode::kNotFound,
            dir + ": there is no commit " + std::to_string(generation)});
}

Status CutCommitFile(FileSystem& fs, const std::string& path, uint64_t end) {
  NEPHILA_TRY(const auto file, fs.Open(path, OpenMode::kReadWrite));
  NEPHILA_TRY(const uint64_t size, file->Size());
  if (size > end) NEPHILA_RETURN_IF_ERROR(file->Truncate(end));
  return file->Sync();
}

Status RemoveOtherFiles(FileSystem& fs, const std::string& dir,
                        std::string_view prefix,
                        const std::set<std::string>& keep) {
  NEPHILA_TRY(const std::vector<DirEntry> entries, fs.List(dir));
  for (const bool commits : {true, false}) {
    for (size_t i = entries.size(); i-- > 0;) {
      const DirEntry& entry = entries[i];
      if (entry.is_directory || keep.contains(entry.name) ||
          CommitFileGeneration(prefix, entry.name).has_value() != commits) {
        continue;
      }
      NEPHILA_RETURN_IF_ERROR(fs.Remove(dir + "/" + entry.name));
    }
    NEPHILA_RETURN_IF_ERROR(fs.SyncDir(dir));
  }
  return {};
}

Status CommitFile::Begin(FileSystem& fs, const std::string& path,
                         std::initializer_list<std::string_view> parts) {
  may_try_again_ = false;
  auto aside = WriteAside(fs, path, parts);
  if (!aside) {
    may_try_again_ = aside.error().code == ErrorCode::kNoSpace;
    return Unexpected(std::move(aside).error());
  }
  if (Status committed = (*aside)->Commit(); !committed) {
    // Of a rename, then: a sync never says so.
    may_try_again_ = committed.error().code == ErrorCode::kNoSpace;
    return committed;
  }
  NEPHILA_TRY(file_, fs.Open(path, OpenMode::kReadWrite));
  uint64_t bytes = 0;
  for (const std::string_view part : parts) bytes += part.size();
  end_ = whole_bytes_ = bytes;
  return {};
}

Status CommitFile::Append(std::string_view bytes) {
  may_try_again_ = false;
  if (Status status = file_->Write(end_, Bytes(bytes)); !status) {
    // Half a commit is none: the next attempt writes over it.
    may_try_again_ = status.error().code == ErrorCode::kNoSpace;
    return status;
  }
  NEPHILA_RETURN_IF_ERROR(file_->Sync());
  end_ += bytes.size();
  return {};
}

}  // namespace nephila
