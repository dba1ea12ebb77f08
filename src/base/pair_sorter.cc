#include "base/pair_sorter.h"

#include <algorithm>

namespace nephila {

PairSorter::PairSorter(FileSystem& fs, const std::string& scratch,
                       std::string_view name, uint64_t memory_bytes)
    : most_(std::max<size_t>(memory_bytes / sizeof(Pair), 1)),
      runs_(fs, scratch, name) {}

Status PairSorter::Add(const Pair& pair) {
  pairs_.push_back(pair);
  return pairs_.size() < most_ ? Status() : Spill();
}

Status PairSorter::Spill() {
  std::sort(pairs_.begin(), pairs_.end());
  NEPHILA_RETURN_IF_ERROR(runs_.Add(pairs_));
  pairs_.clear();
  return {};
}

Status PairSorter::Merge(const std::function<void(const Pair&)>& take) {
  if (runs_.size() == 0) {
    std::sort(pairs_.begin(), pairs_.end());
    for (const Pair& pair : pairs_) take(pair);
    return {};
  }
  if (!pairs_.empty()) NEPHILA_RETURN_IF_ERROR(Spill());
  pairs_.shrink_to_fit();
  return runs_.Merge(std::less<>(), [&](const Pair& pair) {
    take(pair);
    return Status();
  });
}

}  // namespace nephila
