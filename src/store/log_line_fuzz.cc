// Whatever bytes come in: a line that is read has columns within it, and what
// a column holds is one again.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "store/log_line.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::store;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto line = ParseLogLine(text)) {
    for (const std::string_view column :
         {line->made, line->url, line->hop_path, line->digest}) {
      NEPHILA_CHECK(!column.empty());
      NEPHILA_CHECK(LogColumn(column) == column);
      NEPHILA_CHECK(text.find(column) != std::string_view::npos);
    }
  }
  return 0;
}
