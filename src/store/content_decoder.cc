#include "store/content_decoder.h"

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "store/header_lines.h"

namespace nephila::store {
namespace {

constexpr size_t kBufferBytes = size_t{32} << 10;
// What is held back until a coding has shown that it is one: more than any
// header of a coding.
constexpr size_t kMostHeld = size_t{64} << 10;
// More codings than anybody uses are an attack on who decodes them.
constexpr size_t kMostCodings = 8;
// RFC 9659: 8 MiB for content codings.
constexpr int kZstdWindowLog = 23;

class InflateDecoder final : public CodingDecoder {
 public:
  enum class Kind : uint8_t { kGzip, kDeflate };

  explicit InflateDecoder(Kind kind) : kind_(kind) {
    // 32: gzip or zlib, by the first bytes.
    NEPHILA_CHECK(inflateInit2(&stream_, MAX_WBITS + 32) == Z_OK);
  }
  ~InflateDecoder() override { inflateEnd(&stream_); }

 protected:
  Step Decode(std::string_view piece, const ByteSink& sink) override {
    if (kind_ == Kind::kDeflate && !begun_ && !piece.empty()) {
      begun_ = true;
      // A zlib header is 8 for deflate in its low bits (RFC 1950 s2.2).
      bool zlib = (piece[0] & 0x0f) == 8;
      if (!zlib) {
        NEPHILA_CHECK(inflateReset2(&stream_, -MAX_WBITS) == Z_OK);
      }
    }
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream_.avail_in = static_cast<uInt>(piece.size());
    std::array<char, kBufferBytes> buffer;
    while (true) {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream_.avail_out = static_cast<uInt>(buffer.size());
      int code = inflate(&stream_, Z_NO_FLUSH);
      size_t got = buffer.size() - stream_.avail_out;
      if (got > 0) sink({buffer.data(), got});
      if (code == Z_STREAM_END) return Step::kEnd;
      if (code != Z_OK && code != Z_BUF_ERROR) return Step::kBroken;
      if (stream_.avail_in == 0 && stream_.avail_out > 0) return Step::kMore;
    }
  }

 private:
  const Kind kind_;
  bool begun_ = false;
  z_stream stream_{};
};

class BrotliDecoder final : public CodingDecoder {
 public:
  BrotliDecoder()
      : state_(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)) {
    NEPHILA_CHECK(state_ != nullptr);
  }
  ~BrotliDecoder() override { BrotliDecoderDestroyInstance(state_); }

 protected:
  Step Decode(std::string_view piece, const ByteSink& sink) override {
    size_t left = piece.size();
    const auto* in = reinterpret_cast<const uint8_t*>(piece.data());
    std::array<uint8_t, kBufferBytes> buffer;
    while (true) {
      size_t room = buffer.size();
      uint8_t* out = buffer.data();
      BrotliDecoderResult result = BrotliDecoderDecompressStream(
          state_, &left, &in, &room, &out, nullptr);
      size_t got = buffer.size() - room;
      if (got > 0) sink({reinterpret_cast<const char*>(buffer.data()), got});
      if (result == BROTLI_DECODER_RESULT_SUCCESS) return Step::kEnd;
      if (result == BROTLI_DECODER_RESULT_ERROR) return Step::kBroken;
      if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) return Step::kMore;
    }
  }

 private:
  ::BrotliDecoderState* state_;
};

class ZstdDecoder final : public CodingDecoder {
 public:
  ZstdDecoder() : context_(ZSTD_createDCtx()) {
    NEPHILA_CHECK(context_ != nullptr);
    size_t code =
        ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kZstdWindowLog);
    NEPHILA_CHECK(ZSTD_isError(code) == 0);
  }
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }

 protected:
  Step Decode(std::string_view piece, const ByteSink& sink) override {
    ZSTD_inBuffer in{piece.data(), piece.size(), 0};
    std::array<char, kBufferBytes> buffer;
    while (true) {
      ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
      size_t code = ZSTD_decompressStream(context_, &out, &in);
      if (out.pos > 0) sink({buffer.data(), out.pos});
      if (ZSTD_isError(code) != 0) return Step::kBroken;
      if (code == 0) return Step::kEnd;
      if (in.pos == in.size && out.pos < out.size) return Step::kMore;
    }
  }

 private:
  ZSTD_DCtx* context_;
};

