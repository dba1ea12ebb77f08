// QueryEncoder: a query in the encoding of the page that it stands on.
//
// Browsers send the non-ASCII characters of a query in the page's encoding (URL
// standard s4.4, "query state"), so a link on a legacy page leads nowhere if
// they are sent as UTF-8. This is the seam: the parser knows no encoding, the
// stage that decoded the page does (parse/query_encoder.h).
#pragma once

#include <string>
#include <string_view>

namespace nephila::url {

class QueryEncoder {
 public:
  QueryEncoder() = default;
  QueryEncoder(const QueryEncoder&) = delete;
  QueryEncoder& operator=(const QueryEncoder&) = delete;
  virtual ~QueryEncoder() = default;

  // Appends the text (UTF-8, maybe broken) as bytes of the encoding. What it
  // lacks becomes "%26%23N%3B", N the number of the code point (s1.3,
  // "percent-encode after encoding"). The caller percent-encodes the bytes.
  virtual void Append(std::string_view utf8, std::string* out) const = 0;
};

}  // namespace nephila::url
