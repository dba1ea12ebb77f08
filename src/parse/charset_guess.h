// GuessEncoding: the encoding of bytes that nobody named.
//
// In this order: UTF-16 by its zero bytes, UTF-8 by its form (text of another
// encoding has it by accident almost never), ISO-2022-JP by its escapes, and
// the legacy encodings by their frequent letters (ICU's detector; docs/adr/0012
// has how often it is right on real pages).
//   In: a page, or its beginning   Out: an encoding, or nothing to go by
//   Threads: any   Cost: linear in at most kGuessBytes; about a millisecond
//   where it comes to statistics
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "parse/encoding.h"

namespace nephila::parse {

// From the first byte on that is not ASCII; what lies behind is not looked at.
inline constexpr size_t kGuessBytes = size_t{64} << 10;

std::optional<Encoding> GuessEncoding(std::string_view bytes);

// The parts, for those who need only one. UTF-16 without a mark: most text has
// ASCII in it, whose other byte is zero.
std::optional<Encoding> GuessUtf16(std::string_view bytes);

// Whether non-ASCII bytes make up UTF-8, a few accidents apart. The end may be
// cut off.
bool LooksLikeUtf8(std::string_view bytes);

}  // namespace nephila::parse
