#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>

#include "coding/decoders.h"
#include "coding/gzip_header.h"

namespace nephila::coding {
namespace {

constexpr size_t kLongestMatch = 258;  // RFC 1951 s3.2.5

// gzip (RFC 1952), zlib (RFC 1950) and bare deflate (RFC 1951). Servers send
// each of the three under both names, so the first two bytes decide.
class InflateDecoder final : public CodingDecoder {
 public:
  explicit InflateDecoder(Coding coding) : coding_(coding) {
    isal_inflate_init(&state_);
  }

  void Begin() override {
    head_bytes_ = 0;
    phase_ = Phase::kHead;
    members_ = 0;
  }
  // It is small.
  void End() override {}
  size_t memory_bytes() const override { return sizeof(*this); }

  DecodeStep Decode(std::string_view piece, PieceTaker& taker) override {
    while (!piece.empty()) {
      if (phase_ == Phase::kOver) return DecodeStep::kEnd;
      if (phase_ == Phase::kBody) {
        const DecodeStep step = Inflate(&piece, taker);
        if (step != DecodeStep::kEnd) return step;
        continue;
      }
      if (phase_ == Phase::kGzipHeader) {
        if (!AddToHeader(&piece)) return DecodeStep::kBroken;
        continue;
      }
      head_[head_bytes_++] = piece[0];
      piece.remove_prefix(1);
      if (head_bytes_ < HeadSize()) continue;
      if (!BeginBody()) {
        if (members_ == 0) return DecodeStep::kBroken;
        phase_ = Phase::kOver;  // padding, or a signature
        continue;
      }
      std::string_view head(head_.data(), HeadSize());
      if (gzip_) {
        if (!AddToHeader(&head)) return DecodeStep::kBroken;
        continue;
      }
      const DecodeStep step = Inflate(&head, taker);
      if (step == DecodeStep::kBroken || step == DecodeStep::kStopped) {
        return step;
      }
    }
    if (phase_ == Phase::kBody || phase_ == Phase::kGzipHeader) {
      return DecodeStep::kMore;
    }
    return members_ > 0 ? DecodeStep::kEnd : DecodeStep::kMore;
  }

 private:
  enum class Phase : uint8_t { kHead, kGzipHeader, kBody, kOver };

  // Two bytes tell the three apart. Behind a whole member there is mostly
  // something else, so a second one has to show its method, too.
  size_t HeadSize() const { return members_ == 0 ? 2 : head_.size(); }

  // Chooses the wrapper by the bytes in head_.
  bool BeginBody() {
    const auto first = static_cast<uint8_t>(head_[0]);
    const auto second = static_cast<uint8_t>(head_[1]);
    head_bytes_ = 0;
    const bool gzip = first == 0x1f && second == 0x8b;
    if (members_ > 0 && !(gzip && head_[2] == 8)) return false;
    // RFC 1950 s2.2: 8 for deflate, and a check of both bytes. Bare deflate
    // could begin so too, with a stored block of one certain length.
    const bool zlib = (first & 0x0f) == 8 && (first * 256 + second) % 31 == 0;
    if (!gzip && !zlib && coding_ == Coding::kGzip) return false;
    isal_inflate_reset(&state_);
    state_.crc_flag = gzip   ? ISAL_GZIP_NO_HDR_VER
                      : zlib ? ISAL_ZLIB
                             : ISAL_DEFLATE;
    state_.hist_bits = 0;
    gzip_ = gzip;
    phase_ = gzip ? Phase::kGzipHeader : Phase::kBody;
    header_.Begin();
    return true;
  }

  // False: damaged.
  bool AddToHeader(std::string_view* piece) {
    switch (header_.Add(piece)) {
      case GzipHeader::State::kMore:
        return true;
      case GzipHeader::State::kDone:
        phase_ = Phase::kBody;
        return true;
      case GzipHeader::State::kUnknown:
        // Behind a whole member it is none.
        phase_ = Phase::kOver;
        return members_ > 0;
      case GzipHeader::State::kDamaged:
        break;
    }
    return false;
  }

  // Takes from *piece what belongs to the body.
  DecodeStep Inflate(std::string_view* piece, PieceTaker& taker) {
    // ISA-L counts in 32 bits.
    const size_t most = std::min<size_t>(piece->size(), size_t{1} << 30);
    state_.next_in =
        reinterpret_cast<uint8_t*>(const_cast<char*>(piece->data()));
    state_.avail_in = static_cast<uint32_t>(most);
    DecodeStep step = DecodeStep::kMore;
    std::array<uint8_t, kDecodedPieceBytes> buffer;
    do {
      state_.next_out = buffer.data();
      state_.avail_out = static_cast<uint32_t>(buffer.size());
      const uint32_t before = state_.avail_in;
      const int code = isal_inflate(&state_);
      size_t got = buffer.size() - state_.avail_out;
      const bool broken = code != ISAL_DECOMP_OK && code != ISAL_END_INPUT;
      // The match that breaks a stream is counted as output though nothing
      // was written for it: memory of pages before.
      if (broken && code != ISAL_INCORRECT_CHECKSUM) {
        got -= std::min(got, kLongestMatch);
      }
      if (got > 0 &&
          !taker.Take({reinterpret_cast<const char*>(buffer.data()), got})) {
        return DecodeStep::kStopped;
      }
      if (broken) return DecodeStep::kBroken;
      if (state_.block_state == ISAL_BLOCK_FINISH) {
        step = EndMember();
        break;
      }
      if (got == 0 && before > 0 && state_.avail_in == before) {
        return DecodeStep::kBroken;
      }
    } while (state_.avail_in > 0 || state_.avail_out == 0);
    piece->remove_prefix(most - std::min<size_t>(most, state_.avail_in));
    return step;
  }

  DecodeStep EndMember() {
    ++members_;
    // Only gzip goes on behind its end (RFC 1952 s2.2).
    phase_ = gzip_ ? Phase::kHead : Phase::kOver;
    return DecodeStep::kEnd;
  }

  const Coding coding_;
  Phase phase_ = Phase::kHead;
  std::array<char, 3> head_{};
  size_t head_bytes_ = 0;
  uint64_t members_ = 0;
  bool gzip_ = false;
  GzipHeader header_;
  inflate_state state_;
};

}  // namespace

std::unique_ptr<CodingDecoder> MakeInflateDecoder(Coding coding) {
  return std::make_unique<InflateDecoder>(coding);
}

}  // namespace nephila::coding
