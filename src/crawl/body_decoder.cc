#include "crawl/body_decoder.h"

#include <algorithm>

namespace nephila::crawl {

std::span<const std::string_view> BodyDecoder::Decode(
    const item::FetchedPage& page, const fetch::ResponseHead& head) {
  state_ = coding::DecodeState::kWhole;
  chunked_ = coding::ChunkedDecoder::Outcome::kWhole;
  content_bytes_ = 0;
  bool chunked = page.transfer_coding == item::TransferCoding::kChunked;
  std::string codings = head.Combined("Content-Encoding");
  coded_ = chunked || !codings.empty();
  if (!coded_) {
    for (std::string_view piece : page.body) content_bytes_ += piece.size();
    return page.body;
  }
  content_.clear();
  coding::ByteSink keep = [this](std::string_view piece) {
    uint64_t room = max_bytes_ - std::min(max_bytes_, content_.size());
    content_.append(piece.substr(0, room));
  };
  coding::ByteSink decode = [this, &keep](std::string_view piece) {
    decoder_.Feed(piece, keep);
  };
  const coding::ByteSink& payload = codings.empty() ? keep : decode;
  if (!codings.empty()) decoder_.Begin(codings);
  if (chunked) chunks_.Reset();
  for (std::string_view piece : page.body) {
    if (chunked) {
      chunks_.Feed(piece, payload);
    } else {
      payload(piece);
    }
  }
  if (chunked) chunked_ = chunks_.Finish(payload);
  if (!codings.empty()) state_ = decoder_.Finish(keep);
  content_bytes_ = content_.size();
  piece_ = content_;
  return {&piece_, 1};
}

}  // namespace nephila::crawl
