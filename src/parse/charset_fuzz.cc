// Whatever bytes come in: an encoding is decided, decoding gives valid UTF-8 of
// bounded length, the same in chunks as whole, and what a query encoder writes
// is no longer than it may be.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "parse/charset.h"
#include "parse/charset_guess.h"
#include "parse/decoder.h"
#include "parse/query_encoder.h"

namespace nephila::parse {
namespace {

void CheckDecoding(Encoding encoding, std::string_view bytes, size_t chunk) {
  std::string whole = DecodeToUtf8(encoding, bytes);
  NEPHILA_CHECK(IsUtf8(whole));
  NEPHILA_CHECK(whole.size() <= 3 * bytes.size());
  std::string pieces;
  Decoder decoder(encoding);
  for (size_t at = 0; at < bytes.size(); at += chunk) {
    decoder.Decode(bytes.substr(at, chunk), &pieces);
  }
  decoder.Finish(&pieces);
  NEPHILA_CHECK(pieces == whole);

  std::string query;
  LegacyQueryEncoder(encoding).Append(bytes, &query);
  NEPHILA_CHECK(query.size() <= 24 * bytes.size() + 8);
  // What it read once it can write and read again.
  query.clear();
  LegacyQueryEncoder(encoding).Append(whole, &query);
  NEPHILA_CHECK(IsUtf8(DecodeToUtf8(OutputEncoding(encoding), query)));
}

}  // namespace
}  // namespace nephila::parse

// The first byte chooses an encoding, the second the chunks and the hints.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::parse;  // NOLINT(google-build-using-namespace)
  if (size < 2) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  auto encoding = static_cast<Encoding>(data[0] % kEncodingCount);
  CheckDecoding(encoding, bytes, 1 + data[1] % 8);
  CharsetHints hints;
  hints.xml = (data[1] & 16) != 0;
  // ICU's detector is slow and not ours; every fourth input is enough.
  hints.guess = (data[1] & 96) == 96;
  Charset charset = DecideCharset(bytes, hints);
  NEPHILA_CHECK(charset.mark_bytes <= bytes.size());
  LooksLikeUtf8(bytes);
  GuessUtf16(bytes);
  return 0;
}
