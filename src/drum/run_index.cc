#include "drum/run_index.h"

#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "drum/run_block.h"

namespace nephila::drum {
namespace {

constexpr std::string_view kMagic = "NRUN";
constexpr uint8_t kVersion = 1;
constexpr size_t kHeadBytes = 32;
constexpr size_t kEntryBytes = 16;

Unexpected<Error> Broken(const char* what) {
  return Unexpected(Error{ErrorCode::kCorruption, what});
}

bool Possible(const RunIndexEntry& entry, uint64_t file_pages) {
  return entry.pages > 0 && entry.pages <= kMaxRunBlockPages &&
         entry.count > 0 && uint64_t{entry.page} + entry.pages <= file_pages;
}

}  // namespace

std::string FormatRunIndex(const RunIndex& index) {
  std::string payload;
  payload.reserve(kHeadBytes + kEntryBytes * index.entries.size());
  ByteWriter writer(payload);
  writer.Raw(kMagic);
  writer.U8(kVersion);
  writer.U8(static_cast<uint8_t>(index.format.kind));
  writer.U16(0);
  writer.U32(index.format.bytes);
  writer.U32(static_cast<uint32_t>(index.entries.size()));
  writer.U64(index.records);
  writer.U64(index.tombstones);
  NEPHILA_CHECK(payload.size() == kHeadBytes);
  for (const RunIndexEntry& entry : index.entries) {
    writer.U64(entry.first_key);
    writer.U32(entry.page);
    writer.U16(entry.pages);
    writer.U16(entry.count);
  }
  return payload;
}

Result<RunIndex> ParseRunIndex(std::string_view payload, uint64_t file_pages) {
  if (payload.size() < kHeadBytes) return Broken("the index is too short");
  // All lengths are looked at before: no read below can fail.
  ByteReader reader(payload);
  if (*reader.Raw(kMagic.size()) != kMagic) return Broken("this is no index");
  if (const uint8_t version = *reader.U8(); version != kVersion) {
    return Unexpected(Error{ErrorCode::kUnsupported,
                            "the run has version " + std::to_string(version) +
                                ", this program knows 1"});
  }
  RunIndex index;
  const uint8_t kind = *reader.U8();
  const uint16_t zero = *reader.U16();
  index.format.kind = static_cast<ValueKind>(kind);
  index.format.bytes = *reader.U32();
  const uint32_t blocks = *reader.U32();
  index.records = *reader.U64();
  index.tombstones = *reader.U64();
  if (kind > static_cast<uint8_t>(ValueKind::kVariable) || zero != 0 ||
      index.tombstones > index.records ||
      reader.remaining() != kEntryBytes * uint64_t{blocks}) {
    return Broken("the index does not fit itself");
  }
  index.entries.reserve(blocks);
  uint64_t records = 0;
  for (uint32_t i = 0; i < blocks; ++i) {
    RunIndexEntry entry;
    entry.first_key = *reader.U64();
    entry.page = *reader.U32();
    entry.pages = *reader.U16();
    entry.count = *reader.U16();
    if (!Possible(entry, file_pages)) {
      return Broken("the index names a block that cannot be");
    }
    if (i > 0 && entry.first_key <= index.entries.back().first_key) {
      return Broken("the keys of the index do not ascend");
    }
    records += entry.count;
    index.entries.push_back(entry);
  }
  if (records != index.records) {
    return Broken("the index does not add up to its records");
  }
  return index;
}

}  // namespace nephila::drum
