#include "bench/record_reader.h"

namespace nephila::bench {
namespace {

Unexpected<Error> EndsEarly() {
  return Unexpected(
      Error{ErrorCode::kCorruption, "a file of records ends within one"});
}

}  // namespace

Status RecordReader::Fill(size_t size) {
  window_.erase(0, position_);
  position_ = 0;
  while (window_.size() < size) {
    NEPHILA_TRY(auto piece, file_->Next());
    if (piece.empty()) break;
    window_.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  return {};
}

Result<uint64_t> RecordReader::Varint() {
  NEPHILA_RETURN_IF_ERROR(Ensure(kLongestVarint));
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (position_ == window_.size()) return EndsEarly();
    auto byte = static_cast<unsigned char>(window_[position_++]);
    value |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
  return EndsEarly();
}

Result<std::string_view> RecordReader::Bytes(size_t size) {
  NEPHILA_RETURN_IF_ERROR(Ensure(size));
  if (window_.size() - position_ < size) return EndsEarly();
  position_ += size;
  return std::string_view(window_).substr(position_ - size, size);
}

}  // namespace nephila::bench
