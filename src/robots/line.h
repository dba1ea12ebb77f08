// LineReader: robots.txt text as numbered lines with their directive.
//
// Lines end in LF, CR or CRLF, mixed as they come (RFC 9309 s2.2). A '#' and
// what follows is a comment, blanks around key and value do not count. A key is
// recognized whatever its case, and with the errors that real files have; but
// "allow" only where it is written so. What restricts us is read generously,
// what permits is read by the letter: a guess may cost pages, never politeness.
//   Threads: one per object. Cost: linear in the text; no allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "robots/deviation.h"

namespace nephila::robots {

enum class Directive : uint8_t {
  kUserAgent,
  kAllow,
  kDisallow,
  kCrawlDelay,
  kSitemap,
  kOther,  // known from elsewhere and not for us, or not known at all
};

struct Line {
  uint32_t number = 0;  // from 1
  Directive directive = Directive::kOther;
  std::string_view value;
  std::optional<Deviation> deviation;
};

class LineReader {
 public:
  explicit LineReader(std::string_view text) : rest_(text) {}

  // The next line that holds more than blanks and comment; false at the end.
  bool Next(Line* line);
  // How many lines were read, empty ones included.
  uint32_t lines() const { return number_; }

 private:
  std::string_view TakeLine();

  std::string_view rest_;
  uint32_t number_ = 0;
};

}  // namespace nephila::robots
