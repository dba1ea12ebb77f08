// ByteWriter, ByteReader: how our files spell numbers and byte strings.
//
// Little-endian fixed widths, varints of 7 bits a byte, and frames:
//   [u32 length][u32 crc32c of length and payload][payload]
// A reader never looks outside its view and trusts no length in it; a failed
// read leaves it where it was, so position() is the end of what was good.
// A varint has exactly one spelling: a longer one is refused.
//
// Threads: one per object. Nothing is copied on reading: returned views point
// into the reader's bytes. The writer appends to a string that it does not own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nephila {

class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  void U8(uint8_t value);
  void U16(uint16_t value);
  void U32(uint32_t value);
  void U64(uint64_t value);
  void Varint(uint64_t value);
  // A varint of the size, then the bytes.
  void Sized(std::string_view bytes);
  void Raw(std::string_view bytes);

 private:
  std::string& out_;
};

enum class ReadError : uint8_t {
  kTruncated,  // the bytes end too early
  kOverlong,   // a varint above 64 bits, or not in its shortest form
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  explicit ByteReader(std::span<const std::byte> bytes)
      : bytes_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  Result<uint8_t, ReadError> U8();
  Result<uint16_t, ReadError> U16();
  Result<uint32_t, ReadError> U32();
  Result<uint64_t, ReadError> U64();
  Result<uint64_t, ReadError> Varint();
  Result<std::string_view, ReadError> Sized();
  Result<std::string_view, ReadError> Raw(uint64_t size);

  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  bool AtEnd() const { return remaining() == 0; }

 private:
  template <typename T>
  Result<T, ReadError> Fixed();

  std::string_view bytes_;
  size_t position_ = 0;
};

enum class FrameError : uint8_t {
  kEnd,        // exactly between two frames
  kTruncated,  // a frame begins and does not end: a torn tail
  kCorrupt,    // all bytes are there and the checksum does not fit
};

inline constexpr size_t kFrameHeaderBytes = 8;

// REQUIRES: payload below 4 GiB.
void AppendFrame(std::string& out, std::string_view payload);

// The next payload. A broken length can look like a torn tail (kTruncated); a
// run of zeros, as in a preallocated file, is kCorrupt and no row of frames.
Result<std::string_view, FrameError> ReadFrame(ByteReader& reader);

}  // namespace nephila
