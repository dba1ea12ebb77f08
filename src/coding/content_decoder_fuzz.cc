// Whatever bytes come in under whatever coding: decoding ends, stays within its
// limits, and gives the same in one piece and in small ones, from a fresh
// decoder and from one that was used before.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "coding/content_decoder.h"

namespace nephila::coding {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 22;
constexpr uint64_t kMaxRatio = 200;

struct Decoded {
  bool operator==(const Decoded&) const = default;
  std::string text;
  DecodeState state = DecodeState::kWhole;
};

Decoded Decode(ContentDecoder& decoder, std::string_view codings,
               std::string_view bytes, size_t step) {
  Decoded decoded;
  auto sink = [&](std::string_view piece) {
    NEPHILA_CHECK(!piece.empty());
    decoded.text += piece;
  };
  decoder.Begin(codings);
  for (size_t at = 0; at < bytes.size(); at += step) {
    if (!decoder.Feed(bytes.substr(at, step), sink)) break;
  }
  decoded.state = decoder.Finish(sink);
  NEPHILA_CHECK(decoded.text.size() == decoder.content_bytes());
  NEPHILA_CHECK(decoded.text.size() <= kMaxBytes);
  // Looked at piece by piece.
  NEPHILA_CHECK(decoded.text.size() <=
                std::max(uint64_t{1} << 20, (bytes.size() + 1) * kMaxRatio) +
                    kDecodedPieceBytes + bytes.size());
  return decoded;
}

bool AtLimit(const Decoded& decoded) {
  return decoded.state == DecodeState::kTooLarge ||
         decoded.state == DecodeState::kBomb;
}

bool Damaged(const Decoded& decoded) {
  return decoded.state == DecodeState::kBroken ||
         decoded.state == DecodeState::kAsItIs;
}

// Limits are looked at when a piece is through. How much goes out before damage
// is found depends on the pieces, and with it whether anything has, but not
// that there is damage, nor what the bytes before it are. (Of two codings the
// second may be given out as it is, or decoded.)
void CheckAgree(const Decoded& whole, const Decoded& pieces) {
  if (AtLimit(whole) || AtLimit(pieces)) return;
  NEPHILA_CHECK(Damaged(whole) == Damaged(pieces));
  if (!Damaged(whole)) {
    NEPHILA_CHECK(whole == pieces);
  } else if (whole.state == DecodeState::kBroken &&
             pieces.state == DecodeState::kBroken) {
    NEPHILA_CHECK(whole.text.starts_with(pieces.text) ||
                  pieces.text.starts_with(whole.text));
  }
}

}  // namespace
}  // namespace nephila::coding

// The first byte chooses the codings.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::coding;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1,
                               size - 1);
  constexpr std::string_view kNames[] = {
      "gzip", "deflate", "br", "zstd", "br, gzip", "gzip, zstd", "x, gzip"};
  const std::string_view codings = kNames[data[0] % std::size(kNames)];
  DecodeLimits limits;
  limits.max_bytes = kMaxBytes;
  limits.max_ratio = kMaxRatio;
  ContentDecoder decoder(limits);
  const Decoded whole = Decode(decoder, codings, bytes, bytes.size() + 1);
  // A page of something else between them leaves nothing behind.
  constexpr std::string_view kPage("\x01\x05\x00\xfa\xffother", 10);
  NEPHILA_CHECK(Decode(decoder, "deflate", kPage, 3).text == "other");
  NEPHILA_CHECK(whole == Decode(decoder, codings, bytes, bytes.size() + 1));
  for (const size_t step : {size_t{1}, size_t{13}}) {
    CheckAgree(whole, Decode(decoder, codings, bytes, step));
  }
  return 0;
}
