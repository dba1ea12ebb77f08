// Internationalised host names: Unicode to the ASCII form that DNS knows.
//
// UTS 46 as the URL standard calls it (non-transitional, CheckBidi and
// CheckJoiners on, CheckHyphens, STD3 rules and DNS lengths off), by ICU.
// ICU rather than libidn2: docs/adr/0003-icu-for-idna.md.
//   Cost: about a microsecond a name; only names with non-ASCII bytes come
//   here.
#pragma once

#include <string>
#include <string_view>

namespace nephila::url {

// Appends the ASCII form of `domain` (UTF-8; a broken sequence counts as
// U+FFFD, which is refused) to *out. False, and *out unchanged, if UTS 46
// refuses it. An all-ASCII domain is only lower-cased, as the standard says.
bool AppendDomainToAscii(std::string_view domain, std::string* out);

}  // namespace nephila::url
