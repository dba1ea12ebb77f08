#include "store/index_builder.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace nephila::store {
namespace {

// Of the index, written at once.
constexpr size_t kBlockBytes = size_t{1} << 20;

}  // namespace

void IndexBuilder::Add(const CdxjLine& line) {
  const size_t begin = text_.size();
  text_ += FormatCdxj(line);
  lines_.emplace_back(begin, text_.size());
}

void IndexBuilder::Clear() {
  // Not kept: the next archive may be far away. (`= {}` would keep it.)
  text_ = std::string();
  lines_ = std::vector<std::pair<size_t, size_t>>();
}

std::vector<std::string_view> IndexBuilder::SortedLines() const {
  const std::string_view text = text_;
  std::vector<std::string_view> views;
  views.reserve(lines_.size());
  for (const auto& [begin, end] : lines_) {
    views.push_back(text.substr(begin, end - begin));
  }
  std::ranges::sort(views);
  return views;
}

Result<bool> IndexBuilder::Matches(FileSystem& fs,
                                   const std::string& path) const {
  NEPHILA_TRY(const bool exists, fs.Exists(path));
  if (!exists) return false;
  NEPHILA_TRY(const auto difference, FirstDifference(fs, path));
  return !difference;
}

Result<std::optional<uint64_t>> IndexBuilder::FirstDifference(
    FileSystem& fs, const std::string& path) const {
  NEPHILA_TRY(const auto file, fs.Open(path, OpenMode::kRead));
  std::string block;
  uint64_t offset = 0;
  for (const std::string_view line : SortedLines()) {
    block.resize(line.size() + 1);
    NEPHILA_TRY(const size_t size,
                file->Read(offset, std::as_writable_bytes(std::span(block))));
    if (size < block.size() || !block.starts_with(line) ||
        !block.ends_with('\n')) {
      return std::optional(offset);
    }
    offset += size;
  }
  NEPHILA_TRY(const uint64_t size, file->Size());
  if (size == offset) return std::optional<uint64_t>();
  return std::optional(offset);
}

Status IndexBuilder::WriteSorted(File& file) const {
  std::string block;
  uint64_t offset = 0;
  const auto write = [&]() -> Status {
    NEPHILA_RETURN_IF_ERROR(
        file.Write(offset, std::as_bytes(std::span(block))));
    offset += block.size();
    block.clear();
    return {};
  };
  for (const std::string_view line : SortedLines()) {
    block.append(line).append("\n");
    if (block.size() >= kBlockBytes) NEPHILA_RETURN_IF_ERROR(write());
  }
  return write();
}

Status IndexBuilder::Publish(FileSystem& fs, const std::string& path) const {
  const std::string aside = path + ".tmp";
  // A sync is never tried again, even if it says that the disk is full.
  const auto final_error = [](Status status) {
    Error error = std::move(status).error();
    error.code = ErrorCode::kIo;
    return Unexpected(std::move(error));
  };
  {
    NEPHILA_TRY(auto file, fs.Open(aside, OpenMode::kCreate));
    NEPHILA_RETURN_IF_ERROR(file->Truncate(0));
    NEPHILA_RETURN_IF_ERROR(WriteSorted(*file));
    if (Status synced = file->Sync(); !synced) {
      return final_error(std::move(synced));
    }
  }
  NEPHILA_RETURN_IF_ERROR(fs.Rename(aside, path));
  if (Status synced = fs.SyncDir(ParentDir(path)); !synced) {
    return final_error(std::move(synced));
  }
  return {};
}

}  // namespace nephila::store
