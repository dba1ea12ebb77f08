// Whatever text a scenario file holds: it is read, or refused in one line; what
// is read makes a site, or is refused in one line.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "sim/site.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::sim;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto scenario = ParseScenario(text, "fuzz.toml");
  if (!scenario) {
    const std::string& message = scenario.error().message;
    NEPHILA_CHECK(message.starts_with("fuzz.toml:"));
    NEPHILA_CHECK(message.find('\n') == std::string::npos);
    NEPHILA_CHECK(message.size() < 1000);
    return 0;
  }
  scenario->Find(Layer::kHttp, "www.example.com", "/a/b");
  const auto site = Site::Make(*std::move(scenario));
  if (!site)
    NEPHILA_CHECK(site.error().message.find('\n') == std::string::npos);
  return 0;
}
