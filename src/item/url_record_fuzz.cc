// Any bytes as a record: they are refused, or what is read is in bounds and
// becomes the same bytes again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "item/url_record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string parent;
  const auto record = nephila::item::ReadUrlRecord(bytes, parent);
  NEPHILA_CHECK(record.has_value() ==
                nephila::item::ReadUrl(bytes).has_value());
  if (!record.has_value()) return 0;
  NEPHILA_CHECK(record->host().ends_with(record->pld()));
  std::string again;
  nephila::item::AppendUrlRecord(*record, again);
  NEPHILA_CHECK(again == bytes);
  return 0;
}
