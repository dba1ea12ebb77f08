// Whatever a server sets: the jar keeps its bounds, and what it sends is a line
// that holds no other.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "fetch/cookie_jar.h"

namespace nephila::fetch {
namespace {

const url::PublicSuffixList& Suffixes() {
  static const auto* const kList =
      new url::PublicSuffixList(url::PublicSuffixList::BuiltIn());
  return *kList;
}

constexpr std::string_view kHosts[] = {"example.com", "www.example.com",
                                       "a.github.io", "192.0.2.1"};

CookieScope ScopeOf(uint8_t choice) {
  CookieScope scope;
  scope.host = kHosts[choice % 4];
  scope.is_domain = choice % 4 != 3;
  scope.https = (choice & 4) != 0;
  scope.path = (choice & 8) != 0 ? "/shop/list" : "/";
  return scope;
}

void CheckHeader(const std::string& header) {
  NEPHILA_CHECK(header.size() <= CookieJar::kLongestHeader);
  NEPHILA_CHECK(std::none_of(header.begin(), header.end(), [](char c) {
    return c == '\r' || c == '\n' || c == '\0';
  }));
}

}  // namespace
}  // namespace nephila::fetch

// Lines are cookies; the first byte of each chooses who sets it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::fetch;  // NOLINT(google-build-using-namespace)
  std::string_view lines(reinterpret_cast<const char*>(data), size);
  nephila::config::FetchSettings settings;
  settings.cookies_per_host = 5;
  settings.cookie_memory_bytes = 2 << 20;
  nephila::ManualClock clock;
  CookieJar jar(settings, Suffixes(), clock);
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.empty()) continue;
    const auto choice = static_cast<uint8_t>(line[0]);
    const CookieScope scope = ScopeOf(choice);
    const bool stored =
        jar.Store(scope, line.substr(1)) == CookieVerdict::kStored;
    const std::string header = jar.HeaderFor(scope);
    CheckHeader(header);
    if (stored && jar.cookies() == 0) NEPHILA_CHECK(false);
    if ((choice & 16) != 0) clock.Advance(std::chrono::hours(1));
    NEPHILA_CHECK(jar.memory_bytes() <= settings.cookie_memory_bytes);
    NEPHILA_CHECK(jar.cookies() <= 5 * CookieJar::kSiteHosts * 4);
  }
  return 0;
}
