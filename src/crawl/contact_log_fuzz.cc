// Any bytes are a log of contacts, or none; what is one can be read again.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory_file_system.h"
#include "crawl/contact_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nephila::crawl::ContactLog;
  nephila::MemoryFileSystem fs;
  const nephila::ManualClock clock;
  const ContactLog::Parts parts{fs, clock, "contacts", 1};
  if (!nephila::EnsureDir(fs, "contacts")) return 0;
  auto file = fs.Open("contacts/7", nephila::OpenMode::kCreateNew);
  if (!file || !(*file)->Write(0, std::as_bytes(std::span(data, size)))) {
    return 0;
  }
  const auto log = ContactLog::Open(parts, 7);
  const bool is_read = log.has_value() && (*log)->Read().has_value();
  if (is_read && !ContactLog::Check(fs, "contacts/7", 1)) __builtin_trap();
  return 0;
}
