// ARC 1.0 and 1.1, the format before WARC: a line of URL, address, date, media
// type and length in front of each block (version 1 of its headers), and the
// same as a WARC record, so that one reader serves both.
//
//   http://example.com/ 93.184.216.119 20140216050221 text/html 1591\n
//
// The first record is "filedesc://name ..." and becomes a warcinfo.
//   Threads: any.   Cost: linear in the line.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "store/warc_record.h"

namespace nephila::store {

// What an ARC file begins with.
inline constexpr std::string_view kArcStart = "filedesc:";

// The length of the header at the front of `text`, with its line's end.
Result<size_t, HeaderError> FindArcHeader(std::string_view text,
                                          size_t max_bytes);
// Reads a header of that length.
Result<size_t, HeaderError> ParseArcHeader(std::string_view line,
                                           WarcHeader* out);

}  // namespace nephila::store
