// ResponseHead: the head of an HTTP response, as it came and as it is meant.
//
// It takes the bytes as they arrive (HTTP/1.x, or the text that stands for an
// HTTP/2 head), keeps those of the last head for the archive, and reads its
// fields. Heads of 1xx that come before are counted and passed over (RFC 9110
// s15.2). Tolerant as browsers are: LF alone, folded lines (RFC 9112 s5.2),
// no reason phrase, empty lines before; a line that is no field is counted and
// left out.
//   In: bytes, anything   Out: fields as views, which live until Clear or Add
//   Bounds: HeadLimits, over all heads of one response together
//   Threads: one per object.   Memory: the head; kept over Clear.
//   Cost: linear in the bytes; a lookup is linear in the fields.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/clock.h"
#include "config/settings.h"

namespace nephila::fetch {

struct HeadField {
  bool operator==(const HeadField&) const = default;
  std::string_view name;
  std::string_view value;  // without spaces around it
};

struct HeadLimits {
  size_t max_bytes = size_t{64} << 10;
  size_t max_fields = 500;  // lines that are no field count too
};

HeadLimits HeadLimitsOf(const config::FetchSettings& settings);

enum class HeadState : uint8_t {
  kMore,           // not whole yet
  kComplete,       // the empty line was there
  kNotHttp,        // it does not begin with a status line
  kTooLong,        // over max_bytes
  kTooManyFields,  // over max_fields
};

class ResponseHead {
 public:
  explicit ResponseHead(const HeadLimits& limits = {}) : limits_(limits) {}
  // Views point into it.
  ResponseHead(const ResponseHead&) = delete;
  ResponseHead& operator=(const ResponseHead&) = delete;

  // A new response.
  void Clear();
  void Clear(const HeadLimits& limits);

  // Takes what belongs to heads off *bytes; behind kComplete the rest is body.
  HeadState Add(std::string_view* bytes);
  // The connection ended: reads a head that has no empty line, if it has a
  // status line that is whole; else kMore stays.
  HeadState Finish();
  HeadState state() const { return state_; }

  // Of the last head. REQUIRES (for all below): kComplete, or nothing is there.
  std::string_view text() const { return text_; }  // as received
  int status() const { return status_; }
  std::string_view version() const { return version_; }  // "1.1", "2"
  std::string_view reason() const { return reason_; }
  std::span<const HeadField> fields() const { return fields_; }
  size_t malformed_lines() const { return malformed_lines_; }
  // Heads that came before it.
  size_t earlier_heads() const { return earlier_heads_; }

  // The first value of that name in any case, or "".
  std::string_view Get(std::string_view name) const;
  bool Has(std::string_view name) const;
  // All values of a list field, with ", " between (RFC 9110 s5.3).
  std::string Combined(std::string_view name) const;
  // take(value) for each field of that name: Set-Cookie must not be combined.
  template <typename F>
  void ForEach(std::string_view name, F&& take) const;

  // None if there is none, or if it is no number, or if there are two
  // (RFC 9110 s8.6 lets the same value come more than once).
  std::optional<uint64_t> content_length() const;
  // Whether chunked is the last transfer coding (RFC 9112 s6.1).
  bool chunked() const;
  std::string_view content_type() const { return Get("Content-Type"); }
  std::string_view location() const { return Get("Location"); }  // raw
  std::string_view etag() const { return Get("ETag"); }
  std::string_view last_modified() const { return Get("Last-Modified"); }
  // The wait that the server asks for, in seconds or until a date (RFC 9110
  // s10.2.3), at most `most`; none if it asks for none, or in no known form.
  std::optional<std::chrono::nanoseconds> RetryAfter(
      WallTime now, std::chrono::nanoseconds most) const;

 private:
  bool ReadStatusLine(std::string_view line);
  void ReadFields(std::string_view lines);
  void Fold(std::string_view more);
  HeadState Read();
  HeadState AddLine(std::string_view line);

  HeadLimits limits_;
  HeadState state_ = HeadState::kMore;
  std::string text_;
  size_t line_begin_ = 0;  // of the line that has no end yet
  size_t lines_ = 0;       // of this head, the status line too
  size_t earlier_bytes_ = 0;
  size_t earlier_lines_ = 0;
  size_t earlier_heads_ = 0;

  int status_ = 0;
  std::string_view version_;
  std::string_view reason_;
  std::vector<HeadField> fields_;
  std::deque<std::string> folded_;  // values of several lines
  size_t malformed_lines_ = 0;
};

template <typename F>
void ResponseHead::ForEach(std::string_view name, F&& take) const {
  for (const HeadField& field : fields_) {
    if (EqualsIgnoreCase(field.name, name)) take(field.value);
  }
}

}  // namespace nephila::fetch
