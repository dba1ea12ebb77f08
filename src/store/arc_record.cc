#include "store/arc_record.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"
#include "store/header_lines.h"

namespace nephila::store {
namespace {

// "2014-02-16T05:02:21Z" of "20140216050221"; what is no date is kept.
std::string WarcDateOf(std::string_view digits) {
  if (digits.size() < 14 ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::string(digits);
  }
  std::string date(digits.substr(0, 4));
  date.append("-").append(digits.substr(4, 2));
  date.append("-").append(digits.substr(6, 2));
  date.append("T").append(digits.substr(8, 2));
  date.append(":").append(digits.substr(10, 2));
  date.append(":").append(digits.substr(12, 2)).append("Z");
  return date;
}

}  // namespace

Result<size_t, HeaderError> FindArcHeader(std::string_view text,
                                          size_t max_bytes) {
  size_t end = text.find('\n');
  if (end != std::string_view::npos && end < max_bytes) return end + 1;
  return Unexpected(text.size() >= max_bytes ? HeaderError::kTooLong
                                             : HeaderError::kIncomplete);
}

Result<size_t, HeaderError> ParseArcHeader(std::string_view line,
                                           WarcHeader* out) {
  size_t length = line.size();
  line = TakeLine(&line);
  // From the end: URLs with spaces in them were written as they are.
  std::array<std::string_view, 4> behind;  // address, date, type, length
  for (size_t i = behind.size(); i-- > 0;) {
    size_t space = line.rfind(' ');
    if (space == std::string_view::npos || space == 0) {
      return Unexpected(HeaderError::kNotArc);
    }
    behind[i] = line.substr(space + 1);
    line = line.substr(0, space);
  }
  bool description = line.starts_with(kArcStart);
  bool http = line.starts_with("http:") || line.starts_with("https:");
  out->Reset("ARC/1");
  out->Add("WARC-Type", description ? "warcinfo"
                        : http      ? "response"
                                    : "resource");
  out->Add("WARC-Target-URI", line);
  out->Add("WARC-Date", WarcDateOf(behind[1]));
  out->Add("WARC-IP-Address", behind[0]);
  out->Add("Content-Type",
           http ? "application/http; msgtype=response" : behind[2]);
  out->Add("Content-Length", behind[3]);
  return length;
}

}  // namespace nephila::store
