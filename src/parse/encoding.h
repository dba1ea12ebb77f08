// Encoding: the forty encodings of the Encoding Standard and their labels.
//
// A page names its encoding by one of 228 labels, many of which do not mean
// what they say ("iso-8859-1" is windows-1252, "gb2312" is GBK): browsers read
// them so, and pages are written for browsers. Threads: any. Cost of a label:
// a binary search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nephila::parse {

// In the standard's order. ISO-8859-8 and ISO-8859-8-I differ only in how text
// is laid out, kReplacement stands for encodings that are unsafe to read.
enum class Encoding : uint8_t {
  kUtf8,
  kIbm866,
  kIso8859x2,
  kIso8859x3,
  kIso8859x4,
  kIso8859x5,
  kIso8859x6,
  kIso8859x7,
  kIso8859x8,
  kIso8859x8I,
  kIso8859x10,
  kIso8859x13,
  kIso8859x14,
  kIso8859x15,
  kIso8859x16,
  kKoi8R,
  kKoi8U,
  kMacintosh,
  kWindows874,
  kWindows1250,
  kWindows1251,
  kWindows1252,
  kWindows1253,
  kWindows1254,
  kWindows1255,
  kWindows1256,
  kWindows1257,
  kWindows1258,
  kMacCyrillic,
  kGbk,
  kGb18030,
  kBig5,
  kEucJp,
  kIso2022Jp,
  kShiftJis,
  kEucKr,
  kReplacement,
  kUtf16Be,
  kUtf16Le,
  kUserDefined,
};
inline constexpr size_t kEncodingCount = 40;

// The standard's name: "UTF-8", "windows-1252".
std::string_view EncodingName(Encoding encoding);

// s4.2 "get an encoding": spaces around a label and its case do not matter.
std::optional<Encoding> EncodingOfLabel(std::string_view label);

// Whether bytes below 0x80 mean ASCII outside of multi-byte sequences, and no
// byte of such a sequence is one of < > & = " ': markup can then be found
// before anything is converted. Not so for UTF-16, ISO-2022-JP, replacement.
bool IsAsciiCompatible(Encoding encoding);

// s4.3 "get an output encoding": what a form or a query is written in.
Encoding OutputEncoding(Encoding encoding);

// The length of the run of ASCII that the text begins with.
size_t AsciiPrefix(std::string_view text);

}  // namespace nephila::parse
