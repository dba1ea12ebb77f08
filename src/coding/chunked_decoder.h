// ChunkedDecoder: removes the chunked transfer coding (RFC 9112 s7.1) from a
// body that comes in pieces of any size.
//
// Tolerant as the web needs: LF alone, spaces around a size, no trailer behind
// the last chunk, and bodies that say chunked and are not, since many archives
// hold decoded bodies under the original head. Extensions and trailers are
// read over; a line of 4 KiB or a trailer of 64 KiB is none.
//   In: pieces of a body   Out: the payload, in pieces, and how it ended
//   Threads: one per object.   Memory: a line.   Cost: linear in the body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "coding/byte_sink.h"

namespace nephila::coding {

class ChunkedDecoder {
 public:
  enum class Outcome : uint8_t {
    kWhole,       // the last chunk and its trailer were there
    kCut,         // the body ended before
    kNotChunked,  // it did not begin with a chunk: given out as it is
    kBroken,      // from some place on it was not chunked: that part as it is;
                  // or all chunks are there, but the trailer has no end
  };

  // A size has at most 16 digits; the rest is for extensions.
  static constexpr size_t kLongestLine = 4096;
  static constexpr size_t kLongestTrailer = size_t{64} << 10;

  void Feed(std::string_view piece, const ByteSink& sink);
  // After the last piece.
  Outcome Finish(const ByteSink& sink);
  // For the next body; keeps its memory.
  void Reset();

  // Whether the body has ended with its trailer: what follows is not its own.
  bool done() const { return state_ == State::kDone; }
  // Bytes behind the end of the coding, which were left out.
  uint64_t extra_bytes() const { return extra_bytes_; }

 private:
  enum class State : uint8_t {
    kSize,
    kData,
    kDataEnd,
    kTrailer,
    kDone,
    kEndlessTrailer,
    kNotChunked,
    kBroken,
  };
  // The line in hand is whole: reads the size in it.
  void TakeSize(const ByteSink& sink);
  void TakeTrailerLine();
  void GiveUp(const ByteSink& sink);
  std::string_view FeedLine(std::string_view piece, const ByteSink& sink);

  State state_ = State::kSize;
  bool any_chunk_ = false;
  uint64_t left_ = 0;  // of the chunk
  std::string line_;   // of a size, a trailer, or the end of a chunk
  size_t trailer_bytes_ = 0;
  uint64_t extra_bytes_ = 0;
};

}  // namespace nephila::coding
