// What real robots.txt files get wrong, by kind (VN s4.5: most files deviate
// from the protocol). Each is counted, and none keeps a file from being read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nephila::robots {

enum class Deviation : uint8_t {
  kMissingColon,      // "disallow /x"
  kMisspelled,        // "disalow: /x", "user agent: x"
  kUnknownDirective,  // a key that nobody defines
  kNoDirective,       // a line that is no "key: value" at all
  kRuleBeforeGroup,   // a rule or delay before any user-agent line
  kPathWithoutSlash,  // a rule whose path begins with neither '/' nor '*'
  kAgentName,         // a user-agent value that is not one product token
  kCrawlDelay,        // not a number of seconds
  kSitemap,           // not an absolute http(s) URL
  kNotUtf8,           // a line that is not UTF-8
  kControl,           // a line with NUL, another control, or what is invisible
  kUtf16,             // the file is UTF-16 by its mark
  kHtml,              // the file is an HTML page
  kTooLong,           // the file was cut at the size limit
};

// As they stand in counters and reports, by number.
inline constexpr std::array<std::string_view, 14> kDeviationNames = {
    "missing-colon", "misspelled",        "unknown-directive",
    "no-directive",  "rule-before-group", "path-without-slash",
    "agent-name",    "crawl-delay",       "sitemap",
    "not-utf8",      "control",           "utf-16",
    "html",          "too-long"};
inline constexpr size_t kDeviationCount = kDeviationNames.size();

using DeviationCounts = std::array<uint32_t, kDeviationCount>;

constexpr std::string_view DeviationName(Deviation kind) {
  return kDeviationNames[static_cast<size_t>(kind)];
}

}  // namespace nephila::robots
