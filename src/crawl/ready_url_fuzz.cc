// Any bytes as a URL of the ready queue, and as a parked one: they are refused,
// or what they say is read again from what is written of it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "crawl/ready_url.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nephila::crawl::AppendParkedUrl;
  using nephila::crawl::AppendReadyUrl;
  using nephila::crawl::ReadParkedUrl;
  using nephila::crawl::ReadReadyUrl;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto url = ReadReadyUrl(bytes); url.has_value()) {
    std::string again;
    AppendReadyUrl(*url, again);
    const auto read = ReadReadyUrl(again);
    NEPHILA_CHECK(read.has_value() && *read == *url);
  } else {
    NEPHILA_CHECK(!url.error().empty());
  }
  if (const auto url = ReadParkedUrl(bytes); url.has_value()) {
    std::string again;
    AppendParkedUrl(*url, again);
    const auto read = ReadParkedUrl(again);
    NEPHILA_CHECK(read.has_value() && *read == *url);
  }
  return 0;
}
