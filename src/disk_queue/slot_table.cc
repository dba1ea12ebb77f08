#include "disk_queue/slot_table.h"

#include "base/check.h"

namespace nephila::disk_queue {

uint64_t SlotTable::Next() const {
  return free_.empty() ? end_ : *free_.begin();
}

void SlotTable::Take(uint64_t slot) {
  for (; end_ <= slot; ++end_) free_.insert(end_);
  NEPHILA_CHECK(free_.erase(slot) == 1);
  ++used_[geometry_.FileOf(slot)];
}

void SlotTable::Free(uint64_t slot) {
  const auto file = used_.find(geometry_.FileOf(slot));
  NEPHILA_CHECK(file != used_.end() && file->second > 0);
  --file->second;
  free_.insert(slot);
}

std::vector<uint64_t> SlotTable::TakeEmptyFiles() {
  std::vector<uint64_t> empty;
  for (auto file = used_.begin(); file != used_.end();) {
    // The one that new slots come from stays: the next may be taken before the
    // file would be gone.
    if (file->second > 0 || file->first == geometry_.FileOf(end_)) {
      ++file;
      continue;
    }
    empty.push_back(file->first);
    const uint64_t first = file->first * geometry_.slots_per_file;
    free_.erase(free_.lower_bound(first),
                free_.lower_bound(first + geometry_.slots_per_file));
    file = used_.erase(file);
  }
  leaving_.insert(leaving_.end(), empty.begin(), empty.end());
  return empty;
}

void SlotTable::EmptyFilesAreGone() {
  for (const uint64_t file : leaving_) {
    const uint64_t first = file * geometry_.slots_per_file;
    for (uint64_t slot = first;
         slot < first + geometry_.slots_per_file && slot < end_; ++slot) {
      free_.insert(slot);
    }
  }
  leaving_.clear();
}

}  // namespace nephila::disk_queue
