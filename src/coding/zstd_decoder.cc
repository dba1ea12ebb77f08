#include <zstd.h>

#include <array>

#include "base/check.h"
#include "coding/decoders.h"

namespace nephila::coding {
namespace {

// RFC 9659: windows of at most 8 MiB for content codings.
constexpr int kWindowLog = 23;

// RFC 8878: one frame or several, and frames to be skipped.
class ZstdDecoder final : public CodingDecoder {
 public:
  ZstdDecoder() : context_(ZSTD_createDCtx()) {
    NEPHILA_CHECK(context_ != nullptr);
    const size_t code =
        ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kWindowLog);
    NEPHILA_CHECK(ZSTD_isError(code) == 0);
  }
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }

  void Begin() override {
    ZSTD_DCtx_reset(context_, ZSTD_reset_session_only);
    any_ = false;
    frames_ = 0;
    over_ = false;
    at_end_ = false;
  }

  DecodeStep Decode(std::string_view piece, PieceTaker& taker) override {
    if (over_) return DecodeStep::kEnd;
    ZSTD_inBuffer in{piece.data(), piece.size(), 0};
    std::array<char, kDecodedPieceBytes> buffer;
    bool full = false;
    while (in.pos < in.size || full) {
      ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
      const size_t code = ZSTD_decompressStream(context_, &out, &in);
      full = out.pos == out.size;
      if (out.pos > 0) any_ = true;
      if (out.pos > 0 && !taker.Take({buffer.data(), out.pos})) {
        return DecodeStep::kStopped;
      }
      if (ZSTD_isError(code) != 0) return Broken();
      at_end_ = code == 0;
      if (at_end_) {
        ++frames_;
        any_ = false;
        full = false;
      }
    }
    return at_end_ ? DecodeStep::kEnd : DecodeStep::kMore;
  }

 private:
  // What gives nothing behind a whole frame is no frame.
  DecodeStep Broken() {
    if (frames_ == 0 || any_) return DecodeStep::kBroken;
    over_ = true;
    return DecodeStep::kEnd;
  }

  ZSTD_DCtx* context_;
  bool any_ = false;  // came out of this frame
  uint64_t frames_ = 0;
  bool at_end_ = false;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<CodingDecoder> MakeZstdDecoder() {
  return std::make_unique<ZstdDecoder>();
}

}  // namespace nephila::coding
