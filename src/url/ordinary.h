// The ordinary link: found by one scan, copied as it is.
//
// Most links are "http" or "https", a plain lower-case host name, and a path
// without anything to be encoded or resolved. For those parsing is finding the
// parts; the general parser (url/parser.cc) gives the same result, slower.
//   Cost: one table lookup a byte, and a few memchr.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nephila::url {

// Offsets into the text. A part that is missing begins where the next does.
struct OrdinaryUrl {
  bool secure;        // https
  uint32_t host;      // behind "//"
  uint32_t path;      // its slash; the end of a text that ends with the host
  uint32_t query;     // the '?'
  uint32_t fragment;  // the '#'
};

// Nothing if the text is of another kind. REQUIRES: at most kLongestInput.
std::optional<OrdinaryUrl> SplitOrdinary(std::string_view text);

// Whether a segment of the path begins with this character. `path` begins
// behind its first slash.
bool HasSegmentWith(char first, std::string_view path);

}  // namespace nephila::url
