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

std::string SegmentName(uint64_t number) {
  return fmt::format("{:08}.segment", number);
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

std::string SegmentFiles::PathOf(uint64_t number) const {
  return dir_ + "/" + SegmentName(number);
}

void SegmentFiles::Forget(uint64_t number) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return;
  open_.erase(found->second);
  by_number_.erase(found);
}

Result<File*> SegmentFiles::Get(uint64_t number, OpenMode mode) {
  if (const auto found = by_number_.find(number); found != by_number_.end()) {
    open_.splice(open_.begin(), open_, found->second);
    return found->second->file.get();
  }
  NEPHILA_TRY(auto file, fs_.Open(PathOf(number), mode));
  if (!open_.empty() && open_.size() >= max_open_) {
    by_number_.erase(open_.back().number);
    open_.pop_back();
  }
  open_.push_front({number, std::move(file)});
  by_number_[number] = open_.begin();
  return open_.front().file.get();
}

Status SegmentFiles::Create(uint64_t number, std::string_view bytes) {
  Forget(number);
  const auto write = [&]() -> Status {
    NEPHILA_TRY(File* const file, Get(number, OpenMode::kCreate));
    NEPHILA_TRY(const uint64_t size, file->Size());
    if (size > 0) NEPHILA_RETURN_IF_ERROR(file->Truncate(0));
    return file->Write(0, Bytes(bytes));
  };
  if (Status status = write(); !status) {
    if (status.error().code == ErrorCode::kNoSpace) {
      Forget(number);
      IgnoreError(fs_.Remove(PathOf(number)),
                  "it takes room that is wanted; the number is used again");
    }
    return status;
  }
  bytes_written_ += bytes.size();
  return {};
}

Status SegmentFiles::Append(uint64_t number, uint64_t offset,
                            std::string_view bytes) {
  NEPHILA_TRY(File* const file, Get(number, mode_));
  if (Status status = file->Write(offset, Bytes(bytes)); !status) {
    if (status.error().code == ErrorCode::kNoSpace) {
      IgnoreError(file->Truncate(offset),
                  "the part of a block takes room, and is written over");
    }
    return status;
  }
  file->StartWriteback(offset, bytes.size());
  bytes_written_ += bytes.size();
  return {};
}

Status SegmentFiles::CheckHead(File& file, uint64_t queue, uint64_t number) {
  std::string head(kSegmentHeadBytes, '\0');
  NEPHILA_RETURN_IF_ERROR(
      file.ReadExact(0, std::as_writable_bytes(std::span(head))));
  if (head != SegmentHead(salt_, number, queue)) {
    return Damaged(file, 0, "this is not the segment of that queue");
  }
  return {};
}

Result<uint64_t> SegmentFiles::ReadBlock(uint64_t queue, const Segment& segment,
                                         uint64_t offset, Block& block) {
  NEPHILA_TRY(File* const file, Get(segment.number, mode_));
  if (offset == kSegmentHeadBytes) {
    NEPHILA_RETURN_IF_ERROR(CheckHead(*file, queue, segment.number));
  }
  if (offset + kFrameHeaderBytes > segment.end) {
    return Damaged(*file, offset, "the segment ends in a block");
  }
  frame_.resize(kFrameHeaderBytes);
  NEPHILA_RETURN_IF_ERROR(
      file->ReadExact(offset, std::as_writable_bytes(std::span(frame_))));
  const uint64_t salt = BlockSalt(salt_, segment.number, offset);
  ByteReader head(frame_);
  const uint32_t length = *head.U32();
  // A right head without its payload is cut short, anything else no head: so
  // the length is checked before it is believed.
  ByteReader header(frame_);
  if (const auto cut = ReadFrame(header, salt, kMostPayloadBytes);
      cut.has_value() || cut.error() != FrameError::kTruncated ||
      offset + kFrameHeaderBytes + length > segment.end) {
    return Damaged(*file, offset, "the block there is damaged");
  }
  frame_.resize(kFrameHeaderBytes + length);
  NEPHILA_RETURN_IF_ERROR(file->ReadExact(
      offset + kFrameHeaderBytes,
      std::as_writable_bytes(std::span(frame_)).subspan(kFrameHeaderBytes)));
  ByteReader reader(frame_);
  const auto payload = ReadFrame(reader, salt, kMostPayloadBytes);
  if (!payload) return Damaged(*file, offset, "the block there is damaged");
  if (auto unpacked = unpacker_.Unpack(*payload, block);
      !unpacked.has_value()) {
    return Damaged(*file, offset, unpacked.error());
  }
  file->Advise(offset, frame_.size(), Advice::kDontNeed);
  bytes_read_ += frame_.size();
  return offset + frame_.size();
}

}  // namespace nephila::disk_queue
