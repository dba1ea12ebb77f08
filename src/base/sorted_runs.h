// SortedRuns: rows that were sorted piece by piece, as files of a scratch
// folder, and all of them again in one order.
//
// For sorters of more than fits into memory: each writes a run when its memory
// is full and merges them at its end. The runs are removed with this.
//   In: runs of rows, each sorted.   Out: all rows, in the order of `less`.
//   Threads: one.   Memory: 64 KiB for each run while they are merged.
//   Cost: one write and one read of each row, a heap of the runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace nephila {

template <typename Row>
class SortedRuns {
  static_assert(std::is_trivially_copyable_v<Row>);

 public:
  // `scratch` is a folder that is there; names in it begin with `name`, of
  // which each sorter there has its own. `fs` outlives this.
  SortedRuns(FileSystem& fs, const std::string& scratch, std::string_view name)
      : fs_(fs), prefix_(scratch + "/" + std::string(name) + "-") {}
  ~SortedRuns() {
    for (const std::string& path : paths_) {
      IgnoreError(fs_.Remove(path), "it is only scratch");
    }
  }
  SortedRuns(const SortedRuns&) = delete;
  SortedRuns& operator=(const SortedRuns&) = delete;

  size_t size() const { return paths_.size(); }

  // A run more. REQUIRES: sorted.
  Status Add(std::span<const Row> rows) {
    const std::string path = prefix_ + std::to_string(paths_.size());
    NEPHILA_TRY(const auto file, fs_.Open(path, OpenMode::kCreateNew));
    paths_.push_back(path);
    return file->Write(0, std::as_bytes(rows));
  }

  // `take` gets a row and returns a Status.
  template <typename Less, typename Take>
  Status Merge(const Less& less, const Take& take) {
    std::vector<std::unique_ptr<Cursor>> cursors;
    cursors.reserve(paths_.size());
    const auto later = [&](size_t a, size_t b) {
      return less(cursors[b]->row(), cursors[a]->row());
    };
    std::priority_queue<size_t, std::vector<size_t>, decltype(later)> heap(
        later);
    for (const std::string& path : paths_) {
      NEPHILA_TRY(auto file, fs_.Open(path, OpenMode::kRead));
      NEPHILA_TRY(const uint64_t size, file->Size());
      cursors.push_back(std::make_unique<Cursor>(std::move(file), size));
      NEPHILA_TRY(const bool any, cursors.back()->Next());
      if (any) heap.push(cursors.size() - 1);
    }
    while (!heap.empty()) {
      const size_t first = heap.top();
      heap.pop();
      NEPHILA_RETURN_IF_ERROR(take(cursors[first]->row()));
      NEPHILA_TRY(const bool more, cursors[first]->Next());
      if (more) heap.push(first);
    }
    return {};
  }

 private:
  // A run, from its beginning on.
  class Cursor {
   public:
    Cursor(std::unique_ptr<File> file, uint64_t size)
        : file_(std::move(file)), size_(size) {}

    // False behind the last.
    Result<bool> Next() {
      ++at_;
      if (at_ < buffer_.size()) return true;
      const uint64_t left = (size_ - offset_) / sizeof(Row);
      buffer_.resize(std::min<uint64_t>(left, kBufferBytes / sizeof(Row)));
      at_ = 0;
      if (buffer_.empty()) return false;
      NEPHILA_RETURN_IF_ERROR(file_->ReadExact(
          offset_, std::as_writable_bytes(std::span(buffer_))));
      offset_ += buffer_.size() * sizeof(Row);
      return true;
    }
    const Row& row() const { return buffer_[at_]; }

   private:
    static constexpr size_t kBufferBytes = size_t{64} << 10;

    const std::unique_ptr<File> file_;
    const uint64_t size_;
    uint64_t offset_ = 0;
    std::vector<Row> buffer_;
    size_t at_ = 0;
  };

  FileSystem& fs_;
  const std::string prefix_;
  std::vector<std::string> paths_;
};

}  // namespace nephila
