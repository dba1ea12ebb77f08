#include "job/reserve.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace nephila::job {

Reserve::Reserve(FileSystem& fs, std::string path)
    : fs_(fs), path_(std::move(path)) {}

Status Reserve::Hold(uint64_t bytes) {
  const MutexLock lock(mutex_);
  if (held_ >= bytes) {
    // More was missing before; this is enough now.
    is_missing_ = false;
    return {};
  }
  Status grown = Grow(bytes);
  // Where a file system cannot reserve, none is missed.
  is_missing_ = !grown && grown.error().code == ErrorCode::kNoSpace;
  if (is_missing_ ||
      (!grown && grown.error().code == ErrorCode::kUnsupported)) {
    return {};
  }
  return grown;
}

Status Reserve::Grow(uint64_t bytes) {
  NEPHILA_TRY(const auto file, fs_.Open(path_, OpenMode::kCreate));
  NEPHILA_TRY(const uint64_t size, file->Size());
  const uint64_t more = bytes - std::min(size, bytes);
  NEPHILA_TRY(const uint64_t free, fs_.FreeSpace(ParentDir(path_)));
  held_ = size;
  if (free / 2 < more) {
    return Unexpected(
        Error{ErrorCode::kNoSpace, path_ + ": no room for a reserve"});
  }
  // Also what is there already: its size alone does not hold blocks.
  Status allocated = file->Allocate(std::max(size, bytes));
  if (!allocated) {
    NEPHILA_RETURN_IF_ERROR(file->Truncate(size));
    return allocated;
  }
  held_ = std::max(size, bytes);
  return {};
}

Result<bool> Reserve::Release() {
  const MutexLock lock(mutex_);
  if (held_ == 0) return false;
  NEPHILA_TRY(const auto file, fs_.Open(path_, OpenMode::kReadWrite));
  NEPHILA_RETURN_IF_ERROR(file->Truncate(0));
  held_ = 0;
  is_missing_ = true;
  return true;
}

uint64_t Reserve::held() const {
  const MutexLock lock(mutex_);
  return held_;
}

}  // namespace nephila::job
