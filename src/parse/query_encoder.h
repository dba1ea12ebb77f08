// LegacyQueryEncoder: the queries of links on a page, in its encoding.
//
// The encoders of the Encoding Standard, with error mode "html": a character
// that the encoding lacks becomes a character reference, percent-encoded (URL
// standard s1.3). For UTF-8 (and UTF-16, whose output encoding is UTF-8) none
// is needed: pass null to url::Parse.
//   Threads: any; it does not change   Cost: one binary search a character;
//   the reverse of an index is made at first use (some ms, 200 kB)
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "parse/encoding.h"
#include "url/query_encoder.h"

namespace nephila::parse {

class LegacyQueryEncoder final : public url::QueryEncoder {
 public:
  explicit LegacyQueryEncoder(Encoding encoding);

  void Append(std::string_view utf8, std::string* out) const override;

 private:
  Encoding encoding_;
};

// The encoder for the links of a page; null where UTF-8 is right.
std::unique_ptr<url::QueryEncoder> MakeQueryEncoder(Encoding page_encoding);

}  // namespace nephila::parse
