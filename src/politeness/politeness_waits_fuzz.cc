// Any bytes as the waits of a manifest: refused, or the same again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "politeness/saved_waits.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto waits = nephila::politeness::ParseWaits(bytes);
  if (!waits.has_value()) return 0;
  // What is of an earlier version is written as one of this.
  const std::string again = nephila::politeness::FormatWaits(*waits);
  NEPHILA_CHECK(nephila::politeness::ParseWaits(again) == waits);
  return 0;
}
