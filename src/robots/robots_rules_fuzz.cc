// Whatever bytes are opened as compiled rules: an error, or rules that are
// matched without leaving them. The checksum is set right first, or nothing but
// its check would ever be tried.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/checksum.h"
#include "robots/matcher.h"
#include "robots/rules_format.h"

// The first byte is the length of a path, which follows; the rest are rules.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila;          // NOLINT(google-build-using-namespace)
  using namespace nephila::robots;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string_view path = input.substr(0, data[0]);
  std::string bytes(input.substr(path.size()));
  if (bytes.size() >= kRulesHeaderBytes) {
    std::string_view view = bytes;
    uint32_t checksum = Crc32c(view.substr(0, kRulesChecksumAt));
    checksum = ExtendCrc32c(checksum, view.substr(kRulesChecksumAt + 4));
    for (size_t i = 0; i < 4; ++i) {
      bytes[kRulesChecksumAt + i] = static_cast<char>(checksum >> (8 * i));
    }
  }
  // In a piece of memory of its own, whose end the sanitizer watches.
  std::string exact(bytes);
  exact.shrink_to_fit();
  auto rules = Rules::Open(exact);
  if (!rules) return 0;
  for (WildWay way : {WildWay::kEach, WildWay::kScan}) {
    Answer answer = Matcher(*rules, way).Match(path);
    if (answer.rule != Rules::kNone) rules->RuleText(answer.rule);
  }
  return 0;
}
