// The decoder of a run's blocks takes any bytes; what it decodes are ascending
// keys with values inside of the payload, which a builder turns into blocks
// that decode to the same records.
//
// The first byte of the input chooses the value format, the rest is a payload.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "drum/run_block.h"
#include "drum/run_index.h"

namespace nephila::drum {
namespace {

ValueFormat FormatOf(uint8_t choice) {
  const auto kind = static_cast<ValueKind>(choice % 3);
  return {kind, kind == ValueKind::kFixed ? choice / 3U : 0U};
}

void CheckSameRecords(const RunBlock& block, ValueFormat format) {
  RunBlockBuilder builder(format);
  size_t checked = 0;
  std::string payload;
  RunBlock again;
  const auto check_blocks = [&](bool all) {
    while (builder.Cut(all, payload).has_value()) {
      NEPHILA_CHECK(DecodeRunBlock(payload, format, again).has_value());
      for (size_t i = 0; i < again.keys.size(); ++i, ++checked) {
        NEPHILA_CHECK(again.keys[i] == block.keys[checked]);
        NEPHILA_CHECK(again.value(i) == block.value(checked));
        NEPHILA_CHECK(again.is_tombstone(i) == block.is_tombstone(checked));
      }
    }
  };
  for (size_t i = 0; i < block.keys.size(); ++i) {
    // The builder itself ends the process if keys do not ascend.
    if (block.is_tombstone(i)) {
      NEPHILA_CHECK(block.value(i).empty());
      builder.AddTombstone(block.keys[i]);
    } else {
      builder.Add(block.keys[i], block.value(i));
    }
    if (builder.full()) check_blocks(false);
  }
  check_blocks(true);
  NEPHILA_CHECK(checked == block.keys.size());
}

void CheckBytes(uint8_t choice, std::string_view bytes) {
  // Memory of its own, for the sanitizer to see a read past its end.
  const std::vector<char> payload(bytes.begin(), bytes.end());
  const std::string_view view(payload.data(), payload.size());
  const ValueFormat format = FormatOf(choice);
  RunBlock block;
  if (DecodeRunBlock(view, format, block).has_value()) {
    CheckSameRecords(block, format);
  }
  const auto index = ParseRunIndex(view, uint64_t{1} << 20);
  if (index.has_value()) NEPHILA_CHECK(FormatRunIndex(*index) == view);
}

}  // namespace
}  // namespace nephila::drum

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  nephila::drum::CheckBytes(
      data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
