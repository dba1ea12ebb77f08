#include <zstd.h>

#include <array>

#include "base/check.h"
#include "coding/decoders.h"

namespace nephila::coding {
namespace {

// RFC 9659: windows of at most 8 MiB for content codings.
constexpr int kWindowLog = 23;

// Windows of 2 MiB, which a stream at the usual level names, are kept for the
// next page; larger ones are rare and go.
constexpr size_t kMostKeptBytes = size_t{3} << 20;

// RFC 8878: one frame or several, and frames to be skipped. The library also
// knows the formats of before the standard, which no server means and which are
// not as well guarded, so frames are let in by their magic numbers.
class ZstdDecoder final : public CodingDecoder {
 public:
  ZstdDecoder() { Make(); }
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }

  void Begin() override {
    ZSTD_DCtx_reset(context_, ZSTD_reset_session_only);
    phase_ = Phase::kMagic;
    magic_bytes_ = 0;
    frames_ = 0;
  }
  void End() override {
    if (ZSTD_sizeof_DCtx(context_) <= kMostKeptBytes) return;
    // The library has no other way to let a window go.
    ZSTD_freeDCtx(context_);
    Make();
  }
  size_t memory_bytes() const override {
    return sizeof(*this) + ZSTD_sizeof_DCtx(context_);
  }

  DecodeStep Decode(std::string_view piece, PieceTaker& taker) override {
    while (!piece.empty() && phase_ != Phase::kOver) {
      DecodeStep step = DecodeStep::kMore;
      if (phase_ == Phase::kFrame) {
        step = DecodeFrame(&piece, taker);
      } else {
        magic_[magic_bytes_++] = piece[0];
        piece.remove_prefix(1);
        if (magic_bytes_ == magic_.size()) step = BeginFrame(taker);
      }
      if (step == DecodeStep::kBroken || step == DecodeStep::kStopped) {
        return step;
      }
    }
    const bool inside = phase_ == Phase::kFrame || frames_ == 0;
    return inside ? DecodeStep::kMore : DecodeStep::kEnd;
  }

 private:
  enum class Phase : uint8_t { kMagic, kFrame, kOver };

  void Make() {
    context_ = ZSTD_createDCtx();
    NEPHILA_CHECK(context_ != nullptr);
    const size_t code =
        ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kWindowLog);
    NEPHILA_CHECK(ZSTD_isError(code) == 0);
  }

  DecodeStep BeginFrame(PieceTaker& taker) {
    magic_bytes_ = 0;
    const std::string_view magic(magic_.data(), magic_.size());
    const bool frame = magic == "\x28\xb5\x2f\xfd";
    const bool skippable = (static_cast<uint8_t>(magic[0]) & 0xf0) == 0x50 &&
                           magic.substr(1) == "\x2a\x4d\x18";
    if (!frame && !skippable) {
      // Behind a whole frame it is none.
      phase_ = Phase::kOver;
      return frames_ == 0 ? DecodeStep::kBroken : DecodeStep::kEnd;
    }
    phase_ = Phase::kFrame;
    std::string_view rest = magic;
    return DecodeFrame(&rest, taker);
  }

  // Takes from *piece what belongs to the frame.
  DecodeStep DecodeFrame(std::string_view* piece, PieceTaker& taker) {
    ZSTD_inBuffer in{piece->data(), piece->size(), 0};
    std::array<char, kDecodedPieceBytes> buffer;
    bool full = false;
    while ((in.pos < in.size || full) && phase_ == Phase::kFrame) {
      ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
      const size_t code = ZSTD_decompressStream(context_, &out, &in);
      // After an error out.pos says nothing about what was written.
      if (ZSTD_isError(code) != 0) return DecodeStep::kBroken;
      full = out.pos == out.size;
      if (out.pos > 0 && !taker.Take({buffer.data(), out.pos})) {
        return DecodeStep::kStopped;
      }
      if (code == 0) {
        ++frames_;
        phase_ = Phase::kMagic;
      }
    }
    piece->remove_prefix(in.pos);
    return DecodeStep::kMore;
  }

  ZSTD_DCtx* context_ = nullptr;
  Phase phase_ = Phase::kMagic;
  std::array<char, 4> magic_{};
  size_t magic_bytes_ = 0;
  uint64_t frames_ = 0;
};

}  // namespace

std::unique_ptr<CodingDecoder> MakeZstdDecoder() {
  return std::make_unique<ZstdDecoder>();
}

}  // namespace nephila::coding
