#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/check.h"
#include "drum/run.h"
#include "drum/run_index.h"

namespace nephila::drum {
namespace {

// Long enough that a disk's seek time does not count, also where parts of
// several threads take turns in the file.
constexpr uint64_t kExtentBytes = uint64_t{1} << 20;

}  // namespace

Result<std::unique_ptr<RunWriter>> RunWriter::Create(
    FileSystem& fs, const std::string& path, uint64_t file_number,
    uint64_t salt, ValueFormat format, IoCounts& counts) {
  NEPHILA_CHECK(format.bytes <= kMaxValueBytes);
  NEPHILA_CHECK(format.kind == ValueKind::kFixed || format.bytes == 0);
  NEPHILA_TRY(auto file, BlockFile::Create(fs, path, salt, counts));
  return std::unique_ptr<RunWriter>(
      new RunWriter(std::move(file), file_number, format));
}

std::unique_ptr<RunWriter::Part> RunWriter::NewPart() {
  MutexLock lock(mutex_);
  ++unfinished_parts_;
  return std::unique_ptr<Part>(new Part(*this));
}

void RunWriter::Take(Range range) {
  MutexLock lock(mutex_);
  --unfinished_parts_;
  if (!range.blocks.empty()) ranges_.push_back(std::move(range));
}

Result<RunInfo> RunWriter::Finish() {
  MutexLock lock(mutex_);
  NEPHILA_CHECK(unfinished_parts_ == 0);
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return a.first_key < b.first_key;
  });
  RunInfo info;
  info.file_number = file_number_;
  std::vector<RunIndexEntry> entries;
  const Range* before = nullptr;
  for (const Range& range : ranges_) {
    NEPHILA_CHECK(before == nullptr || before->last_key < range.first_key);
    before = &range;
    info.tombstones += range.tombstones;
    for (const RunIndexEntry& block : range.blocks) {
      info.records += block.count;
    }
    entries.insert(entries.end(), range.blocks.begin(), range.blocks.end());
  }
  const std::string payload = FormatRunIndex(
      {format_, info.records, info.tombstones, std::move(entries)});
  BlockBuffer buffer(payload.size());
  std::memcpy(buffer.payload(), payload.data(), payload.size());
  NEPHILA_TRY(info.index, file_->Append(buffer, payload.size()));
  info.end = info.index.end();
  return info;
}

Status RunWriter::Sync() { return file_->Sync(); }

RunWriter::Part::Part(RunWriter& writer)
    : writer_(writer), builder_(writer.format_) {}

RunWriter::Part::~Part() = default;

Status RunWriter::Part::Add(uint64_t key, std::string_view value) {
  NEPHILA_CHECK(!finished_);
  const ValueFormat& format = writer_.format_;
  if (value.size() > kMaxValueBytes) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            "a value of " + std::to_string(value.size()) +
                                " bytes for " + writer_.file_->path() +
                                ": the most is " +
                                std::to_string(kMaxValueBytes)});
  }
  NEPHILA_CHECK(format.kind == ValueKind::kVariable ||
                value.size() == format.bytes);
  builder_.Add(key, value);
  return builder_.full() ? Encode(/*all=*/false) : Status();
}

Status RunWriter::Part::AddTombstone(uint64_t key) {
  NEPHILA_CHECK(!finished_);
  builder_.AddTombstone(key);
  return builder_.full() ? Encode(/*all=*/false) : Status();
}

Status RunWriter::Part::AddKeys(std::span<const uint64_t> keys) {
  NEPHILA_CHECK(!finished_);
  while (!keys.empty()) {
    keys = keys.subspan(builder_.AddKeys(keys));
    if (builder_.full()) NEPHILA_RETURN_IF_ERROR(Encode(/*all=*/false));
  }
  return {};
}

Status RunWriter::Part::Finish() {
  NEPHILA_CHECK(!finished_);
  NEPHILA_RETURN_IF_ERROR(Encode(/*all=*/true));
  NEPHILA_RETURN_IF_ERROR(WriteExtent());
  finished_ = true;
  extent_ = {};
  writer_.Take(std::move(range_));
  return {};
}

Status RunWriter::Part::Encode(bool all) {
  while (const auto shape = builder_.Cut(all, payload_)) {
    NEPHILA_RETURN_IF_ERROR(Gather(*shape));
  }
  return {};
}

Status RunWriter::Part::Gather(const RunBlockShape& shape) {
  const auto size = static_cast<uint32_t>(payload_.size());
  const uint64_t pages = BlockPlace{0, size}.pages();
  if (extent_bytes_ + pages > kExtentBytes) {
    NEPHILA_RETURN_IF_ERROR(WriteExtent());
  }
  // Only a block of one large value can need more than that.
  const uint64_t wanted = std::max(pages, kExtentBytes);
  if (extent_.pages().size() != wanted) {
    NEPHILA_RETURN_IF_ERROR(WriteExtent());
    extent_ = BlockBuffer(wanted - kFrameHeaderBytes);
  }
  std::memcpy(extent_.payload() + extent_bytes_, payload_.data(), size);
  extent_bytes_ += pages;
  extent_payloads_.push_back(size);
  extent_shapes_.push_back(shape);
  return {};
}

Status RunWriter::Part::WriteExtent() {
  if (extent_bytes_ == 0) return {};
  NEPHILA_TRY(uint64_t offset,
              writer_.file_->AppendMany(extent_, extent_payloads_));
  if (range_.blocks.empty()) range_.first_key = extent_shapes_[0].first_key;
  for (size_t i = 0; i < extent_shapes_.size(); ++i) {
    const RunBlockShape& shape = extent_shapes_[i];
    const BlockPlace place{offset, extent_payloads_[i]};
    const uint64_t page = offset / kPageBytes;
    if (page > std::numeric_limits<uint32_t>::max()) {
      return Unexpected(
          Error{ErrorCode::kInvalidArgument,
                writer_.file_->path() + " is too large for a run: 16 TiB"});
    }
    range_.blocks.push_back({shape.first_key, static_cast<uint32_t>(page),
                             static_cast<uint16_t>(place.pages() / kPageBytes),
                             shape.count});
    range_.tombstones += shape.tombstones;
    range_.last_key = shape.last_key;
    offset = place.end();
  }
  extent_bytes_ = 0;
  extent_payloads_.clear();
  extent_shapes_.clear();
  return {};
}

}  // namespace nephila::drum
