// RecordReader: small records out of a file that is read front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bench/sequential_file.h"

namespace nephila::bench {

// Varints of 7 bits a byte, as both sides of a file have them.
inline size_t PutVarint(uint64_t value, char* to) {
  size_t size = 0;
  for (; value >= 0x80; value >>= 7) {
    to[size++] = static_cast<char>(value | 0x80);
  }
  to[size++] = static_cast<char>(value);
  return size;
}
inline constexpr size_t kLongestVarint = 10;

class RecordReader {
 public:
  explicit RecordReader(std::unique_ptr<SequentialReader> file)
      : file_(std::move(file)) {}

  // Whether all is read.
  Result<bool> AtEnd() {
    if (position_ == window_.size()) NEPHILA_RETURN_IF_ERROR(Ensure(1));
    return position_ == window_.size();
  }
  // kCorruption if the file ends before.
  Result<uint64_t> Varint();
  // Valid until the next call.
  Result<std::string_view> Bytes(size_t size);

 private:
  // At least `size` bytes from position_ on, unless the file ends before.
  Status Ensure(size_t size) {
    if (window_.size() - position_ >= size) return {};
    return Fill(size);
  }
  Status Fill(size_t size);

  std::unique_ptr<SequentialReader> file_;
  std::string window_;
  size_t position_ = 0;
};

}  // namespace nephila::bench
