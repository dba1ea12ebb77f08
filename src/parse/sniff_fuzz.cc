// Whatever a response says it is and is: its type is decided, and a type that
// was read is written so that it reads the same.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "parse/magic.h"
#include "parse/mime_type.h"
#include "parse/sniff.h"

// The first byte has the hints, the first two lines are headers, the rest the
// body.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::parse;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::array<std::string_view, 2> headers;
  for (std::string_view& header : headers) {
    size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;
    header = rest.substr(0, end);
    rest.remove_prefix(end + 1);
  }
  auto mime = ExtractMimeType(headers);
  if (mime) {
    auto again = ParseMimeType(mime->Serialize());
    NEPHILA_CHECK(again.has_value());
    NEPHILA_CHECK(again->Serialize() == mime->Serialize());
    NEPHILA_CHECK(again->parameters == mime->parameters);
  }
  SniffHints hints;
  hints.nosniff = (data[0] & 1) != 0 || IsNosniff(headers[1]);
  hints.lenient = (data[0] & 2) != 0;
  Sniffed sniffed = Sniff(mime, rest, hints);
  NEPHILA_CHECK(ParseMimeType(sniffed.essence).has_value());
  NEPHILA_CHECK(!sniffed.declared || mime->Is(sniffed.essence));
  NEPHILA_CHECK(!ContentKindName(sniffed.kind).empty());
  IdentifyMagic(rest);
  RootElement(rest);
  return 0;
}
