// The indexes of the Encoding Standard (s5), which its decoders and encoders
// look code points up in.
//
// Made at first use from ICU's converters, and mended where ICU's tables are of
// another vendor or year (charset_tables.cc lists each difference); the test
// pins a checksum of every index as the standard publishes it. ICU's converters
// themselves are not used on pages: what they make of broken sequences is not
// what browsers make of them (docs/adr/0012).
//   Threads: any   Cost: a few ms and up to 160 kB per index, once
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "parse/encoding.h"

namespace nephila::parse {

inline constexpr char32_t kReplacementCharacter = 0xfffd;

// Code points of the bytes 0x80 to 0xff; U+FFFD: none.
using SingleByteIndex = std::array<char16_t, 128>;

// Whether it is one of the standard's legacy single-byte encodings (s9).
bool IsSingleByte(Encoding encoding);

// REQUIRES: IsSingleByte(encoding).
const SingleByteIndex& SingleByteIndexOf(Encoding encoding);

// Code points by pointer; 0: none.
using PairIndex = std::vector<char32_t>;

const PairIndex& Jis0208Index();
const PairIndex& Jis0212Index();
const PairIndex& EucKrIndex();
const PairIndex& Big5Index();
const PairIndex& Gb18030Index();
// The code points of the Basic Multilingual Plane that GB 18030 writes in four
// bytes, by pointer (the standard's "index gb18030 ranges").
const PairIndex& Gb18030FourByteIndex();

}  // namespace nephila::parse
