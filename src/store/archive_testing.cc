#include "store/archive_testing.h"

#include <openssl/sha.h>
#include <zlib.h>
#include <zstd.h>

#include <array>

#include "base/check.h"

namespace nephila::store {

std::string RecordText(std::string_view type, std::string_view uri,
                       std::string_view block, std::string_view more_fields) {
  static int serial = 0;
  std::string text = "WARC/1.1\r\nWARC-Type: ";
  text.append(type).append("\r\nWARC-Record-ID: <urn:uuid:");
  text.append(std::to_string(++serial)).append(">\r\n");
  text.append("WARC-Date: 2026-01-02T03:04:05Z\r\n");
  if (!uri.empty()) text.append("WARC-Target-URI: ").append(uri).append("\r\n");
  text.append(more_fields);
  text.append("Content-Length: ").append(std::to_string(block.size()));
  text.append("\r\n\r\n").append(block).append("\r\n\r\n");
  return text;
}

std::string ResponseText(std::string_view uri, std::string_view body) {
  std::string block = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
  block += body;
  return RecordText("response", uri, block,
                    "Content-Type: application/http; msgtype=response\r\n"
                    "WARC-Block-Digest: " +
                        Sha1Text(block) +
                        "\r\nWARC-Payload-Digest: " + Sha1Text(body) + "\r\n");
}

std::string GzipMember(std::string_view text) {
  z_stream stream{};
  NEPHILA_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8,
                             Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  NEPHILA_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string ZstdFrame(std::string_view text, std::string_view dictionary) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_loadDictionary(context, dictionary.data(), dictionary.size());
  size_t size =
      ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size());
  NEPHILA_CHECK(ZSTD_isError(size) == 0);
  out.resize(size);
  ZSTD_freeCCtx(context);
  return out;
}

std::string SkippableFrame(std::string_view contents, unsigned char number) {
  std::string frame;
  frame += static_cast<char>(0x50 + number);
  frame += "\x2a\x4d\x18";
  for (unsigned shift = 0; shift < 32; shift += 8) {
    frame += static_cast<char>(contents.size() >> shift & 255);
  }
  frame += contents;
  return frame;
}

std::string Sha1Text(std::string_view bytes) {
  std::array<unsigned char, 20> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
       digest.data());
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::string text = "sha1:";
  for (size_t bit = 0; bit < 160; bit += 5) {
    unsigned pair = static_cast<unsigned>(digest[bit / 8]) << 8;
    if (bit / 8 + 1 < digest.size()) pair |= digest[bit / 8 + 1];
    text += kAlphabet[pair >> (11 - bit % 8) & 31];
  }
  return text;
}

}  // namespace nephila::store
