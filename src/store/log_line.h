// LogLine: a line of crawl.log, read (docs/formats/crawl-log.md).
//   In: a line, hostile.   Out: its columns, or nothing.   Threads: any.
//   Cost: one look at each byte; views point into the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nephila::store {

struct LogLine {
  std::string_view made;  // 2026-01-02T03:04:06.000Z
  int status = 0;         // of HTTP, or Heritrix's code
  std::optional<uint64_t> bytes;
  std::string_view url;
  std::string_view hop_path;
  std::string_view begin;  // 17 digits, or "-"
  std::string_view millis;
  std::string_view digest;
};

// Without the end of the line. Nothing unless it has twelve columns of the
// form that they have.
std::optional<LogLine> ParseLogLine(std::string_view line);

// A text as it stands in a column.
std::string LogColumn(std::string_view text);

}  // namespace nephila::store
