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
  std::string_view via;
  std::string_view media_type;
  std::string_view begin;  // 17 digits, or "-"
  std::string_view millis;
  std::string_view digest;
  std::string_view notes;  // separated by commas, or "-"

  // Of the DNS, not of the web.
  bool is_name() const { return status == 1; }
  bool is_robots() const { return hop_path == "P"; }
};

// Without the end of the line. Nothing unless it has twelve columns of the
// form that they have.
std::optional<LogLine> ParseLogLine(std::string_view line);

// Whether one of the notes is this.
bool HasNote(const LogLine& line, std::string_view note);
// The attempt that it was, from 1.
uint32_t AttemptOf(const LogLine& line);

// A text as it stands in a column.
std::string LogColumn(std::string_view text);

}  // namespace nephila::store
