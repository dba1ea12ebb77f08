// DecideCharset: the encoding of a page, from all that speaks for one.
//
// HTML s13.2.3.2: a mark at the beginning, then the transport (Content-Type),
// then the page's own declaration, then a guess, then windows-1252.
//   In: the beginning of a page (kPrescanBytes suffice but for the guess), the
//   charset parameter of its Content-Type
//   Threads: any   Cost: see parse/prescan.h, parse/charset_guess.h
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "config/settings.h"
#include "parse/encoding.h"

namespace nephila::parse {

enum class CharsetSource : uint8_t {
  kMark,
  kHeader,
  kDeclared,
  kGuess,
  kDefault
};

std::string_view CharsetSourceName(CharsetSource source);

struct Charset {
  Encoding encoding = Encoding::kWindows1252;
  CharsetSource source = CharsetSource::kDefault;
  size_t mark_bytes = 0;  // to be skipped before decoding
};

// The byte order mark that the bytes begin with.
std::optional<Charset> CharsetOfMark(std::string_view bytes);

struct CharsetHints {
  std::string_view header;  // the charset parameter; empty: none
  bool guess = true;        // false: windows-1252 where nothing is declared
  bool xml = false;         // UTF-8 instead of the last two (XML 1.0 s4.3.3)
};

// As the settings have it; `header` must outlive the hints.
CharsetHints CharsetHintsOf(const config::ParseSettings& settings,
                            std::string_view header);

Charset DecideCharset(std::string_view bytes, const CharsetHints& hints);

}  // namespace nephila::parse
