// Tail: the records of a queue that are in no segment yet.
//
// In: records to append, how far they are kept. Out: records, read on from
// where the last read ended. Bytes are numbered from the beginning of the
// queue, so that a commit can say what of a tail is new (set_state.h).
//
// Threads: one. Cost: a copy of each record; memory() is all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "disk_queue/block.h"

namespace nephila::disk_queue {

class Tail {
 public:
  Tail() = default;
  // `bytes` are records; the first has the ordinal `first` and the number of
  // its first byte is `begin`.
  Tail(uint64_t first, uint64_t begin, std::string bytes)
      : bytes_(std::move(bytes)), base_(begin), first_(first) {
    bytes_.shrink_to_fit();
  }

  void Append(std::string_view record) {
    // Grows once, by what GrowthFor says.
    const size_t needed = bytes_.size() + record.size() + kMostSizeBytes;
    if (needed > bytes_.capacity()) bytes_.reserve(needed);
    AppendRecord(bytes_, record);
  }
  // The next record, if any: of what is kept, the first not yet read.
  bool AllRead() const { return cursor_ == bytes_.size(); }
  std::string_view Read() { return NextRecord(bytes_, cursor_); }

  // Lets go of the records before `ordinal`, all of which have been read.
  // REQUIRES: first() <= ordinal.
  void Release(uint64_t ordinal);
  // What is kept went to a segment; `ordinal` is the next that is appended.
  // Without `keep_room` its memory goes too.
  void Clear(uint64_t ordinal, bool keep_room);

  uint64_t first() const { return first_; }  // ordinal of the first kept
  std::string_view kept() const {
    return std::string_view(bytes_).substr(begin_);
  }
  bool empty() const { return begin_ == bytes_.size(); }
  uint64_t begin_byte() const { return base_ + begin_; }
  uint64_t end_byte() const { return base_ + bytes_.size(); }
  // What a record more may take: strings grow to twice their size.
  size_t GrowthFor(size_t record_bytes) const {
    const size_t more = record_bytes + kMostSizeBytes;
    return bytes_.size() + more <= bytes_.capacity() ? 0
                                                     : bytes_.capacity() + more;
  }
  // Outside of the object.
  size_t memory() const {
    return bytes_.capacity() > std::string().capacity() ? bytes_.capacity() : 0;
  }

 private:
  // Of the varint before a record.
  static constexpr size_t kMostSizeBytes = 10;

  std::string bytes_;
  size_t begin_ = 0;    // of what is kept
  size_t cursor_ = 0;   // of what has not been read
  uint64_t base_ = 0;   // the number of bytes_[0]
  uint64_t first_ = 0;  // ordinal of the record at begin_
};

}  // namespace nephila::disk_queue
