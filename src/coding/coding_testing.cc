#include "coding/coding_testing.h"

#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>

#include <array>

#include "base/check.h"

namespace nephila::coding {
namespace {

Bytef* BytesOf(std::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

std::string Deflate(std::string_view text, int window_bits) {
  z_stream stream{};
  NEPHILA_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8,
                             Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = BytesOf(text);
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = BytesOf(out);
  stream.avail_out = static_cast<uInt>(out.size());
  NEPHILA_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

std::string Gzip(std::string_view text) {
  return Deflate(text, MAX_WBITS + 16);
}

std::string Zlib(std::string_view text) { return Deflate(text, MAX_WBITS); }

std::string BareDeflate(std::string_view text) {
  return Deflate(text, -MAX_WBITS);
}

std::string Brotli(std::string_view text, int window_bits) {
  std::string out(BrotliEncoderMaxCompressedSize(text.size()) + 16, '\0');
  size_t size = out.size();
  NEPHILA_CHECK(BrotliEncoderCompress(
                    5, window_bits, BROTLI_MODE_TEXT, text.size(),
                    reinterpret_cast<const uint8_t*>(text.data()), &size,
                    reinterpret_cast<uint8_t*>(out.data())) == BROTLI_TRUE);
  out.resize(size);
  return out;
}

std::string Zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const size_t size =
      ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  NEPHILA_CHECK(ZSTD_isError(size) == 0);
  out.resize(size);
  return out;
}

bool ZlibInflates(std::string_view packed, std::string* text) {
  z_stream stream{};
  NEPHILA_CHECK(inflateInit2(&stream, MAX_WBITS + 32) == Z_OK);
  stream.next_in = BytesOf(packed);
  stream.avail_in = static_cast<uInt>(packed.size());
  std::array<char, 4096> buffer;
  int code = Z_OK;
  while (code == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    code = inflate(&stream, Z_NO_FLUSH);
    text->append(buffer.data(), buffer.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return code == Z_STREAM_END;
}

}  // namespace nephila::coding
