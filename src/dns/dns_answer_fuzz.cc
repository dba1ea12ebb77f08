// Whatever bytes come as an answer: no byte outside is read, what is found is
// within the bounds, and what is said of it agrees with itself. The first byte
// chooses the type, then comes the name up to a zero, then the message; its
// question is mended to be ours, since few would be by chance.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "dns/answer_parser.h"
#include "dns/message.h"

namespace nephila::dns {
namespace {

void Check(const ParsedAnswer& answer, const AnswerLimits& limits) {
  NEPHILA_CHECK((answer.kind == AnswerKind::kFound) ==
                !answer.addresses.empty());
  NEPHILA_CHECK((answer.kind == AnswerKind::kBad) == !answer.why.empty());
  NEPHILA_CHECK(answer.addresses.size() <= limits.max_addresses);
  NEPHILA_CHECK(answer.ttl_s.value_or(0) <= 0x7fffffff);
  const auto lines =
      std::count(answer.records.begin(), answer.records.end(), '\n');
  NEPHILA_CHECK(static_cast<size_t>(lines) <=
                limits.max_addresses + limits.max_chain + 1);
  for (const char c : answer.records) {
    NEPHILA_CHECK((c > ' ' && c <= '~') || c == '\t' || c == '\n');
  }
}

}  // namespace
}  // namespace nephila::dns

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::dns;  // NOLINT(google-build-using-namespace)
  std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  const uint16_t type = (input[0] & 1) != 0 ? kTypeA : kTypeAaaa;
  input.remove_prefix(1);
  const size_t end = std::min(input.find('\0'), input.size());
  const auto name = NormalName(input.substr(0, end));
  if (!name) return 0;
  input.remove_prefix(std::min(end + 1, input.size()));
  const AnswerLimits limits;
  Check(ParseAnswer(input, *name, type, limits), limits);
  if (input.size() < kHeadBytes) return 0;
  std::string mended = MakeQuestion(*name, type, 0, false);
  std::string_view head = input.substr(0, kHeadBytes);
  mended.replace(0, 4, head.substr(0, 4));
  mended.replace(6, 6, head.substr(6, 6));
  mended.append(input.substr(kHeadBytes));
  Check(ParseAnswer(mended, *name, type, limits), limits);
  return 0;
}
