// Whatever bytes come in as the log of a server: they are read or refused, and
// counts agree with what is described.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sim/politeness_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::sim;  // NOLINT(google-build-using-namespace)
  std::string_view text(reinterpret_cast<const char*>(data), size);
  PolitenessRules rules;
  rules.host_delay = std::chrono::seconds(1);
  rules.server_delay = std::chrono::milliseconds(100);
  rules.server_in_flight = 2;
  rules.asked_for = [](std::string_view host, std::string_view path,
                       int status) {
    AskedFor asked;
    if (status >= 500) asked.retry_after = std::chrono::seconds(host.size());
    if (path == "/robots.txt") asked.crawl_delay = std::chrono::seconds(2);
    return asked;
  };
  PolitenessCheck check(rules);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (!check.Line(text.substr(0, end))) return 0;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!check.Finish()) return 0;
  const PolitenessReport report = check.Report();
  NEPHILA_CHECK(report.first.size() <= report.violations);
  return 0;
}
