// For tests: the other direction, and zlib's opinion.
#pragma once

#include <string>
#include <string_view>

namespace nephila::coding {

std::string Gzip(std::string_view text);
std::string Zlib(std::string_view text);
std::string BareDeflate(std::string_view text);
// `window_bits`: what its decoder has to hold.
std::string Brotli(std::string_view text, int window_bits = 18);
std::string Zstd(std::string_view text);

// Whether zlib finds a whole first member in `packed`; *text is what it gave.
bool ZlibInflates(std::string_view packed, std::string* text);

}  // namespace nephila::coding
