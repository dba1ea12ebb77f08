// srcset, refresh and Link headers: whatever the text, what they give lies
// within it, and they come to an end.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "parse/link_header.h"
#include "parse/meta_refresh.h"
#include "parse/prescan.h"
#include "parse/srcset.h"

namespace nephila::parse {
namespace {

bool Within(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() &&
         part.data() + part.size() <= whole.data() + whole.size();
}

}  // namespace
}  // namespace nephila::parse

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::parse;  // NOLINT(google-build-using-namespace)
  std::string_view text(reinterpret_cast<const char*>(data), size);
  size_t steps = 0;
  SrcsetReader srcset(text);
  for (SrcsetCandidate candidate; srcset.Next(&candidate); ++steps) {
    NEPHILA_CHECK(!candidate.url.empty() && Within(candidate.url, text));
    NEPHILA_CHECK(candidate.url.back() != ',');
    NEPHILA_CHECK(candidate.density >= 0);
  }
  NEPHILA_CHECK(steps <= size);

  auto refresh = ParseRefresh(text);
  if (refresh) {
    NEPHILA_CHECK(refresh->delay_s <= kLongestRefresh);
    NEPHILA_CHECK(!refresh->url || Within(*refresh->url, text));
  }

  LinkHeaderReader header(text);
  HeaderLink link;
  for (steps = 0; header.Next(&link); ++steps) {
    NEPHILA_CHECK(Within(link.target, text));
    NEPHILA_CHECK(link.rel.size() <= size && link.anchor.size() <= size);
  }
  NEPHILA_CHECK(steps <= size);
  EncodingFromMetaContent(text);
  return 0;
}
