// Whatever bytes come in: a line that can be read is written and read again to
// the same, and sorting and merging give the same lines.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/memory_file_system.h"
#include "store/cdxj.h"
#include "store/cdxj_merge.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::store;  // NOLINT(google-build-using-namespace)
  std::string_view text(reinterpret_cast<const char*>(data), size);
  nephila::MemoryFileSystem fs;
  CdxjSorter small(fs, "small", 64);
  CdxjSorter large(fs, "large");
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (auto parsed = ParseCdxj(line)) {
      std::string written = FormatCdxj(*parsed);
      auto again = ParseCdxj(written);
      NEPHILA_CHECK(again.has_value());
      NEPHILA_CHECK(FormatCdxj(*again) == written);
    }
    // Header lines and empty ones are no lines of an index.
    if (line.empty() || IsCdxjHeader(line) || line.ends_with('\r')) continue;
    NEPHILA_CHECK(small.Add(line).has_value());
    NEPHILA_CHECK(large.Add(line).has_value());
  }
  auto by_runs = small.Finish();
  auto in_memory = large.Finish();
  NEPHILA_CHECK(by_runs.has_value() && in_memory.has_value());
  NEPHILA_CHECK(*by_runs == *in_memory);
  auto one = nephila::ReadWholeFile(fs, "small", size + 1);
  auto other = nephila::ReadWholeFile(fs, "large", size + 1);
  NEPHILA_CHECK(one.has_value() && other.has_value() && *one == *other);
  return 0;
}
