// Whatever bytes come in as a request: fed whole or byte by byte the result is
// the same, and a request that is taken can be answered and logged.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "sim/answer.h"

namespace nephila::sim {
namespace {

constexpr std::string_view kScenario = R"(
[web]
hosts = 10
[[rule]]
host = "a*"
behaviour = "redirect-chain"
[[rule]]
host = "b*"
behaviour = "calendar"
[[rule]]
host = "c*"
behaviour = "session-ids"
[[rule]]
host = "d*"
behaviour = "reorder"
[[rule]]
behaviour = "link-farm"
name = "e"
)";

void CheckWord(std::string_view word) {
  for (char c : word) NEPHILA_CHECK(c > ' ' && c < '\x7f');
}

void CheckAnswer(const Request& request) {
  static const Site kSite = *Site::Make(*ParseScenario(kScenario, "fuzz"));
  static Answerer answerer(kSite);
  Exchange exchange;
  std::string out;
  answerer.Begin(request, MonoTime(), &exchange, &out);
  NEPHILA_CHECK(out.starts_with("HTTP/1.1 "));
  NEPHILA_CHECK(exchange.status >= 200);
}

}  // namespace
}  // namespace nephila::sim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::sim;  // NOLINT(google-build-using-namespace)
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  size_t searched = 0;
  Request whole;
  const auto taken = ParseRequest(bytes, &searched, &whole);
  if (!taken) return 0;
  searched = 0;
  Request part;
  for (size_t i = 0; i < *taken; ++i) {
    const auto early = ParseRequest(bytes.substr(0, i), &searched, &part);
    NEPHILA_CHECK(!early.has_value());
    NEPHILA_CHECK(early.error() == RequestError::kIncomplete);
  }
  const auto again = ParseRequest(bytes.substr(0, *taken), &searched, &part);
  NEPHILA_CHECK(again.has_value() && *again == *taken);
  NEPHILA_CHECK(part.host == whole.host && part.target == whole.target);
  CheckWord(whole.host);
  CheckWord(whole.target);
  NEPHILA_CHECK(whole.target.starts_with('/'));
  CheckAnswer(whole);
  return 0;
}
