// HTTP messages as archives keep them: the head of a response or a request at
// the beginning of a record's block, and the payload behind it with its
// transfer coding removed (content codings stay: RFC 9110 s8.4).
//
// Tolerant as archives need: LF alone, no reason phrase, lines that are no
// fields, no empty line at the end, and bodies that say chunked and are not,
// since many tools have stored decoded bodies under the original head.
//   Threads: one per object.   Memory: a head, at most the limit.
//   Cost: linear in the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coding/byte_sink.h"
#include "coding/chunked_decoder.h"

namespace nephila::store {

using coding::ByteSink;
using coding::ChunkedDecoder;

enum class HttpKind : uint8_t { kResponse, kRequest };

struct HttpField {
  bool operator==(const HttpField&) const = default;
  std::string name;
  std::string value;
};

struct HttpHead {
  // Of the first line. "1.1" of "HTTP/1.1"; a request may have none.
  std::string version;
  int status = 0;      // of a response
  std::string reason;  // of a response; may be empty
  std::string method;  // of a request
  std::string target;  // of a request
  std::vector<HttpField> fields;
  size_t malformed_lines = 0;
  // Of the block: the payload begins behind them.
  size_t bytes = 0;

  // The first field of that name in any case, or null.
  const std::string* Find(std::string_view name) const;
  // The same, or an empty text.
  std::string_view Get(std::string_view name) const;
  // Whether chunked is the last transfer coding (RFC 9112 s6.1).
  bool chunked() const;
  // The part of Content-Type before ';', in small letters.
  std::string media_type() const;
};

enum class HttpHeadError : uint8_t {
  kNotHttp,  // no status line, no request line
  kTooLong,  // no end within the limit
};

std::string_view HttpHeadErrorText(HttpHeadError error);

inline constexpr size_t kLongestHttpHead = size_t{1} << 20;

// Reads a head. `text` ends with its empty line, or where the block ends.
Result<HttpHead, HttpHeadError> ParseHttpHead(std::string_view text,
                                              HttpKind kind);

// Takes the block of a record apart into head and payload.
class HttpBlock {
 public:
  explicit HttpBlock(HttpKind kind, size_t max_head_bytes = kLongestHttpHead)
      : kind_(kind), max_head_bytes_(max_head_bytes) {}

  // The next piece of the block; what of it is payload goes to `sink`.
  void Feed(std::string_view piece, const ByteSink& sink);
  // After the last piece.
  void Finish(const ByteSink& sink);

  // The same payload with its transfer coding on, if it is wanted too. Set it
  // before the first piece.
  void set_raw_sink(ByteSink sink) { raw_sink_ = std::move(sink); }

  // Whether the head has been read; if it was none the whole block is payload.
  bool has_head() const { return state_ == State::kBody && !error_; }
  // REQUIRES: has_head().
  const HttpHead& head() const { return head_; }
  // Null while nothing is wrong with the head.
  const HttpHeadError* error() const { return error_ ? &*error_ : nullptr; }
  // After Finish; kWhole for a body that does not say chunked.
  ChunkedDecoder::Outcome transfer() const { return transfer_; }

 private:
  enum class State : uint8_t { kHead, kBody };
  void EndHead(size_t head_bytes, const ByteSink& sink);
  void GiveBody(std::string_view piece, const ByteSink& sink);

  const HttpKind kind_;
  const size_t max_head_bytes_;
  State state_ = State::kHead;
  std::string buffer_;  // the head so far
  HttpHead head_;
  std::optional<HttpHeadError> error_;
  bool chunked_ = false;
  ChunkedDecoder decoder_;
  ChunkedDecoder::Outcome transfer_ = ChunkedDecoder::Outcome::kWhole;
  ByteSink raw_sink_;
};

}  // namespace nephila::store
