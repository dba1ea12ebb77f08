// BodyDecoder: the content of a response, its chunks and content codings
// undone within bounds.
//   In: head and body as they came   Out: the content, in pieces
//   Threads: one decoder each, reused page after page   Memory: the content of
//   a body that was coded, at most max_bytes, and the decoders' own
//   Cost: none for a body that is not coded: it is given as it stands
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "coding/chunked_decoder.h"
#include "coding/content_decoder.h"
#include "fetch/response_head.h"
#include "item/fetched_page.h"

namespace nephila::crawl {

class BodyDecoder {
 public:
  explicit BodyDecoder(const coding::DecodeLimits& limits)
      : max_bytes_(limits.max_bytes), decoder_(limits) {}

  // Views into the page or into the decoder, until its next call.
  std::span<const std::string_view> Decode(const item::FetchedPage& page,
                                           const fetch::ResponseHead& head);

  // Of the last body.
  coding::DecodeState state() const { return state_; }
  coding::ChunkedDecoder::Outcome chunks() const { return chunked_; }
  bool chunks_broken() const {
    return chunked_ == coding::ChunkedDecoder::Outcome::kBroken ||
           chunked_ == coding::ChunkedDecoder::Outcome::kNotChunked;
  }
  uint64_t content_bytes() const { return content_bytes_; }
  // Whether the body was coded, and has so many bytes or more.
  bool is_cut_at(uint64_t bytes) const {
    return coded_ && content_bytes_ >= bytes;
  }

 private:
  const uint64_t max_bytes_;
  coding::ChunkedDecoder chunks_;
  coding::ContentDecoder decoder_;
  std::string content_;
  std::string_view piece_;
  coding::DecodeState state_ = coding::DecodeState::kWhole;
  coding::ChunkedDecoder::Outcome chunked_ =
      coding::ChunkedDecoder::Outcome::kWhole;
  uint64_t content_bytes_ = 0;
  bool coded_ = false;
};

}  // namespace nephila::crawl
