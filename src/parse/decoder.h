// Decoder: bytes of any encoding of the Encoding Standard become UTF-8.
//
// The standard's decoders (s8 to s14): each broken sequence becomes U+FFFD, and
// a byte that could be markup is never swallowed by one. A mark at the
// beginning is not looked for; parse/charset.h tells its length.
//   In: bytes in chunks of any size   Out: valid UTF-8, at most 3 times as long
//   Threads: one Decoder each
//   Cost: linear; ASCII is copied in runs, where the encoding has ASCII
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "parse/encoding.h"

namespace nephila::parse {

class Decoder {
 public:
  explicit Decoder(Encoding encoding);

  // Appends what is certain after these bytes to *out.
  void Decode(std::string_view bytes, std::string* out);

  // Appends what a sequence that was cut off becomes. The Decoder can then
  // begin anew.
  void Finish(std::string* out);

 private:
  enum class JisState : uint8_t { kAscii, kRoman, kKatakana, kDouble };

  // What stands at the beginning of some bytes.
  struct Unit {
    size_t length = 0;        // 0: more bytes are needed
    char32_t code_point = 0;  // kNothing: none, as behind an escape
    char32_t second = 0;      // behind it; 0: none
  };
  static constexpr char32_t kNothing = 0x110000;

  static Unit ReadUtf8(std::string_view bytes);
  static Unit ReadUtf16(std::string_view bytes, bool big_endian);
  static Unit ReadGb18030(std::string_view bytes);
  static Unit ReadBig5(std::string_view bytes);
  static Unit ReadEucJp(std::string_view bytes);
  static Unit ReadShiftJis(std::string_view bytes);
  static Unit ReadEucKr(std::string_view bytes);
  Unit ReadIso2022Jp(std::string_view bytes);
  Unit ReadEscape(std::string_view bytes);

  Unit Read(std::string_view bytes);
  // Decodes whole units; returns how many bytes they had.
  size_t DecodeUnits(std::string_view bytes, std::string* out);
  void DecodeSingleBytes(std::string_view bytes, std::string* out) const;
  void DecodeUtf8(std::string_view bytes, std::string* out);

  Encoding encoding_;
  bool ascii_;             // runs of ASCII may be copied
  std::string pending_;    // a unit that is not complete: at most 3 bytes
  bool replaced_ = false;  // kReplacement: its one U+FFFD is out
  JisState jis_ = JisState::kAscii;
  bool jis_escaped_ = false;  // nothing came since the last escape
};

// All of it at once. Pure ASCII, in an encoding that has it, is copied.
void DecodeToUtf8(Encoding encoding, std::string_view bytes, std::string* out);
std::string DecodeToUtf8(Encoding encoding, std::string_view bytes);

}  // namespace nephila::parse
