// Whatever bytes come in as a head: it is read within its bounds, the same in
// one piece and byte by byte, and every view points into what it holds.

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "fetch/http_date.h"
#include "fetch/response_head.h"

namespace nephila::fetch {
namespace {

void Compare(const ResponseHead& a, const ResponseHead& b) {
  NEPHILA_CHECK(a.state() == b.state());
  if (a.state() != HeadState::kComplete) return;
  NEPHILA_CHECK(a.text() == b.text() && a.status() == b.status());
  NEPHILA_CHECK(a.version() == b.version() && a.reason() == b.reason());
  NEPHILA_CHECK(a.malformed_lines() == b.malformed_lines());
  NEPHILA_CHECK(a.earlier_heads() == b.earlier_heads());
  NEPHILA_CHECK(a.fields().size() == b.fields().size());
  for (size_t i = 0; i < a.fields().size(); ++i) {
    NEPHILA_CHECK(a.fields()[i] == b.fields()[i]);
  }
}

void Use(const ResponseHead& head) {
  constexpr WallTime kNow{std::chrono::seconds(1'767'225'600)};
  constexpr std::chrono::hours kMost(24);
  const auto wait = head.RetryAfter(kNow, kMost);
  NEPHILA_CHECK(!wait || (wait->count() >= 0 && *wait <= kMost));
  head.content_length();
  head.chunked();
  for (const HeadField& field : head.fields()) {
    NEPHILA_CHECK(head.Has(field.name));
    NEPHILA_CHECK(head.Combined(field.name).size() >= field.value.size());
    ParseHttpDate(field.value, kNow);
    ParseCookieDate(field.value);
  }
}

}  // namespace
}  // namespace nephila::fetch

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::fetch;  // NOLINT(google-build-using-namespace)
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  HeadLimits limits;
  limits.max_bytes = 4'000;
  limits.max_fields = 50;
  ResponseHead whole(limits);
  std::string_view rest = bytes;
  whole.Add(&rest);
  ResponseHead slow(limits);
  for (size_t i = 0; i < size && slow.state() == HeadState::kMore; ++i) {
    std::string_view one = bytes.substr(i, 1);
    slow.Add(&one);
  }
  whole.Finish();
  slow.Finish();
  Compare(whole, slow);
  NEPHILA_CHECK(whole.text().size() <= limits.max_bytes);
  NEPHILA_CHECK(whole.fields().size() <= limits.max_fields);
  if (whole.state() == HeadState::kComplete) Use(whole);
  return 0;
}
