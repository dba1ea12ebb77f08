#include "parse/charset_tables.h"

#include <unicode/ucnv.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"

namespace nephila::parse {
namespace {

constexpr bool IsPrivateUse(char32_t c) { return c >= 0xe000 && c <= 0xf8ff; }

// One of ICU's converters, asked for one character at a time.
class IcuConverter {
 public:
  explicit IcuConverter(const char* name) {
    UErrorCode status = U_ZERO_ERROR;
    converter_.reset(ucnv_open(name, &status));
    // ICU's data is part of the library: a name that is missing is our bug.
    NEPHILA_CHECK(U_SUCCESS(status));
    ucnv_setToUCallBack(converter_.get(), UCNV_TO_U_CALLBACK_STOP, nullptr,
                        nullptr, nullptr, &status);
    NEPHILA_CHECK(U_SUCCESS(status));
  }

  // The one code point that the bytes are; 0: none, or several.
  char32_t CodePointOf(std::string_view bytes) {
    std::array<UChar, 8> units;
    UErrorCode status = U_ZERO_ERROR;
    int32_t length = ucnv_toUChars(
        converter_.get(), units.data(), static_cast<int32_t>(units.size()),
        bytes.data(), static_cast<int32_t>(bytes.size()), &status);
    if (U_FAILURE(status)) return 0;
    if (length == 1 && units[0] != kReplacementCharacter) return units[0];
    if (length == 2 && U16_IS_LEAD(units[0]) && U16_IS_TRAIL(units[1])) {
      return static_cast<char32_t>(U16_GET_SUPPLEMENTARY(units[0], units[1]));
    }
    return 0;
  }

