#include "disk_queue/block.h"

#include "base/check.h"

namespace nephila::disk_queue {
namespace {

// The upper half of the first byte; the lower is the codec.
constexpr uint8_t kVersion = 1;

}  // namespace

void AppendRecord(std::string& raw, std::string_view record) {
  ByteWriter(raw).Sized(record);
}

std::string_view NextRecord(std::string_view raw, size_t& at) {
  ByteReader reader(raw.substr(at));
  const auto record = reader.Sized();
  NEPHILA_CHECK(record.has_value());
  at += reader.position();
  return *record;
}

std::optional<uint64_t> CountRecords(std::string_view raw) {
  ByteReader reader(raw);
  uint64_t records = 0;
  for (; !reader.AtEnd(); ++records) {
    if (!reader.Sized()) return std::nullopt;
  }
  return records;
}

std::string_view BlockPacker::Pack(uint64_t first, uint64_t records,
                                   std::string_view raw) {
  NEPHILA_CHECK(records > 0 && raw.size() <= kMostRawBytes);
  packed_.resize(compressor_.Bound(raw.size()));
  const auto size =
      compressor_.Compress(codec_, raw, packed_.data(), packed_.size());
  const bool smaller = size.has_value() && *size < raw.size();
  const Codec codec = smaller ? codec_ : Codec::kNone;
  payload_.clear();
  ByteWriter writer(payload_);
  writer.U8(static_cast<uint8_t>(kVersion << 4 | static_cast<uint8_t>(codec)));
  writer.Varint(first);
  writer.Varint(records);
  writer.Varint(raw.size());
  writer.Raw(smaller ? std::string_view(packed_).substr(0, *size) : raw);
  return payload_;
}

Result<bool, std::string_view> BlockUnpacker::Unpack(std::string_view payload,
                                                     Block& block) {
  ByteReader reader(payload);
  const auto kind = reader.U8();
  if (!kind || *kind >> 4 != kVersion) {
    return Unexpected(std::string_view("a block of another version"));
  }
  const auto codec = CodecFromByte(*kind & 0x0F);
  const auto first = reader.Varint();
  const auto records = reader.Varint();
  const auto raw_bytes = reader.Varint();
  // The ordinals of a queue stay far below 2^63: their sums do not wrap.
  if (!codec || !first || *first >> 62 != 0 || !records || *records == 0 ||
      !raw_bytes || *raw_bytes > kMostRawBytes) {
    return Unexpected(std::string_view("a block whose head makes no sense"));
  }
  block.first = *first;
  block.records = *records;
  block.raw.resize(*raw_bytes);
  const auto packed = reader.Raw(reader.remaining());
  if (!packed || !decompressor_.Decompress(*codec, *packed, block.raw.data(),
                                           block.raw.size())) {
    return Unexpected(std::string_view("a block that cannot be unpacked"));
  }
  if (CountRecords(block.raw) != block.records) {
    return Unexpected(
        std::string_view("a block of other records than it says"));
  }
  return true;
}

}  // namespace nephila::disk_queue
