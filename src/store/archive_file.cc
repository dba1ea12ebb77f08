#include "store/archive_file.h"

#include <span>

namespace nephila::store {

Status ArchiveFile::WriteBuffer() {
  if (buffer_.empty()) return {};
  NEPHILA_RETURN_IF_ERROR(
      file_->Write(written_, std::as_bytes(std::span(buffer_))));
  written_ += buffer_.size();
  buffer_.clear();
  return {};
}

Status ArchiveFile::Drain() {
  return buffer_.size() < kBufferBytes ? Status() : WriteBuffer();
}

Status ArchiveFile::EndUnit() {
  NEPHILA_RETURN_IF_ERROR(WriteBuffer());
  end_ = written_;
  return {};
}

Status ArchiveFile::Rollback() {
  buffer_.clear();
  // A write that failed may have left a part of itself behind.
  NEPHILA_RETURN_IF_ERROR(file_->Truncate(end_));
  written_ = end_;
  return {};
}

Status ArchiveFile::Sync() { return file_->Sync(); }

}  // namespace nephila::store
