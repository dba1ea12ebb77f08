#include "coding/chunked_decoder.h"

#include <algorithm>
#include <optional>

#include "base/ascii.h"

namespace nephila::coding {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The size at the beginning of a chunk's line; extensions are left alone.
std::optional<uint64_t> ChunkSize(std::string_view line) {
  line = TrimSpaces(line.substr(0, line.find(';')));
  if (line.empty()) return std::nullopt;
  uint64_t size = 0;
  for (char c : line) {
    int digit = HexValue(c);
    if (digit < 0 || size >> 60 != 0) return std::nullopt;
    size = size << 4 | static_cast<uint64_t>(digit);
  }
  return size;
}

bool IsEmptyLine(std::string_view line) {
  return line == "\n" || line == "\r\n";
}

}  // namespace

void ChunkedDecoder::Reset() {
  state_ = State::kSize;
  any_chunk_ = false;
  left_ = 0;
  line_.clear();
  trailer_bytes_ = 0;
  extra_bytes_ = 0;
}

void ChunkedDecoder::GiveUp(const ByteSink& sink) {
  // Every chunk came before a trailer: what is wrong there is no payload.
  if (state_ == State::kTrailer) {
    state_ = State::kEndlessTrailer;
    extra_bytes_ += line_.size();
  } else {
    state_ = any_chunk_ ? State::kBroken : State::kNotChunked;
    if (!line_.empty()) sink(line_);
  }
  line_.clear();
}

void ChunkedDecoder::TakeSize(const ByteSink& sink) {
  auto size = ChunkSize(line_);
  if (!size) return GiveUp(sink);
  line_.clear();
  any_chunk_ = true;
  left_ = *size;
  state_ = *size == 0 ? State::kTrailer : State::kData;
}

void ChunkedDecoder::TakeTrailerLine() {
  bool empty = IsEmptyLine(line_);
  trailer_bytes_ += line_.size();
  line_.clear();
  if (empty) {
    state_ = State::kDone;
  } else if (trailer_bytes_ > kLongestTrailer) {
    state_ = State::kEndlessTrailer;
  }
}

// Takes what belongs to the line in hand; the rest is for the next state.
std::string_view ChunkedDecoder::FeedLine(std::string_view piece,
                                          const ByteSink& sink) {
  size_t newline = piece.find('\n');
  bool whole = newline != std::string_view::npos;
  std::string_view part = piece.substr(0, whole ? newline + 1 : newline);
  // The end of a chunk is CRLF or LF, nothing else.
  size_t most = state_ == State::kDataEnd ? 2 : kLongestLine;
  if (line_.size() + part.size() > most) {
    GiveUp(sink);
    return piece;
  }
  line_ += part;
  piece.remove_prefix(part.size());
  if (!whole) {
    if (state_ == State::kDataEnd && line_ != "\r") GiveUp(sink);
    return piece;
  }
  if (state_ == State::kSize) {
    TakeSize(sink);
  } else if (state_ == State::kTrailer) {
    TakeTrailerLine();
  } else if (IsEmptyLine(line_)) {
    line_.clear();
    state_ = State::kSize;
  } else {
    GiveUp(sink);
  }
  return piece;
}

void ChunkedDecoder::Feed(std::string_view piece, const ByteSink& sink) {
  while (!piece.empty()) {
    switch (state_) {
      case State::kSize:
      case State::kDataEnd:
      case State::kTrailer:
        piece = FeedLine(piece, sink);
        break;
      case State::kData: {
        auto take =
            static_cast<size_t>(std::min<uint64_t>(left_, piece.size()));
        sink(piece.substr(0, take));
        piece.remove_prefix(take);
        left_ -= take;
        if (left_ == 0) state_ = State::kDataEnd;
        break;
      }
      case State::kDone:
      case State::kEndlessTrailer:
        extra_bytes_ += piece.size();
        return;
      case State::kNotChunked:
      case State::kBroken:
        sink(piece);
        return;
    }
  }
}

ChunkedDecoder::Outcome ChunkedDecoder::Finish(const ByteSink& sink) {
  switch (state_) {
    case State::kDone:
      return Outcome::kWhole;
    case State::kNotChunked:
      return Outcome::kNotChunked;
    case State::kBroken:
    case State::kEndlessTrailer:
      return Outcome::kBroken;
    case State::kTrailer:
      // Servers that end with "0\r\n" alone have sent every chunk.
      return line_.empty() ? Outcome::kWhole : Outcome::kCut;
    case State::kSize:
      if (!any_chunk_) {
        GiveUp(sink);
        return Outcome::kNotChunked;
      }
      return Outcome::kCut;
    case State::kData:
    case State::kDataEnd:
      return Outcome::kCut;
  }
  return Outcome::kCut;
}

}  // namespace nephila::coding
