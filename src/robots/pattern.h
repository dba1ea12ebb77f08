// The one spelling in which rules and paths are compared (RFC 9309 s2.2.2 and
// s2.2.3).
//
// Escapes of unreserved characters are decoded, all other escapes are written
// in upper case, and what a URI cannot hold (blanks, controls, bytes beyond
// ASCII, '<' and the like) is escaped, since the URL parser has escaped it in
// the path. '*' and '$' of a path are escaped too, so that in a rule "%2A"
// means the character and '*' the wildcard.
//   Threads: any. Cost: linear; at most three bytes from one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nephila::robots {

// A rule's path as it is matched: the text without the '*'s and the '$' at its
// end, which only say how it ends.
struct Pattern {
  uint32_t size = 0;      // of the text
  uint32_t priority = 0;  // octets with all of them: the longest rule wins
  bool dollar = false;    // a '$' stood at the end

  // Whether the path must end where the text does: "/x$", but not "/x*$".
  bool anchored() const { return dollar && priority == size + 1; }
};

// Appends the text of a rule's path to *out.
Pattern AppendPattern(std::string_view path, std::string* out);

// The path, with its query, in the form to be matched: itself if it is so
// already, else written into *buffer.
std::string_view NormalizePath(std::string_view path, std::string* buffer);

}  // namespace nephila::robots
