#include "store/index_builder.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace nephila::store {

void IndexBuilder::Add(const CdxjLine& line) {
  const size_t begin = text_.size();
  text_ += FormatCdxj(line);
  lines_.emplace_back(begin, text_.size());
}

void IndexBuilder::Clear() {
  // Not kept: the next archive may be far away.
  text_ = {};
  lines_ = {};
}

std::string IndexBuilder::Sorted() const {
  const std::string_view text = text_;
  std::vector<std::string_view> views;
  views.reserve(lines_.size());
  for (const auto& [begin, end] : lines_) {
    views.push_back(text.substr(begin, end - begin));
  }
  std::ranges::sort(views);
  std::string sorted;
  sorted.reserve(text_.size() + views.size());
  for (const std::string_view view : views) {
    sorted += view;
    sorted += '\n';
  }
  return sorted;
}

Status IndexBuilder::Publish(FileSystem& fs, const std::string& path) const {
  const std::string aside = path + ".tmp";
  const std::string text = Sorted();
  {
    NEPHILA_TRY(auto file, fs.Open(aside, OpenMode::kCreate));
    NEPHILA_RETURN_IF_ERROR(file->Truncate(0));
    NEPHILA_RETURN_IF_ERROR(file->Write(0, std::as_bytes(std::span(text))));
    if (Status synced = file->Sync(); !synced) {
      // Never tried again, even if it says that the disk is full.
      Error error = std::move(synced).error();
      error.code = ErrorCode::kIo;
      return Unexpected(std::move(error));
    }
  }
  NEPHILA_RETURN_IF_ERROR(fs.Rename(aside, path));
  if (Status synced = fs.SyncDir(ParentDir(path)); !synced) {
    Error error = std::move(synced).error();
    error.code = ErrorCode::kIo;
    return Unexpected(std::move(error));
  }
  return {};
}

}  // namespace nephila::store
