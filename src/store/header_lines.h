// Lines of a header, as WARC records and HTTP messages have them: each ends
// with LF, with or without CR before it, a line that begins with a space or a
// tab continues the one before it, and an empty line is the end.
//   Threads: any.   Cost: linear in the text.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace nephila::store {

// Where the header ends: behind its empty line. npos if that is not in `text`
// yet. `from` is the size that an earlier call saw, so that a text which grows
// is looked at once.
size_t FindHeaderEnd(std::string_view text, size_t from);

// The text without spaces, tabs and CRs around it.
std::string_view TrimSpace(std::string_view text);

// All fields of `lines` (what stands behind the first line, the empty line
// included or not) in their order; a value that goes over several lines is
// joined by spaces. Returns how many lines were no field: without a colon, or
// with a name that is no token. They are left out.
size_t ForEachField(
    std::string_view lines,
    const std::function<void(std::string_view name, std::string value)>& take);

}  // namespace nephila::store
