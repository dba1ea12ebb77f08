// Any bytes as an entry: they are refused, or they are the entry's one
// spelling.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "job/entry.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto entry = nephila::job::ReadEntry(bytes);
  if (!entry.has_value()) {
    NEPHILA_CHECK(!entry.error().empty());
    return 0;
  }
  std::string again;
  nephila::job::AppendEntry(*entry, again);
  NEPHILA_CHECK(again == bytes);
  return 0;
}
