// LogCheck: whether a crawl.log and the units of its stream tell the same: both
// have one order, so they are walked side by side.
//
// A unit without a line, and a line without a unit, are what a crash can leave
// (docs/formats/crawl-log.md), and are counted; the next match is looked for
// within kLookAhead lines. A line and a unit that are both left, and have URL
// or time in common, are one that differs: damage.
//   In: units in order.   Out: damages; counts.   Threads: one.
//   Memory: kLookAhead lines, and 8 bytes for each failed attempt since
//   `failures_since`.   Cost: one pass over the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_set>

#include "base/file.h"
#include "base/result.h"
#include "check/findings.h"
#include "store/archive_units.h"
#include "store/line_file.h"

namespace nephila::check {

struct LogCounts {
  uint64_t lines = 0;
  uint64_t failures = 0;      // of them, attempts without a record
  uint64_t without_line = 0;  // units
  uint64_t without_unit = 0;  // lines
  uint64_t damages = 0;
};

class LogCheck {
 public:
  static constexpr size_t kLookAhead = 256;

  // Lines are looked at up to `end`, where a checkpoint has seen the file end,
  // with all strictness; behind it a last line that is cut short is a note.
  // `failures_since`: as a line has it, "2026-01-02T03:04:06.000Z".
  LogCheck(FileSystem& fs, std::string path, uint64_t end,
           std::string failures_since, Findings* findings);
  ~LogCheck();

  // The next unit that has a line: a fetch, or an answer of the DNS.
  void Match(const store::Unit& unit, const std::string& archive);
  // Behind the last.
  void Finish();

  const LogCounts& counts() const { return counts_; }
  // HashOf the URLs of failed attempts.
  const std::unordered_multiset<uint64_t>& failures() const {
    return failures_;
  }

 private:
  // A line about a record.
  struct Line {
    uint64_t offset = 0;
    int status = 0;
    std::optional<uint64_t> bytes;
    std::string url;
    std::string hop_path;
    std::string begin;
    std::string millis;
    std::string digest;
  };

  void Open();
  // Has at least `count` lines in ahead_, if there are.
  void Fill(size_t count);
  void TakeLine(const std::string& text, uint64_t offset);
  void Damaged(uint64_t offset, std::string what);
  // A line that no unit came for.
  void PassOver(const Line& line);
  void Compare(const Line& line, const store::Unit& unit,
               const std::string& archive);

  FileSystem& fs_;
  const std::string path_;
  const uint64_t end_;
  const std::string failures_since_;
  Findings& findings_;
  std::unique_ptr<File> file_;
  std::unique_ptr<store::LineReader> reader_;
  uint64_t size_ = 0;
  uint64_t offset_ = 0;  // of the next line
  std::deque<Line> ahead_;
  // Units that no line was found for, the last kLookAhead of them.
  struct Left {
    std::string url;
    std::string begin;
    std::string place;  // for messages
  };
  std::deque<Left> left_;
  LogCounts counts_;
  std::unordered_multiset<uint64_t> failures_;
};

}  // namespace nephila::check
