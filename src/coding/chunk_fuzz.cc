// Whatever bytes come in as a chunked body: the payload and its end are the
// same in one piece and in small ones, and no byte is made up.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "coding/chunked_decoder.h"

namespace nephila::coding {
namespace {

struct Dechunked {
  bool operator==(const Dechunked&) const = default;
  std::string payload;
  ChunkedDecoder::Outcome outcome = ChunkedDecoder::Outcome::kCut;
  uint64_t extra_bytes = 0;
  bool done = false;
};

Dechunked Dechunk(ChunkedDecoder& decoder, std::string_view body, size_t step) {
  Dechunked dechunked;
  auto sink = [&](std::string_view piece) { dechunked.payload += piece; };
  decoder.Reset();
  for (size_t at = 0; at < body.size(); at += step) {
    decoder.Feed(body.substr(at, step), sink);
  }
  dechunked.done = decoder.done();
  dechunked.outcome = decoder.Finish(sink);
  dechunked.extra_bytes = decoder.extra_bytes();
  NEPHILA_CHECK(dechunked.payload.size() + dechunked.extra_bytes <=
                body.size());
  return dechunked;
}

}  // namespace
}  // namespace nephila::coding

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::coding;  // NOLINT(google-build-using-namespace)
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  ChunkedDecoder decoder;
  const Dechunked whole = Dechunk(decoder, body, size + 1);
  NEPHILA_CHECK(whole == Dechunk(decoder, body, 1));
  NEPHILA_CHECK(whole == Dechunk(decoder, body, 5));
  using Outcome = ChunkedDecoder::Outcome;
  if (whole.outcome == Outcome::kNotChunked) {
    NEPHILA_CHECK(whole.payload == body);
  }
  return 0;
}
