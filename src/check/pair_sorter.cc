#include "check/pair_sorter.h"

#include <algorithm>
#include <queue>
#include <span>

namespace nephila::check {
namespace {

constexpr size_t kBufferPairs = 4096;

}  // namespace

// A run, from its beginning on.
class PairSorter::Cursor {
 public:
  Cursor(std::unique_ptr<File> file, uint64_t size)
      : file_(std::move(file)), size_(size) {}

  // False behind the last.
  Result<bool> Next() {
    ++at_;
    if (at_ < buffer_.size()) return true;
    const uint64_t left = (size_ - offset_) / sizeof(Pair);
    buffer_.resize(std::min<uint64_t>(left, kBufferPairs));
    at_ = 0;
    if (buffer_.empty()) return false;
    NEPHILA_RETURN_IF_ERROR(
        file_->ReadExact(offset_, std::as_writable_bytes(std::span(buffer_))));
    offset_ += buffer_.size() * sizeof(Pair);
    return true;
  }
  const Pair& pair() const { return buffer_[at_]; }

 private:
  const std::unique_ptr<File> file_;
  const uint64_t size_;
  uint64_t offset_ = 0;
  std::vector<Pair> buffer_;
  size_t at_ = 0;
};

PairSorter::PairSorter(FileSystem& fs, std::string scratch,
                       uint64_t memory_bytes)
    : fs_(fs),
      scratch_(std::move(scratch)),
      most_(std::max<size_t>(memory_bytes / sizeof(Pair), 1)) {}

PairSorter::~PairSorter() {
  for (const std::string& path : runs_) {
    IgnoreError(fs_.Remove(path), "it is only scratch");
  }
}

Status PairSorter::Add(const Pair& pair) {
  pairs_.push_back(pair);
  return pairs_.size() < most_ ? Status() : Spill();
}

Status PairSorter::Spill() {
  std::sort(pairs_.begin(), pairs_.end());
  const std::string path =
      scratch_ + "/nephila-check-" + std::to_string(runs_.size());
  NEPHILA_TRY(const auto file, fs_.Open(path, OpenMode::kCreateNew));
  runs_.push_back(path);
  NEPHILA_RETURN_IF_ERROR(file->Write(0, std::as_bytes(std::span(pairs_))));
  pairs_.clear();
  return {};
}

Status PairSorter::Merge(const std::function<void(const Pair&)>& take) {
  if (runs_.empty()) {
    std::sort(pairs_.begin(), pairs_.end());
    for (const Pair& pair : pairs_) take(pair);
    return {};
  }
  if (!pairs_.empty()) NEPHILA_RETURN_IF_ERROR(Spill());
  pairs_.shrink_to_fit();
  std::vector<std::unique_ptr<Cursor>> cursors;
  cursors.reserve(runs_.size());
  const auto later = [&](size_t a, size_t b) {
    return cursors[a]->pair() > cursors[b]->pair();
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> heap(later);
  for (const std::string& path : runs_) {
    NEPHILA_TRY(auto file, fs_.Open(path, OpenMode::kRead));
    NEPHILA_TRY(const uint64_t size, file->Size());
    cursors.push_back(std::make_unique<Cursor>(std::move(file), size));
    NEPHILA_TRY(const bool any, cursors.back()->Next());
    if (any) heap.push(cursors.size() - 1);
  }
  while (!heap.empty()) {
    const size_t first = heap.top();
    heap.pop();
    take(cursors[first]->pair());
    NEPHILA_TRY(const bool more, cursors[first]->Next());
    if (more) heap.push(first);
  }
  return {};
}

}  // namespace nephila::check
