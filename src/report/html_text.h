// HtmlText: text as it stands in HTML and XML.
//   In: bytes from anywhere.   Out: UTF-8 in which nothing is markup and no
//   control or mark of direction is left.   Threads: any.
#pragma once

#include <string>
#include <string_view>

namespace nephila::report {

// For content and for attributes in double quotes.
std::string HtmlText(std::string_view text);
// The same of at most so many bytes; what is cut off is shown as dots.
std::string HtmlText(std::string_view text, size_t most_bytes);

}  // namespace nephila::report
