// Whatever bytes come in as a robots.txt and a path: the compiled rules open,
// and both ways of matching give the answer of the reference.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "robots/matcher.h"
#include "robots/reference_testing.h"

// The last line is a path, what stands before it a file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::robots;  // NOLINT(google-build-using-namespace)
  std::string_view text(reinterpret_cast<const char*>(data), size);
  size_t line = text.rfind('\n');
  std::string_view path =
      line == std::string_view::npos ? "/" : text.substr(line + 1);
  text = text.substr(0, line);
  RobotsLimits limits;
  limits.max_bytes = 3000;
  limits.max_sitemaps = 3;
  limits.max_findings = 5;
  RobotsFile file = Parse(text, "nephila", limits);
  NEPHILA_CHECK(file.sitemaps.size() <= 3);
  NEPHILA_CHECK(file.findings.size() <= 5);
  std::string bytes = CompileRules(file);
  auto rules = Rules::Open(bytes);
  NEPHILA_CHECK(rules.has_value());
  NEPHILA_CHECK(rules->crawl_delay() == file.crawl_delay);
  Matcher single(*rules, WildWay::kEach);
  Matcher scanning(*rules, WildWay::kScan);
  // Twice: nothing of the first path may be left.
  for (int i = 0; i < 2; ++i) {
    Answer answer = single.Match(path);
    NEPHILA_CHECK(AnswerIsRight(file, path, answer));
    NEPHILA_CHECK(AnswerIsRight(file, path, scanning.Match(path)));
    if (answer.rule != Rules::kNone) rules->RuleText(answer.rule);
  }
  return 0;
}
