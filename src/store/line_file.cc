#include "store/line_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

namespace nephila::store {
namespace {
constexpr size_t kBufferBytes = size_t{64} << 10;
}  // namespace

Result<bool> LineReader::Fill() {
  buffer_.resize(kBufferBytes);
  position_ = 0;
  NEPHILA_TRY(size_t got,
              file_.Read(offset_, std::as_writable_bytes(std::span(buffer_))));
  buffer_.resize(got);
  offset_ += got;
  return got > 0;
}

Result<bool> LineReader::Next(std::string* line) {
  line->clear();
  ++number_;
  while (true) {
    if (position_ == buffer_.size()) {
      NEPHILA_TRY(bool more, Fill());
      if (!more) {
        if (line->empty()) return false;
        break;
      }
    }
    std::string_view rest = std::string_view(buffer_).substr(position_);
    size_t end = rest.find('\n');
    size_t take = std::min(end, rest.size());
    if (line->size() + take > max_line_bytes_) {
      return Unexpected(
          Error{ErrorCode::kCorruption,
                fmt::format("{}: line {} is longer than {} bytes", file_.path(),
                            number_, max_line_bytes_)});
    }
    line->append(rest.substr(0, take));
    position_ += take;
    if (end == std::string_view::npos) continue;
    ++position_;
    break;
  }
  if (line->ends_with('\r')) line->pop_back();
  return true;
}

Status LineWriter::Add(std::string_view line) {
  buffer_.append(line).append("\n");
  return buffer_.size() < kBufferBytes ? Status() : Flush();
}

Status LineWriter::Flush() {
  NEPHILA_RETURN_IF_ERROR(
      file_.Write(offset_, std::as_bytes(std::span(buffer_))));
  offset_ += buffer_.size();
  buffer_.clear();
  return {};
}

}  // namespace nephila::store
