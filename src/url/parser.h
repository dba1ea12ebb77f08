// The URL parser of the WHATWG standard, for every scheme.
//
// It reads a URL part by part instead of character by character through the
// standard's states, with the same results: testdata/whatwg-url holds the
// standard's own suite. A byte that is not valid UTF-8 counts as U+FFFD.
//   Cost: linear in the input. No allocation for plain ASCII input without
//   tabs and newlines, once the Url's buffer has grown.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "url/query_encoder.h"
#include "url/url.h"

namespace nephila::url {

// Why a text is not a URL. The standard knows only "failure"; these say which.
enum class ParseError : uint8_t {
  kRelativeWithoutBase,  // no scheme, and nothing to resolve it on
  kEmptyHost,            // "http:///", "http://user@/"
  kInvalidHost,          // forbidden characters, bad IP address, IDNA
  kInvalidPort,          // not a number up to 65535
  kTooLong,              // over kLongestInput, or on such a base
};

// A one-word name for reports: "invalid-host".
std::string_view ParseErrorName(ParseError error);

// Offsets are 32 bits, and a byte of the input can become nine ("%EF%BF%BD").
inline constexpr size_t kLongestInput = size_t{16} << 20;
inline constexpr size_t kLongestBase = size_t{1} << 31;

// The text without the controls and spaces around it that no URL begins or
// ends with.
std::string_view TrimUrl(std::string_view text);

// Parses `input`, resolved against *base if base is not null, into *out,
// whose buffer is reused; after an error *out holds nothing of use. The query
// of an http(s), ftp or file URL is written by *encoder; null: in UTF-8.
// REQUIRES: base != out.
Result<void, ParseError> Parse(std::string_view input, const Url* base,
                               Url* out, const QueryEncoder* encoder = nullptr);

}  // namespace nephila::url