 private:
  struct Close {
    void operator()(UConverter* converter) const { ucnv_close(converter); }
  };
  std::unique_ptr<UConverter, Close> converter_;
};

// `count` pointers from `pointer` on map to code points from `first` on.
struct Run {
  uint16_t pointer;
  char16_t first;
  uint16_t count;
};

void Mend(std::span<const Run> runs, PairIndex* index) {
  for (const Run& run : runs) {
    for (size_t i = 0; i < run.count; ++i) {
      (*index)[run.pointer + i] = static_cast<char32_t>(run.first + i);
    }
  }
}

// Where ICU's Big5-HKSCS (of 2008, private-use code points for what Unicode
// did not have then) differs from index Big5: strokes and ideographs that
// Unicode has since, compatibility duplicates, and the control pictures.
constexpr std::array<Run, 114> kBig5Mends = {{
    {1008, 0x9f97, 1},  {1016, 0x9f96, 1},  {1099, 0x31c0, 5},
    {1105, 0x31c5, 1},  {1108, 0x31c6, 2},  {1112, 0x31c8, 1},
    {1114, 0x31c9, 4},  {1119, 0x31cd, 2},  {1170, 0x23da, 2},
    {1730, 0x9fa6, 1},  {1772, 0x9fa7, 1},  {1779, 0x9fa8, 1},
    {1812, 0x9fa9, 1},  {1814, 0x9faa, 1},  {1816, 0x9fab, 1},
    {1821, 0x9fac, 1},  {1844, 0x9fad, 2},  {1847, 0x9faf, 1},
    {1866, 0x9fb2, 1},  {1892, 0x9fb3, 1},  {2082, 0x7bb8, 1},
    {2088, 0x7c06, 1},  {2103, 0x7cce, 1},  {2114, 0x7dd2, 1},
    {2123, 0x7e1d, 1},  {2148, 0x8005, 1},  {2151, 0x8028, 1},
    {2221, 0x83c1, 1},  {2239, 0x84a8, 1},  {2244, 0x840f, 1},
    {2303, 0x89a6, 1},  {2304, 0x89a9, 1},  {2354, 0x8d77, 1},
    {2400, 0x90fd, 1},  {2413, 0x92b9, 1},  {2477, 0x975c, 1},
    {2498, 0x97ff, 1},  {2605, 0x9f16, 1},  {2673, 0x8503, 1},
    {2746, 0x5159, 1},  {2747, 0x515b, 1},  {2748, 0x515d, 2},
    {2771, 0x936e, 1},  {2780, 0x7479, 1},  {2990, 0x6d67, 1},
    {3087, 0x799b, 1},  {3259, 0x9097, 1},  {3301, 0x975d, 1},
    {3436, 0x701e, 1},  {3451, 0x5b28, 1},  {4136, 0x7201, 1},
    {4138, 0x77d7, 1},  {4141, 0x7e87, 1},  {4182, 0x99d6, 1},
    {4206, 0x91d4, 1},  {4220, 0x60de, 1},  {4230, 0x6fb6, 1},
    {4241, 0x8f36, 1},  {4258, 0x4fbb, 1},  {4273, 0x71df, 1},
    {4279, 0x9104, 1},  {4282, 0x9df0, 1},  {4294, 0x83cf, 1},
    {4329, 0x5c10, 1},  {4330, 0x79e3, 1},  {4349, 0x5a67, 1},
    {4419, 0x8f0b, 1},  {4422, 0x7b51, 1},  {4494, 0x62d0, 1},
    {4624, 0x6062, 1},  {4694, 0x75f9, 1},  {4708, 0x6c4a, 1},
    {4742, 0x9b2e, 1},  {4748, 0x9f17, 1},  {4815, 0x50ed, 1},
    {4828, 0x5f0c, 1},  {4902, 0x880f, 1},  {4922, 0x62ce, 1},
    {4982, 0x7468, 1},  {4992, 0x7162, 1},  {4997, 0x7250, 1},
    {5432, 0x2400, 32}, {5464, 0x2421, 1},  {10942, 0x5ef4, 1},
    {10946, 0x65e0, 1}, {10948, 0x7676, 1}, {10950, 0x96b6, 1},
    {10957, 0x3003, 1}, {10958, 0x4edd, 1}, {11204, 0x31cf, 1},
    {11210, 0x9fb0, 1}, {11212, 0x9fb1, 1}, {19028, 0x5029, 1},
    {19035, 0x507d, 1}, {19088, 0x5305, 1}, {19096, 0x5344, 1},
    {19112, 0x537f, 1}, {19162, 0x5605, 1}, {19240, 0x5a77, 1},
    {19299, 0x5e75, 1}, {19305, 0x5ed0, 1}, {19326, 0x5f58, 1},
    {19355, 0x60a4, 1}, {19398, 0x6490, 1}, {19439, 0x6674, 1},
    {19454, 0x675e, 1}, {19553, 0x6c9c, 1}, {19554, 0x6e1d, 1},
    {19557, 0x6e2f, 1}, {19611, 0x716e, 1}, {19643, 0x732a, 1},
    {19672, 0x745c, 1}, {19697, 0x74e9, 1}, {19748, 0x7809, 1},
}};

// GB 18030-2022 moved 18 characters from private use to their own code points,
// and browsers read 0xA3A0 as the ideographic space; ICU 72 has the edition of
// 2005.
constexpr std::array<Run, 14> kGb18030Mends = {{
    {6555, 0x3000, 1},
    {7182, 0xfe10, 1},
    {7183, 0xfe12, 1},
    {7184, 0xfe11, 1},
    {7185, 0xfe13, 4},
    {7201, 0xfe17, 2},
    {7208, 0xfe19, 1},
    {23775, 0x9fb4, 1},
    {23783, 0x9fb5, 1},
    {23788, 0x9fb6, 2},
    {23795, 0x9fb8, 1},
    {23812, 0x9fb9, 1},
    {23829, 0x9fba, 1},
    {23845, 0x9fbb, 1},
}};

struct ByteMend {
  Encoding encoding;
  uint8_t byte;
  char16_t code_point;  // U+FFFD: none
};
// ICU's KOI8-U has box drawings where browsers have the Belarusian short u, its
// windows-1253 a letter in a free place, its windows-1255 lacks the newest
// vowel point.
constexpr std::array<ByteMend, 4> kByteMends = {{
    {Encoding::kKoi8U, 0xae, 0x045e},
    {Encoding::kKoi8U, 0xbe, 0x040e},
    {Encoding::kWindows1253, 0xaa, 0xfffd},
    {Encoding::kWindows1255, 0xca, 0x05ba},
}};

struct ByteCodePoint {
  uint8_t byte;
  char16_t code_point;
};
// Debian's ICU has no ISO-8859-16: the bytes that are not those of Latin-1.
constexpr std::array<ByteCodePoint, 40> kIso8859x16 = {{
    {0xa1, 0x0104}, {0xa2, 0x0105}, {0xa3, 0x0141}, {0xa4, 0x20ac},
    {0xa5, 0x201e}, {0xa6, 0x0160}, {0xa8, 0x0161}, {0xaa, 0x0218},
    {0xac, 0x0179}, {0xae, 0x017a}, {0xaf, 0x017b}, {0xb2, 0x010c},
    {0xb3, 0x0142}, {0xb4, 0x017d}, {0xb5, 0x201d}, {0xb8, 0x017e},
    {0xb9, 0x010d}, {0xba, 0x0219}, {0xbc, 0x0152}, {0xbd, 0x0153},
    {0xbe, 0x0178}, {0xbf, 0x017c}, {0xc3, 0x0102}, {0xc5, 0x0106},
    {0xd0, 0x0110}, {0xd1, 0x0143}, {0xd5, 0x0150}, {0xd7, 0x015a},
    {0xd8, 0x0170}, {0xdd, 0x0118}, {0xde, 0x021a}, {0xe3, 0x0103},
    {0xe5, 0x0107}, {0xf0, 0x0111}, {0xf1, 0x0144}, {0xf5, 0x0151},
    {0xf7, 0x015b}, {0xf8, 0x0171}, {0xfd, 0x0119}, {0xfe, 0x021b},
}};

SingleByteIndex MakeIso8859x16() {
  SingleByteIndex index;
  for (size_t i = 0; i < index.size(); ++i) {
    index[i] = static_cast<char16_t>(0x80 + i);
  }
  for (const ByteCodePoint& entry : kIso8859x16) {
    index[entry.byte - 0x80U] = entry.code_point;
  }
  return index;
}

SingleByteIndex MakeSingleByte(Encoding encoding) {
  if (encoding == Encoding::kIso8859x16) return MakeIso8859x16();
  SingleByteIndex index;
  IcuConverter converter(EncodingName(encoding).data());
  for (size_t i = 0; i < index.size(); ++i) {
    char byte = static_cast<char>(0x80 + i);
    char32_t c = converter.CodePointOf({&byte, 1});
    // In ICU's windows-874 private use stands for what is free.
    bool none =
        c == 0 || (IsPrivateUse(c) && encoding == Encoding::kWindows874);
    index[i] = static_cast<char16_t>(none ? kReplacementCharacter : c);
  }
  for (const ByteMend& mend : kByteMends) {
    if (mend.encoding == encoding) index[mend.byte - 0x80U] = mend.code_point;
  }
  return index;
}

// Fills index[pointer] for every pair of a lead in [lead, lead + rows) and a
// trail that `trail_of` gives for a column.
template <typename TrailOf>
void FillRows(IcuConverter* converter, std::string_view prefix,
              unsigned first_lead, size_t rows, size_t columns,
              TrailOf trail_of, PairIndex* index) {
  std::string bytes(prefix);
  bytes.append(2, '\0');
  for (size_t row = 0; row < rows; ++row) {
    bytes[prefix.size()] = static_cast<char>(first_lead + row);
    for (size_t column = 0; column < columns; ++column) {
      bytes[prefix.size() + 1] = static_cast<char>(trail_of(column));
      index->push_back(converter->CodePointOf(bytes));
    }
  }
}

void DropPrivateUse(PairIndex* index) {
  for (char32_t& c : *index) {
    if (IsPrivateUse(c)) c = 0;
  }
}

PairIndex MakeJis0208() {
  constexpr size_t kRows = 94;
  constexpr size_t kSize = 11104;
  PairIndex index;
  index.reserve(kSize);
  IcuConverter euc("euc-jp-2007");
  FillRows(
      &euc, "", 0xa1, kRows, 94, [](size_t column) { return 0xa1 + column; },
      &index);
  // What Shift_JIS alone reaches: NEC's and IBM's selections. The rows between
  // are for users, and the decoder's to map.
  PairIndex beyond;
  IcuConverter shift("ibm-943_P15A-2003");
  FillRows(
      &shift, "", 0xf0, 13, 188,
      [](size_t column) { return column + (column < 0x3f ? 0x40 : 0x41); },
      &beyond);
  DropPrivateUse(&beyond);
  constexpr size_t kFirstBeyond = size_t{0xf0 - 0xc1} * 188;
  static_assert(kFirstBeyond == kRows * 94);
  index.insert(index.end(), beyond.begin(), beyond.end());
  index.resize(kSize);
  return index;
}

PairIndex MakeJis0212() {
  // Behind it stand what IBM added and the standard did not take.
  constexpr size_t kSize = 7211;
  PairIndex index;
  index.reserve(size_t{94} * 94);
  IcuConverter euc("euc-jp-2007");
  FillRows(
      &euc, "\x8f", 0xa1, 94, 94, [](size_t column) { return 0xa1 + column; },
      &index);
  index.resize(kSize);
  return index;
}

PairIndex MakeEucKr() {
  PairIndex index;
  index.reserve(size_t{125} * 190);
  IcuConverter korean("windows-949-2000");
  FillRows(
      &korean, "", 0x81, 125, 190, [](size_t column) { return 0x41 + column; },
      &index);
  DropPrivateUse(&index);
  return index;
}

PairIndex MakeBig5() {
  PairIndex index;
  index.reserve(size_t{126} * 157);
  IcuConverter chinese("Big5-HKSCS");
  FillRows(
      &chinese, "", 0x81, 126, 157,
      [](size_t column) { return column + (column < 0x3f ? 0x40 : 0x62); },
      &index);
  DropPrivateUse(&index);
  Mend(kBig5Mends, &index);
  return index;
}

// As GB 18030-2005 has it.
PairIndex MakeGb18030Of2005() {
  PairIndex index;
  index.reserve(size_t{126} * 190);
  IcuConverter chinese("gb18030");
  FillRows(
      &chinese, "", 0x81, 126, 190,
      [](size_t column) { return column + (column < 0x3f ? 0x40 : 0x41); },
      &index);
  return index;
}

// Four-byte codes were given in order to what the two-byte codes left out in
// the edition of 2000. Later editions moved characters to two bytes and gave
// their codes to the private-use code point that had stood there.
PairIndex MakeGb18030FourByte() {
  constexpr char32_t kMoved = 0x1e3f;
  constexpr char32_t kMovedFrom = 0xe7c7;
  constexpr size_t kSize = 39420;
  std::vector<bool> in_two_bytes(0x10000, false);
  for (char32_t c : MakeGb18030Of2005()) in_two_bytes[c] = true;
  in_two_bytes[kMoved] = false;
  in_two_bytes[kMovedFrom] = true;
  PairIndex index;
  index.reserve(kSize);
  for (char32_t c = 0x80; c < 0x10000; ++c) {
    if (in_two_bytes[c] || (c >= 0xd800 && c <= 0xdfff)) continue;
    index.push_back(c == kMoved ? kMovedFrom : c);
  }
  NEPHILA_CHECK(index.size() == kSize);
  return index;
}

}  // namespace

bool IsSingleByte(Encoding encoding) {
  return encoding >= Encoding::kIbm866 && encoding <= Encoding::kMacCyrillic;
}

const SingleByteIndex& SingleByteIndexOf(Encoding encoding) {
  constexpr auto kFirst = static_cast<size_t>(Encoding::kIbm866);
  constexpr auto kLast = static_cast<size_t>(Encoding::kMacCyrillic);
  static const auto* const kIndexes = [] {
    auto* indexes = new std::array<SingleByteIndex, kLast - kFirst + 1>;
    for (size_t i = kFirst; i <= kLast; ++i) {
      (*indexes)[i - kFirst] = MakeSingleByte(static_cast<Encoding>(i));
    }
    return indexes;
  }();
  NEPHILA_CHECK(IsSingleByte(encoding));
  return (*kIndexes)[static_cast<size_t>(encoding) - kFirst];
}

const PairIndex& Jis0208Index() {
  static const PairIndex kIndex = MakeJis0208();
  return kIndex;
}

const PairIndex& Jis0212Index() {
  static const PairIndex kIndex = MakeJis0212();
  return kIndex;
}

const PairIndex& EucKrIndex() {
  static const PairIndex kIndex = MakeEucKr();
  return kIndex;
}

const PairIndex& Big5Index() {
  static const PairIndex kIndex = MakeBig5();
  return kIndex;
}

const PairIndex& Gb18030Index() {
  static const PairIndex kIndex = [] {
    PairIndex index = MakeGb18030Of2005();
    Mend(kGb18030Mends, &index);
    return index;
  }();
  return kIndex;
}

const PairIndex& Gb18030FourByteIndex() {
  static const PairIndex kIndex = MakeGb18030FourByte();
  return kIndex;
}

}  // namespace nephila::parse
