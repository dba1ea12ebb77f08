#include "store/content_decoder.h"

#include <brotli/encode.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "store/archive_testing.h"

namespace nephila::store {
namespace {

std::string Deflated(std::string_view text, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(
      deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY),
      Z_OK);
  std::string out(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Brotli(std::string_view text) {
  std::string out(text.size() + 100, '\0');
  size_t size = out.size();
  EXPECT_TRUE(
      BrotliEncoderCompress(5, 18, BROTLI_MODE_TEXT, text.size(),
                            reinterpret_cast<const uint8_t*>(text.data()),
                            &size, reinterpret_cast<uint8_t*>(out.data())));
  out.resize(size);
  return out;
}

struct Decoded {
  std::string text;
  DecodeState state;
};

Decoded Decode(std::string_view codings, std::string_view bytes, size_t step) {
  ContentDecoder decoder(codings);
  Decoded decoded;
  auto sink = [&](std::string_view piece) { decoded.text += piece; };
  for (size_t at = 0; at < bytes.size(); at += step) {
    decoder.Feed(bytes.substr(at, step), sink);
  }
  decoded.state = decoder.Finish(sink);
  return decoded;
}

std::string Page() {
  std::string page;
  for (int i = 0; i < 20'000; ++i) page += "<p>" + std::to_string(i * 7919);
  return page;
}

TEST(ContentDecoder, UndoesEveryCodingInPiecesOfAnySize) {
  std::string page = Page();
  const std::pair<const char*, std::string> kCases[] = {
      {"gzip", GzipMember(page)},
      {"X-GZIP", GzipMember(page)},
      {"deflate", Deflated(page, MAX_WBITS)},
      {"deflate", Deflated(page, -MAX_WBITS)},
      {"br", Brotli(page)},
      {"zstd", ZstdFrame(page)},
      {"br, gzip", GzipMember(Brotli(page))},
      {"identity", page},
      {"", page},
  };
  for (const auto& [codings, bytes] : kCases) {
    for (size_t step : {size_t{1}, size_t{1000}, bytes.size()}) {
      Decoded decoded = Decode(codings, bytes, step);
      EXPECT_EQ(decoded.state, DecodeState::kWhole) << codings << step;
      EXPECT_TRUE(decoded.text == page) << codings << step;
    }
  }
}

TEST(ContentDecoder, GivesOutWhatWasDecodedBefore) {
  for (const char* coding : {"gzip", "deflate", "br", "zstd"}) {
    for (size_t step : {1, 4, 100}) {
      Decoded decoded = Decode(coding, "<html> it is not coded", step);
      EXPECT_EQ(decoded.text, "<html> it is not coded") << coding << step;
      EXPECT_EQ(decoded.state, DecodeState::kAsItIs) << coding << step;
    }
  }
}

TEST(ContentDecoder, TellsACutPayload) {
  std::string page = Page();
  std::string packed = GzipMember(page);
  Decoded decoded = Decode("gzip", packed.substr(0, packed.size() / 2), 1'000);
  EXPECT_EQ(decoded.state, DecodeState::kCut);
  EXPECT_TRUE(page.starts_with(decoded.text));
  EXPECT_FALSE(decoded.text.empty());
  packed[packed.size() - 5] ^= 1;
  EXPECT_EQ(Decode("gzip", packed, 1'000).state, DecodeState::kBroken);
}

TEST(ContentDecoder, LeavesUnknownCodingsOn) {
  Decoded decoded = Decode("gzip, aes", "bytes", 2);
  EXPECT_EQ(decoded.state, DecodeState::kUnknown);
  EXPECT_EQ(decoded.text, "bytes");
  EXPECT_EQ(
      Decode("gzip,gzip,gzip,gzip,gzip,gzip,gzip,gzip,gzip", "x", 1).state,
      DecodeState::kUnknown);
}

TEST(ContentDecoder, TakesNothingForNothing) {
  EXPECT_EQ(Decode("gzip", "", 1).state, DecodeState::kWhole);
}

}  // namespace
}  // namespace nephila::store
