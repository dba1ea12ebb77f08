#include "disk_queue/tail.h"

#include "base/check.h"

namespace nephila::disk_queue {

void Tail::Release(uint64_t ordinal) {
  NEPHILA_CHECK(first_ <= ordinal);
  for (; first_ < ordinal; ++first_) NextRecord(bytes_, begin_);
  NEPHILA_CHECK(begin_ <= cursor_);
  // Moves what is left only when at least as much has been let go of.
  if (begin_ == 0 || begin_ < bytes_.size() - begin_) return;
  bytes_.erase(0, begin_);
  base_ += begin_;
  cursor_ -= begin_;
  begin_ = 0;
}

void Tail::Clear(uint64_t ordinal, bool keep_room) {
  base_ += bytes_.size();
  if (keep_room) {
    bytes_.clear();
  } else {
    // An assignment would keep the room.
    std::string().swap(bytes_);
  }
  begin_ = 0;
  cursor_ = 0;
  first_ = ordinal;
}

}  // namespace nephila::disk_queue