std::unique_ptr<CodingDecoder> MakeDecoder(std::string_view coding) {
  using Kind = InflateDecoder::Kind;
  if (EqualsIgnoreCase(coding, "gzip") || EqualsIgnoreCase(coding, "x-gzip")) {
    return std::make_unique<InflateDecoder>(Kind::kGzip);
  }
  if (EqualsIgnoreCase(coding, "deflate")) {
    return std::make_unique<InflateDecoder>(Kind::kDeflate);
  }
  if (EqualsIgnoreCase(coding, "br")) return std::make_unique<BrotliDecoder>();
  if (EqualsIgnoreCase(coding, "zstd")) return std::make_unique<ZstdDecoder>();
  return nullptr;
}

}  // namespace

void CodingDecoder::Feed(std::string_view piece, const ByteSink& sink) {
  if (piece.empty()) return;
  if (as_it_is_) return sink(piece);
  if (step_ != Step::kMore) return;  // behind the end, or damaged
  if (!any_ && held_.size() < kMostHeld) held_ += piece;
  step_ = Decode(piece, [&](std::string_view decoded) {
    any_ = true;
    sink(decoded);
  });
  if (any_) held_ = {};
  if (step_ == Step::kBroken && !any_ && held_.size() <= kMostHeld) {
    as_it_is_ = true;
    sink(std::exchange(held_, {}));
  }
}

DecodeState CodingDecoder::Finish(const ByteSink& sink) {
  if (as_it_is_) return DecodeState::kAsItIs;
  if (step_ == Step::kEnd) return DecodeState::kWhole;
  if (step_ == Step::kBroken) return DecodeState::kBroken;
  if (!any_ && held_.empty()) return DecodeState::kWhole;  // nothing came
  if (!any_) sink(std::exchange(held_, {}));
  return any_ ? DecodeState::kCut : DecodeState::kAsItIs;
}

ContentDecoder::ContentDecoder(std::string_view codings) {
  while (!codings.empty()) {
    size_t comma = std::min(codings.find(','), codings.size());
    std::string_view coding = TrimSpace(codings.substr(0, comma));
    codings.remove_prefix(std::min(comma + 1, codings.size()));
    if (coding.empty() || EqualsIgnoreCase(coding, "identity")) continue;
    auto decoder = MakeDecoder(coding);
    if (decoder == nullptr || decoders_.size() == kMostCodings) {
      unknown_ = true;
      decoders_.clear();
      return;
    }
    decoders_.push_back(std::move(decoder));
  }
  // They were applied in the order in which they are listed.
  std::reverse(decoders_.begin(), decoders_.end());
}

void ContentDecoder::FeedFrom(size_t index, std::string_view piece,
                              const ByteSink& sink) {
  if (index == decoders_.size()) return sink(piece);
  decoders_[index]->Feed(piece, [&, index](std::string_view decoded) {
    FeedFrom(index + 1, decoded, sink);
  });
}

void ContentDecoder::Feed(std::string_view piece, const ByteSink& sink) {
  if (!piece.empty()) FeedFrom(0, piece, sink);
}

DecodeState ContentDecoder::Finish(const ByteSink& sink) {
  DecodeState worst = unknown_ ? DecodeState::kUnknown : DecodeState::kWhole;
  for (size_t i = 0; i < decoders_.size(); ++i) {
    worst = std::max(worst, decoders_[i]->Finish([&](std::string_view piece) {
      FeedFrom(i + 1, piece, sink);
    }));
  }
  return worst;
}

}  // namespace nephila::store
