#include "disk_queue/segment_files.h"

#include <fmt/core.h>

#include <span>

#include "base/hash.h"
#include "base/random.h"

namespace nephila::disk_queue {
namespace {

constexpr std::string_view kMagic = "nephila queue 1";

uint64_t FileSalt(uint64_t set_salt, uint64_t number) {
  return KeyedHash("segment", set_salt + number);
}

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Unexpected<Error> Damaged(const File& file, uint64_t offset,
                          std::string_view what) {
  return Unexpected(Error{
      ErrorCode::kCorruption,
      FilePlace("reading", file.path(), offset) + ": " + std::string(what)});
}

}  // namespace

std::string SegmentFileName(uint64_t file) {
  return fmt::format("{:08}.segments", file);
}

uint64_t BlockSalt(uint64_t set_salt, uint64_t number, uint64_t offset) {
  uint64_t state = FileSalt(set_salt, number) ^ offset;
  return NextSplitMix(state);
}

std::string SegmentHead(uint64_t set_salt, uint64_t number, uint64_t queue) {
  std::string payload;
  ByteWriter writer(payload);
  writer.Sized(kMagic);
  writer.U64(set_salt);
  writer.U64(number);
  writer.U64(queue);
  std::string frame;
  AppendFrame(frame, payload, BlockSalt(set_salt, number, 0));
  return frame;
}

void SegmentFiles::Close(uint64_t file) {
  const auto found = by_index_.find(file);
  if (found == by_index_.end()) return;
  open_.erase(found->second);
  by_index_.erase(found);
}

Result<File*> SegmentFiles::Get(uint64_t slot, OpenMode mode) {
  const uint64_t index = geometry_.FileOf(slot);
  if (const auto found = by_index_.find(index); found != by_index_.end()) {
    open_.splice(open_.begin(), open_, found->second);
    return found->second->file.get();
  }
  NEPHILA_TRY(auto file, fs_.Open(dir_ + "/" + SegmentFileName(index), mode));
  if (!open_.empty() && open_.size() >= max_open_) {
    by_index_.erase(open_.back().index);
    open_.pop_back();
  }
  open_.push_front({index, std::move(file)});
  by_index_[index] = open_.begin();
  return open_.front().file.get();
}

Status SegmentFiles::Write(uint64_t slot, uint64_t offset,
                           std::string_view bytes) {
  NEPHILA_TRY(File* const file, Get(slot, OpenMode::kCreate));
  const uint64_t at = geometry_.BaseOf(slot) + offset;
  NEPHILA_RETURN_IF_ERROR(file->Write(at, Bytes(bytes)));
  bytes_written_ += bytes.size();
  return {};
}

Status SegmentFiles::CheckHead(File& file, uint64_t queue,
                               const Segment& segment) {
  std::string head(kSegmentHeadBytes, '\0');
  const uint64_t base = geometry_.BaseOf(segment.slot);
  NEPHILA_RETURN_IF_ERROR(
      file.ReadExact(base, std::as_writable_bytes(std::span(head))));
  if (head != SegmentHead(salt_, segment.number, queue)) {
    return Damaged(file, base, "this is not the segment of that queue");
  }
  return {};
}

Result<uint64_t> SegmentFiles::ReadBlock(uint64_t queue, const Segment& segment,
                                         uint64_t offset, Block& block) {
  NEPHILA_TRY(File* const file, Get(segment.slot, mode_));
  if (offset == kSegmentHeadBytes) {
    NEPHILA_RETURN_IF_ERROR(CheckHead(*file, queue, segment));
  }
  const uint64_t at = geometry_.BaseOf(segment.slot) + offset;
  if (offset + kFrameHeaderBytes > segment.end) {
    return Damaged(*file, at, "the segment ends in a block");
  }
  frame_.resize(kFrameHeaderBytes);
  NEPHILA_RETURN_IF_ERROR(
      file->ReadExact(at, std::as_writable_bytes(std::span(frame_))));
  const uint64_t salt = BlockSalt(salt_, segment.number, offset);
  ByteReader head(frame_);
  const uint32_t length = *head.U32();
  // A right head without its payload is cut short, anything else no head: so
  // the length is checked before it is believed.
  ByteReader header(frame_);
  if (const auto cut = ReadFrame(header, salt, kMostPayloadBytes);
      cut.has_value() || cut.error() != FrameError::kTruncated ||
      offset + kFrameHeaderBytes + length > segment.end) {
    return Damaged(*file, at, "the block there is damaged");
  }
  frame_.resize(kFrameHeaderBytes + length);
  NEPHILA_RETURN_IF_ERROR(file->ReadExact(
      at + kFrameHeaderBytes,
      std::as_writable_bytes(std::span(frame_)).subspan(kFrameHeaderBytes)));
  ByteReader reader(frame_);
  const auto payload = ReadFrame(reader, salt, kMostPayloadBytes);
  if (!payload) return Damaged(*file, at, "the block there is damaged");
  if (auto unpacked = unpacker_.Unpack(*payload, block);
      !unpacked.has_value()) {
    return Damaged(*file, at, unpacked.error());
  }
  bytes_read_ += frame_.size();
  return offset + frame_.size();
}

}  // namespace nephila::disk_queue
