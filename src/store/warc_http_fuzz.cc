// Whatever bytes come in, as the block of a record: head and payload are the
// same in one piece and in small ones.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/http_message.h"
#include "store/surt.h"

namespace nephila::store {
namespace {

struct Taken {
  bool operator==(const Taken&) const = default;
  std::string payload;
  std::string raw;
  size_t head_bytes = 0;
  int status = 0;
  ChunkedDecoder::Outcome transfer = ChunkedDecoder::Outcome::kWhole;
};

Taken TakeApart(std::string_view block, HttpKind kind, size_t step) {
  Taken taken;
  HttpBlock http(kind);
  http.set_raw_sink([&](std::string_view piece) { taken.raw += piece; });
  auto sink = [&](std::string_view piece) { taken.payload += piece; };
  for (size_t at = 0; at < block.size(); at += step) {
    http.Feed(block.substr(at, step), sink);
  }
  http.Finish(sink);
  if (http.has_head()) {
    taken.head_bytes = http.head().bytes;
    taken.status = http.head().status;
  }
  taken.transfer = http.transfer();
  NEPHILA_CHECK(taken.head_bytes + taken.raw.size() == block.size());
  NEPHILA_CHECK(taken.payload.size() <= taken.raw.size());
  return taken;
}

}  // namespace
}  // namespace nephila::store

// The first byte chooses the kind.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::store;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  std::string_view block(reinterpret_cast<const char*>(data) + 1, size - 1);
  HttpKind kind = (data[0] & 1) != 0 ? HttpKind::kRequest : HttpKind::kResponse;
  Taken whole = TakeApart(block, kind, block.size() + 1);
  NEPHILA_CHECK(whole == TakeApart(block, kind, 1));
  NEPHILA_CHECK(whole == TakeApart(block, kind, 5));
  std::string key = SurtKey(block);
  NEPHILA_CHECK(!key.empty());
  NEPHILA_CHECK(std::none_of(key.begin(), key.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ';
  }));
  return 0;
}
