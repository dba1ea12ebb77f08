// ByteWriter, ByteReader: how our files spell numbers and byte strings.
//
// Little-endian fixed widths, varints of 7 bits a byte, and frames (below).
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

// A frame: [u32 length][u32 head][u32 body][payload]
//   head  CRC-32C of the salt and the length, with 1 in the place of 0
//   body  CRC-32C of the payload, begun with head instead of 0
// The salt is not stored. It says which frame belongs at this place: mix store,
// generation and offset into it, and a whole frame that an earlier use of the
// region left behind, or one read at the wrong place, is kCorrupt. The length
// has a check of its own, so it is believed before the payload is there, and a
// broken one does not pass for a torn tail. Zeros, as in a preallocated file,
// are never a frame: no head is 0.
enum class FrameError : uint8_t {
  kEnd,        // exactly between two frames
  kTruncated,  // the bytes end in a header, or before a payload whose header
               // is right: all that an append cut short leaves behind
  kCorrupt,    // anything else, a payload above the maximum included
};

inline constexpr size_t kFrameHeaderBytes = 12;

// REQUIRES: payload below 4 GiB.
void AppendFrame(std::string& out, std::string_view payload, uint64_t salt);

// The same in place: `frame` has the payload already, behind room for the
// header, which this fills in. For payloads too large to copy.
void SealFrame(char* frame, size_t payload_bytes, uint64_t salt);

// The next payload, of at most `max_payload` bytes. After a loss of power the
// tail of a file can be zeros or an older generation's frames: kCorrupt where a
// log is read to its end means no more than kTruncated does, and only what
// something else vouches for (a manifest, a length) makes it damage.
Result<std::string_view, FrameError> ReadFrame(ByteReader& reader,
                                               uint64_t salt,
                                               uint32_t max_payload);

}  // namespace nephila
