// ContentDecoder: removes the content codings of a payload (RFC 9110 s8.4):
// gzip, deflate (with and without zlib's header, since servers send both), br
// and zstd, in any order, a piece at a time.
//
// What cannot be decoded is given out as it is from the beginning, if nothing
// was decoded yet: many archives hold decoded payloads under the original head.
//   Threads: one per object.   Memory: the decoders' windows (zstd at most
//   8 MiB, br 16 MiB).   Cost: that of the decoders.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "store/http_message.h"

namespace nephila::store {

enum class DecodeState : uint8_t {
  kWhole,    // decoded to the end
  kCut,      // the payload ended before
  kBroken,   // damaged: what came before was given out
  kAsItIs,   // not in that coding: given out as it is
  kUnknown,  // a coding unknown here: given out as it is
};

// One coding.
class CodingDecoder {
 public:
  virtual ~CodingDecoder() = default;
  CodingDecoder(const CodingDecoder&) = delete;
  CodingDecoder& operator=(const CodingDecoder&) = delete;

  void Feed(std::string_view piece, const ByteSink& sink);
  DecodeState Finish(const ByteSink& sink);

 protected:
  CodingDecoder() = default;
  enum class Step : uint8_t { kMore, kEnd, kBroken };
  // Decodes all of `piece`, unless it ends or breaks before.
  virtual Step Decode(std::string_view piece, const ByteSink& sink) = 0;

 private:
  bool any_ = false;  // was given out
  Step step_ = Step::kMore;
  bool as_it_is_ = false;
  std::string held_;  // what came in before anything went out
};

class ContentDecoder {
 public:
  // `codings`: the value of Content-Encoding.
  explicit ContentDecoder(std::string_view codings);

  void Feed(std::string_view piece, const ByteSink& sink);
  // The worst state of all codings.
  DecodeState Finish(const ByteSink& sink);

 private:
  void FeedFrom(size_t index, std::string_view piece, const ByteSink& sink);

  bool unknown_ = false;
  std::vector<std::unique_ptr<CodingDecoder>> decoders_;  // in order of use
};

}  // namespace nephila::store
