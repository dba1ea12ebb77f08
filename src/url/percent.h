// Percent-encoding and UTF-8, as the WHATWG URL standard defines them.
//
// Input bytes are UTF-8 from the web, so they may be anything: a broken
// sequence is read as U+FFFD, one per maximal subpart, as browsers do. All
// functions are linear in the input and write to a string that the caller
// owns and reuses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nephila::url {

// The percent-encode sets of the standard, as bits of kEncodeTable.
enum EncodeSet : uint8_t {
  kC0Control = 1 << 0,
  kFragment = 1 << 1,
  kQuery = 1 << 2,
  kSpecialQuery = 1 << 3,
  kPath = 1 << 4,
  kUserinfo = 1 << 5,
};

namespace internal {
constexpr std::array<uint8_t, 256> MakeEncodeTable() {
  std::array<uint8_t, 256> table{};
  auto add = [&table](std::string_view chars, unsigned sets) {
    for (char c : chars) {
      auto& entry = table[static_cast<unsigned char>(c)];
      entry = static_cast<uint8_t>(entry | sets);
    }
  };
  for (size_t c = 0; c < 256; ++c) {
    if (c <= 0x1f || c > 0x7e) table[c] = 0xff;
  }
  add(" \"<>", kFragment | kQuery | kSpecialQuery | kPath | kUserinfo);
  add("`", kFragment | kPath | kUserinfo);
  add("#", kQuery | kSpecialQuery | kPath | kUserinfo);
  add("'", kSpecialQuery);
  add("?^{}", kPath | kUserinfo);
  add("/:;=@[\\]|", kUserinfo);
  return table;
}
}  // namespace internal

inline constexpr std::array<uint8_t, 256> kEncodeTable =
    internal::MakeEncodeTable();

constexpr bool InSet(char c, EncodeSet set) {
  return (kEncodeTable[static_cast<unsigned char>(c)] & set) != 0;
}

// What the bytes of a text mean, as bits, by their value.
using ByteTable = std::array<uint8_t, 256>;

// The meanings of all bytes of a text, ORed: one scan without a branch answers
// whether there is anything in it that needs a closer look.
inline unsigned ScanBytes(std::string_view text, const ByteTable& table) {
  unsigned seen = 0;
#pragma GCC unroll 8
  for (char c : text) seen |= table[static_cast<unsigned char>(c)];
  return seen;
}

// The value of a hexadecimal digit, or -1.
constexpr int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Whether text[i] begins a valid escape such as "%2F".
constexpr bool IsEscape(std::string_view text, size_t i) {
  return i + 2 < text.size() && text[i] == '%' && HexValue(text[i + 1]) >= 0 &&
         HexValue(text[i + 2]) >= 0;
}

// The byte that the escape at text[i] stands for. REQUIRES: IsEscape(text, i).
constexpr char EscapedByte(std::string_view text, size_t i) {
  return static_cast<char>(HexValue(text[i + 1]) * 16 + HexValue(text[i + 2]));
}

// Appends one byte as "%XX".
void AppendEscape(char byte, std::string* out);

// Appends `text` (UTF-8) with every code point of `set` percent-encoded.
void AppendEncoded(std::string_view text, EncodeSet set, std::string* out);

// Appends bytes that are of any encoding, those of `set` percent-encoded.
void AppendEncodedBytes(std::string_view bytes, EncodeSet set,
                        std::string* out);

// Appends `text` with its escapes replaced by the bytes they stand for.
void AppendDecoded(std::string_view text, std::string* out);

// Reads the code point at text[*pos] and moves *pos behind it; U+FFFD for a
// broken sequence. REQUIRES: *pos < text.size().
char32_t ReadUtf8(std::string_view text, size_t* pos);

void AppendUtf8(char32_t code_point, std::string* out);

}  // namespace nephila::url
