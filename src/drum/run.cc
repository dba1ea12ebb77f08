#include "drum/run.h"

#include <utility>

#include "drum/run_index.h"

namespace nephila::drum {

void RunInfo::AppendTo(ByteWriter& writer) const {
  writer.U64(file_number);
  writer.U64(index.offset);
  writer.U32(index.payload_bytes);
  writer.U64(end);
  writer.U64(records);
  writer.U64(tombstones);
}

Result<RunInfo, ReadError> RunInfo::Parse(ByteReader& reader) {
  RunInfo info;
  NEPHILA_TRY(info.file_number, reader.U64());
  NEPHILA_TRY(info.index.offset, reader.U64());
  NEPHILA_TRY(info.index.payload_bytes, reader.U32());
  NEPHILA_TRY(info.end, reader.U64());
  NEPHILA_TRY(info.records, reader.U64());
  NEPHILA_TRY(info.tombstones, reader.U64());
  return info;
}

Result<std::shared_ptr<const Run>> Run::Open(FileSystem& fs,
                                             const std::string& path,
                                             uint64_t salt, const RunInfo& info,
                                             ValueFormat format,
                                             IoCounts& counts) {
  NEPHILA_TRY(auto file, BlockFile::Open(fs, path, salt, info.end, counts,
                                         OpenMode::kRead));
  std::shared_ptr<Run> run(new Run(std::move(file), info, format));
  NEPHILA_RETURN_IF_ERROR(run->ReadIndex());
  return std::shared_ptr<const Run>(std::move(run));
}

Status Run::ReadIndex() {
  const BlockPlace& place = info_.index;
  // In this order, so that no sum can overflow.
  if (place.offset % kPageBytes != 0 || place.offset > info_.end ||
      place.pages() != info_.end - place.offset) {
    return Unexpected(Damage(place.offset, "the index cannot be there"));
  }
  BlockBuffer buffer;
  NEPHILA_TRY(const std::string_view payload, file_->Read(place, buffer));
  auto index = ParseRunIndex(payload, place.offset / kPageBytes);
  if (!index.has_value()) {
    return Unexpected(std::move(index).error().WithContext(
        FilePlace("reading", path(), place.offset)));
  }
  if (index->format != format_ || index->records != info_.records ||
      index->tombstones != info_.tombstones) {
    return Unexpected(
        Damage(place.offset, "the index is not that of the run expected"));
  }
  index_ = std::move(index->entries);
  return {};
}

Error Run::Damage(uint64_t offset, std::string_view what) const {
  return {ErrorCode::kCorruption,
          FilePlace("reading", path(), offset) + ": " + std::string(what)};
}

}  // namespace nephila::drum
