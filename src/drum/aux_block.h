// AuxBlockBuilder, AuxBlockReader: records of the aux log, in arrival order.
//
// The payload of a block:
//   u8      codec of the body, kNone if another would not have made it smaller
//   varint  records
//   varint  bytes of the lengths
//   varint  bytes of the text
//   u16[]   buckets, one a record, if the log has them; never compressed:
//           they are bits of a hash
//   body    lengths (a varint each), then the text of all records
// or, in a compressed block of which no record has a newline in it, no lengths
// and a newline behind each record. To a compressor newlines cost nothing and
// lengths are noise: for links 0.8 of 9.6 bytes (zstd -1).
//
// A builder takes records at the price of two or three appends. A reader
// finds all records at Open, so that Next cannot fail nor leave the block,
// whatever was in it. Threads: one per object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/codec.h"
#include "base/result.h"
#include "drum/block_file.h"

namespace nephila::drum {

// Where buckets are logged there are at most this many.
inline constexpr uint32_t kMaxLoggedBuckets = 1u << 16;

class AuxBlockBuilder {
 public:
  explicit AuxBlockBuilder(bool log_buckets) : log_buckets_(log_buckets) {}

  // REQUIRES: `bucket` below kMaxLoggedBuckets if buckets are logged (else it
  // is not looked at); raw_bytes() stays below 2 GiB.
  void Add(uint32_t bucket, std::string_view aux);

  // Of lengths, text and buckets: at least what a reader's max_raw_bytes
  // counts.
  size_t raw_bytes() const {
    return lengths_.size() + text_.size() + buckets_.size();
  }
  uint32_t records() const { return records_; }
  bool empty() const { return records_ == 0; }
  // Forgets the records and keeps the memory.
  void Clear();
  size_t memory_bytes() const {
    return lengths_.capacity() + text_.capacity() + buckets_.capacity();
  }

  // Makes `out` large enough and puts the payload into it; the bytes of it.
  // The records stay. Falls back to kNone where `codec` does not shrink them.
  size_t Encode(Codec codec, Compressor& compressor, BlockBuffer& out) const;

  // For part-filled blocks that wait in a journal: the records from
  // `first_record` (at most records()) on, appended to `out` as a payload with
  // codec kNone, in a time that grows with the records before it too.
  void AppendRecordsFrom(size_t first_record, std::string& out) const;
  // Adds what AppendRecordsFrom of a builder with the same log_buckets wrote,
  // behind the records that are here. After kCorruption nothing is added and
  // the reader stands anywhere.
  Status AddSpilled(ByteReader& reader);

 private:
  // The text with a newline behind each record; false if one has its own.
  bool MakeLines(std::string& lines) const;
  // The payload up to its body, whose place is returned.
  char* PutHead(Codec codec, size_t lengths_bytes, size_t text_bytes,
                BlockBuffer& out) const;

  const bool log_buckets_;
  uint32_t records_ = 0;
  std::string lengths_;
  std::string text_;
  std::string buckets_;
};

class AuxBlockReader {
 public:
  // `payload` outlives the reading of it: what was not compressed is not
  // copied. kCorruption unless it is, to the last byte, what a builder with
  // the same `has_buckets` and raw_bytes() of at most `max_raw_bytes` encoded;
  // then there are no records. The reader can be opened again, which reuses
  // its memory.
  Status Open(std::string_view payload, bool has_buckets,
              Decompressor& decompressor, uint32_t max_raw_bytes);

  // In the block, and not only those that are left.
  uint32_t records() const { return records_; }

  // The next record, false at the end. `bucket` is set if the block has them;
  // `aux` points into the reader or the payload, until the next Open.
  bool Next(uint32_t* bucket, std::string_view* aux);

  // At most five times max_raw_bytes, and for links 1.07 times.
  size_t memory_bytes() const {
    return body_.capacity() + ends_.capacity() * sizeof(uint32_t);
  }

 private:
  Status ReadBody(std::string_view body, uint64_t lengths_bytes,
                  uint32_t records);

  uint32_t records_ = 0;
  uint32_t next_ = 0;
  uint32_t begin_ = 0;                      // of the next record in the text
  uint32_t gap_ = 0;                        // between records: the newline
  const unsigned char* buckets_ = nullptr;  // null: has none
  const char* text_ = nullptr;
  std::vector<uint32_t> ends_;  // of each record in the text
  std::string body_;
};

inline void AuxBlockBuilder::Add(uint32_t bucket, std::string_view aux) {
  auto length = static_cast<uint32_t>(aux.size());
  while (length >= 0x80) {
    lengths_.push_back(static_cast<char>(length | 0x80));
    length >>= 7;
  }
  lengths_.push_back(static_cast<char>(length));
  text_.append(aux);
  ++records_;
  if (log_buckets_) {
    NEPHILA_CHECK(bucket < kMaxLoggedBuckets);
    buckets_.push_back(static_cast<char>(bucket));
    buckets_.push_back(static_cast<char>(bucket >> 8));
  }
}

inline bool AuxBlockReader::Next(uint32_t* bucket, std::string_view* aux) {
  if (next_ == records_) return false;
  const uint32_t end = ends_[next_];
  *aux = {text_ + begin_, end - begin_};
  begin_ = end + gap_;
  if (buckets_ != nullptr) {
    const unsigned char* at = buckets_ + size_t{2} * next_;
    *bucket = at[0] | static_cast<uint32_t>(at[1]) << 8;
  }
  ++next_;
  return true;
}

}  // namespace nephila::drum
