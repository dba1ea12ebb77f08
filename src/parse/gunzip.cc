#include "parse/gunzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "base/check.h"

namespace nephila::parse {

struct Gunzip::State {
  GunzipLimits limits;
  z_stream stream{};
  uint64_t in_bytes = 0;
  uint64_t out_bytes = 0;
  bool complete = false;  // at the end of a member
  bool ended = false;     // behind the last one
  GunzipError error = GunzipError::kNone;
};

Gunzip::Gunzip(const GunzipLimits& limits) : state_(std::make_unique<State>()) {
  state_->limits = limits;
  constexpr int kGzipOnly = 15 + 16;
  NEPHILA_CHECK(inflateInit2(&state_->stream, kGzipOnly) == Z_OK);
}

Gunzip::~Gunzip() { inflateEnd(&state_->stream); }

bool Gunzip::complete() const { return state_->complete; }

GunzipError Gunzip::Feed(std::string_view bytes, std::string* out) {
  constexpr uint64_t kRatioFrom = uint64_t{1} << 20;
  State& s = *state_;
  std::array<char, size_t{16} << 10> buffer;
  while (!bytes.empty() && !s.ended && s.error == GunzipError::kNone) {
    if (s.complete) {
      if (bytes.front() != '\x1f') {  // padding, or a signature
        s.ended = true;
        break;
      }
      s.complete = false;
      inflateReset(&s.stream);
    }
    // zlib counts in 32 bits.
    auto room = static_cast<uInt>(std::min<size_t>(bytes.size(), 1U << 30));
    s.stream.next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    s.stream.avail_in = room;
    int code = Z_OK;
    do {
      s.stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      s.stream.avail_out = static_cast<uInt>(buffer.size());
      code = inflate(&s.stream, Z_NO_FLUSH);
      size_t made = buffer.size() - s.stream.avail_out;
      uint64_t left = s.limits.max_bytes - s.out_bytes;
      out->append(buffer.data(), std::min<uint64_t>(made, left));
      s.out_bytes += std::min<uint64_t>(made, left);
      uint64_t taken = s.in_bytes + room - s.stream.avail_in;
      if (made > left) {
        s.error = GunzipError::kTooLarge;
      } else if (s.out_bytes > kRatioFrom &&
                 s.out_bytes / s.limits.max_ratio > taken) {
        s.error = GunzipError::kBomb;
      } else if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        s.error = GunzipError::kBroken;
      }
    } while (s.error == GunzipError::kNone && code == Z_OK &&
             s.stream.avail_out == 0);
    size_t consumed = room - s.stream.avail_in;
    s.in_bytes += consumed;
    bytes.remove_prefix(consumed);
    s.complete = code == Z_STREAM_END;
    // Nothing moves: zlib wants more than there is.
    if (consumed == 0 && !s.complete) break;
  }
  return s.error;
}

}  // namespace nephila::parse
