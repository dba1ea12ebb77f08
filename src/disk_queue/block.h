// Block: some records of one queue, as a segment holds them.
//
// In: records (bytes) in the order of the queue. Out: a frame (base/bytes.h)
// with the records packed together, and the records again.
// A block says which records it has, by the ordinal of the first, and every
// record of a block that was unpacked is whole: who walks it need not check.
// docs/formats/disk-queue.md has the bytes.
//
// Threads: one per object. Cost: what the codec takes (base/codec.h), and one
// look at the size of each record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/codec.h"
#include "base/result.h"

namespace nephila::disk_queue {

// Larger records are refused: these are lines of a queue, not pages.
inline constexpr size_t kMostRecordBytes = size_t{192} << 10;
// Of a block, unpacked. It is full at a size that options bound to half of it,
// and then has at most one more record.
inline constexpr size_t kMostRawBytes = size_t{4} << 20;
// A block that does not shrink is kept as it is, behind a head of a few bytes.
inline constexpr uint32_t kMostHeadBytes = 64;
inline constexpr uint32_t kMostPayloadBytes = kMostRawBytes + kMostHeadBytes;

// A record in a block: a varint of its size, then its bytes.
void AppendRecord(std::string& raw, std::string_view record);
// The record at `at`, which goes on to the next. REQUIRES: `raw` is records,
// and one begins at `at`.
std::string_view NextRecord(std::string_view raw, size_t& at);
// How many records `raw` is; nothing if it is not whole records.
std::optional<uint64_t> CountRecords(std::string_view raw);

struct Block {
  uint64_t first = 0;    // ordinal of its first record in the queue
  uint64_t records = 0;  // at least one
  std::string raw;

  uint64_t end() const { return first + records; }
};

class BlockPacker {
 public:
  explicit BlockPacker(Codec codec) : codec_(codec) {}

  // The payload of a block's frame, until the next call. REQUIRES: `raw` is
  // `records` > 0 records and at most kMostRawBytes.
  std::string_view Pack(uint64_t first, uint64_t records, std::string_view raw);

 private:
  const Codec codec_;
  Compressor compressor_;
  std::string packed_;
  std::string payload_;
};

class BlockUnpacker {
 public:
  // The payload of a frame whose checksum is right. The error is why it is no
  // block, a constant.
  Result<bool, std::string_view> Unpack(std::string_view payload, Block& block);

 private:
  Decompressor decompressor_;
};

}  // namespace nephila::disk_queue
