// LineReader and LineWriter: files of lines, read and written in sequence.
//   Threads: one per object.   Memory: a buffer of 64 KiB, and the longest
//   line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace nephila::store {

class LineReader {
 public:
  // From `offset` on, the begin of a line. `file` outlives this.
  LineReader(File& file, size_t max_line_bytes, uint64_t offset = 0)
      : file_(file), max_line_bytes_(max_line_bytes), offset_(offset) {}

  // The next line into *line, without its end ("\n" or "\r\n"); false at the
  // end of the file. A last line needs no end. kCorruption for a line over the
  // limit, with file and line number.
  Result<bool> Next(std::string* line);
  // Of the line that Next gave, from 1.
  uint64_t number() const { return number_; }

 private:
  Result<bool> Fill();

  File& file_;
  const size_t max_line_bytes_;
  uint64_t offset_;
  uint64_t number_ = 0;
  std::string buffer_;
  size_t position_ = 0;
};

class LineWriter {
 public:
  explicit LineWriter(File& file) : file_(file) {}
  Status Add(std::string_view line);
  // Writes what is still in memory.
  Status Flush();

 private:
  File& file_;
  uint64_t offset_ = 0;
  std::string buffer_;
};

}  // namespace nephila::store
