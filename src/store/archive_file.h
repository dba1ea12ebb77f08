// ArchiveFile: the file that a stream appends to, in units that are there whole
// or not at all.
//
// Bytes are added behind the last unit; EndUnit makes them part of the file,
// Rollback cuts them off. What is added is gathered and written when there is
// kBufferBytes of it and at EndUnit, so memory does not grow with a unit. A
// disk that is full is an error that passes (kNoSpace), after which Rollback
// brings the file back; any other error is final for the file.
//   Threads: one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace nephila::store {

class ArchiveFile {
 public:
  static constexpr size_t kBufferBytes = size_t{1} << 20;

  // `file` ends with a whole unit at `end`.
  ArchiveFile(std::unique_ptr<File> file, uint64_t end)
      : file_(std::move(file)), end_(end), written_(end) {}

  // Where bytes are put; call Drain every now and then.
  std::string& buffer() { return buffer_; }
  // Writes the buffer if it is large.
  Status Drain();
  // Where the next byte will stand.
  uint64_t tail() const { return written_ + buffer_.size(); }

  // Writes what is left of the unit; on success it belongs to the file.
  Status EndUnit();
  // Forgets the unit that was begun.
  Status Rollback();
  // The end of the last whole unit.
  uint64_t end() const { return end_; }

  // Makes all whole units durable. REQUIRES: no unit is begun.
  Status Sync();

 private:
  Status WriteBuffer();

  std::unique_ptr<File> file_;
  std::string buffer_;
  uint64_t end_;
  uint64_t written_;  // what stands in the file, and of the unit begun
};

}  // namespace nephila::store
