#include "parse/decoder.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/checksum.h"
#include "base/text.h"
#include "parse/charset_tables.h"

namespace nephila::parse {
namespace {

using std::string_literals::operator""s;

uint32_t ChecksumOf(const PairIndex& index) {
  std::string bytes;
  bytes.reserve(index.size() * 4);
  for (char32_t c : index) {
    for (int shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<char>(c >> shift & 0xff));
    }
  }
  return Crc32c(bytes);
}

// Over the indexes as the standard publishes them (index-*.txt): code points
// by pointer, 32 bits little-endian, 0 for none.
TEST(CharsetTables, PairIndexesAreThoseOfTheStandard) {
  EXPECT_EQ(ChecksumOf(Jis0208Index()), 0xcebd1fb1);
  EXPECT_EQ(ChecksumOf(Jis0212Index()), 0xcbc98fb5);
  EXPECT_EQ(ChecksumOf(EucKrIndex()), 0xbb25930e);
  EXPECT_EQ(ChecksumOf(Big5Index()), 0x1ec44c5f);
  EXPECT_EQ(ChecksumOf(Gb18030Index()), 0xfddc65e7);
  EXPECT_EQ(ChecksumOf(Gb18030FourByteIndex()), 0x4bd6ea20);
}

// The same with 16 bits, U+FFFD for none.
TEST(CharsetTables, SingleByteIndexesAreThoseOfTheStandard) {
  struct Pinned {
    Encoding encoding;
    uint32_t checksum;
  };
  constexpr std::array<Pinned, 28> kPinned = {{
      {Encoding::kIbm866, 0x8c2590d5},
      {Encoding::kIso8859x2, 0xf6c65a28},
      {Encoding::kIso8859x3, 0xadce56fa},
      {Encoding::kIso8859x4, 0x3d596f7c},
      {Encoding::kIso8859x5, 0x51e8901d},
      {Encoding::kIso8859x6, 0x075600d3},
      {Encoding::kIso8859x7, 0x86d1cae9},
      {Encoding::kIso8859x8, 0xd1b9c5f7},
      {Encoding::kIso8859x8I, 0xd1b9c5f7},
      {Encoding::kIso8859x10, 0x66c98a52},
      {Encoding::kIso8859x13, 0xafd12565},
      {Encoding::kIso8859x14, 0xd80a7d04},
      {Encoding::kIso8859x15, 0x3d8aff01},
      {Encoding::kIso8859x16, 0xa823e060},
      {Encoding::kKoi8R, 0x79467b21},
      {Encoding::kKoi8U, 0xc1f8e8c8},
      {Encoding::kMacintosh, 0xa5da1864},
      {Encoding::kWindows874, 0xe01e8dd8},
      {Encoding::kWindows1250, 0x34badf04},
      {Encoding::kWindows1251, 0x54d788cf},
      {Encoding::kWindows1252, 0xb4e24f80},
      {Encoding::kWindows1253, 0x31d3ec73},
      {Encoding::kWindows1254, 0x59b69767},
      {Encoding::kWindows1255, 0x31e3e872},
      {Encoding::kWindows1256, 0x3876607a},
      {Encoding::kWindows1257, 0xa9787b38},
      {Encoding::kWindows1258, 0x4082c2fc},
      {Encoding::kMacCyrillic, 0x82528ccb},
  }};
  for (const Pinned& pinned : kPinned) {
    std::string bytes;
    for (char16_t c : SingleByteIndexOf(pinned.encoding)) {
      bytes.push_back(static_cast<char>(c & 0xff));
      bytes.push_back(static_cast<char>(c >> 8));
    }
    EXPECT_EQ(Crc32c(bytes), pinned.checksum) << EncodingName(pinned.encoding);
  }
}

struct Case {
  Encoding encoding;
  std::string bytes;
  std::string utf8;
};

const std::string kFffd = "\xef\xbf\xbd";

// Each line has one rule of the standard's decoders; "<" behind a broken
// sequence must come out of it.
std::vector<Case> Cases() {
  using E = Encoding;
  return {
      {E::kUtf8, "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80<",
       "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80<"},
      {E::kUtf8, "\xc3<", kFffd + "<"},
      {E::kUtf8, "\xf0\x9f\x98<", kFffd + "<"},
      {E::kUtf8, "\xe0\x80\x80", kFffd + kFffd + kFffd},
      {E::kUtf8, "\xed\xa0\x80", kFffd + kFffd + kFffd},
      {E::kUtf8, "\xf4\x90\x80\x80", kFffd + kFffd + kFffd + kFffd},
      {E::kUtf8, "\xc0\x80\xff", kFffd + kFffd + kFffd},
      {E::kUtf8, "a\xe2\x82", "a" + kFffd},
      {E::kUtf8, "\xef\xbf\xbd", kFffd},
      {E::kWindows1252, "\x80\x81\xe9<", "\xe2\x82\xac\xc2\x81\xc3\xa9<"},
      {E::kWindows1253, "\xaa\xd2\xe1", kFffd + kFffd + "\xce\xb1"},
      {E::kWindows1255, "\xca", "\xd6\xba"},
      {E::kMacintosh, "\xf0", "\xef\xa3\xbf"},
      {E::kWindows874, "\xdb\xa1", kFffd + "\xe0\xb8\x81"},
      {E::kKoi8U, "\xae\xbe", "\xd1\x9e\xd0\x8e"},
      {E::kIso8859x16, "\xa4\xfe", "\xe2\x82\xac\xc8\x9b"},
      {E::kUserDefined, "a\x80\xff", "a\xef\x9e\x80\xef\x9f\xbf"},
      {E::kReplacement, "abc\x1b$", kFffd},
      {E::kReplacement, "", ""},
      {E::kGbk, "\x80\xc4\xe3\xba\xc3<",
       "\xe2\x82\xac\xe4\xbd\xa0\xe5\xa5\xbd<"},
      {E::kGbk, "\x81<", kFffd + "<"},
      {E::kGbk, "\xff\x81\xff<", kFffd + kFffd + "<"},
      {E::kGb18030, "\x81\x30\x81\x30", "\xc2\x80"},
      {E::kGb18030, "\x90\x30\x81\x30", "\xf0\x90\x80\x80"},
      {E::kGb18030, "\xe3\x32\x9a\x35", "\xf4\x8f\xbf\xbf"},
      {E::kGb18030, "\xe3\x32\x9a\x36", kFffd},
      {E::kGb18030, "\x84\x31\xa4\x37<", "\xef\xbf\xbd<"},
      {E::kGb18030, "\x81\x35\xf4\x37", "\xee\x9f\x87"},
      {E::kGb18030, "\x81\x30<", kFffd + "0<"},
      // The second and third are read again, and the third is a lead byte.
      {E::kGb18030, "\x81\x30\x81<", kFffd + "0" + kFffd + "<"},
      {E::kGb18030, "\x81\x30\x81", kFffd},
      {E::kGb18030, "\xa6\xd9\xfe\x59\xa3\xa0",
       "\xef\xb8\x90\xe9\xbe\xb4\xe3\x80\x80"},
      {E::kBig5, "\xa7\x41\xa6\x6e<", "\xe4\xbd\xa0\xe5\xa5\xbd<"},
      {E::kBig5, "\x88\x62\x88\xa5", "\xc3\x8a\xcc\x84\xc3\xaa\xcc\x8c"},
      {E::kBig5, "\x87\x45", "\xf0\xa7\x89\xa7"},
      {E::kBig5, "\xa1<\x80\xff", kFffd + "<" + kFffd + kFffd},
      {E::kEucJp, "\xa4\xa2\x8e\xb1\x8f\xb0\xa1<",
       "\xe3\x81\x82\xef\xbd\xb1\xe4\xb8\x82<"},
      {E::kEucJp, "\xa4<", kFffd + "<"},
      {E::kEucJp, "\x8f\xb0<", kFffd + "<"},
      {E::kEucJp, "\x8f<\x8e\xf0<\x80", kFffd + "<" + kFffd + "<" + kFffd},
      {E::kEucJp, "\x8f\xf3\xf3<", kFffd + "<"},
      {E::kShiftJis, "\x82\xa0\xb1\x5c\x80<",
       "\xe3\x81\x82\xef\xbd\xb1\x5c\xc2\x80<"},
      {E::kShiftJis, "\xf0\x40\xf9\xfc", "\xee\x80\x80\xee\x9d\x97"},
      {E::kShiftJis, "\xfa\x40\xed\x40", "\xe2\x85\xb0\xe7\xba\x8a"},
      {E::kShiftJis, "\x82<\xa0\xfd", kFffd + "<" + kFffd + kFffd},
      {E::kShiftJis, "\x81\x7f<", kFffd + "\x7f<"},
      {E::kEucKr, "\xb0\xa1\x81\x41<", "\xea\xb0\x80\xea\xb0\x82<"},
      {E::kEucKr, "\xc9\xa1\xb0<\xff", kFffd + kFffd + "<" + kFffd},
      {E::kIso2022Jp, "a\x1b$B$\"\x1b(B<", "a\xe3\x81\x82<"},
      {E::kIso2022Jp, "\x1b(J\\~a\x1b(I1\x1b(B",
       "\xc2\xa5\xe2\x80\xbe"
       "a\xef\xbd\xb1"},
      {E::kIso2022Jp, "\x1b$B\x1b(Ba", kFffd + "a"},
      {E::kIso2022Jp, "\x1b$@$\x1b(B<", kFffd + "<"},
      {E::kIso2022Jp, "\x1b[m\x0e\x0f\x80",
       kFffd + "[m" + kFffd + kFffd + kFffd},
      {E::kIso2022Jp, "\x1b(Xa", kFffd + "(Xa"},
      {E::kIso2022Jp, "a\x1b(", "a" + kFffd + "("},
      {E::kIso2022Jp, "a\x1b", "a" + kFffd},
      {E::kIso2022Jp, "\x1b$B$", kFffd},
      {E::kIso2022Jp, "\x1b$B$\n\x1b(B", kFffd},
      {E::kUtf16Le, "a\0\x3d\xd8\x00\xde<\0"s, "a\xf0\x9f\x98\x80<"},
      {E::kUtf16Be, "\0a\xd8\x3d\xde\x00\0<"s, "a\xf0\x9f\x98\x80<"},
      {E::kUtf16Le, "\x3d\xd8<\0\0\xdc"s, kFffd + "<" + kFffd},
      {E::kUtf16Be, "\0a\0"s, "a" + kFffd},
      {E::kUtf16Be, "\xd8\x00\xdc"s, kFffd},
  };
}

TEST(Decoder, KeepsTheRulesOfTheStandard) {
  for (const Case& c : Cases()) {
    EXPECT_EQ(EscapeForTerminal(DecodeToUtf8(c.encoding, c.bytes)),
              EscapeForTerminal(c.utf8))
        << EncodingName(c.encoding) << ' ' << EscapeForTerminal(c.bytes);
  }
}

TEST(Decoder, ChunksMakeNoDifference) {
  for (const Case& c : Cases()) {
    for (size_t size = 1; size <= 3; ++size) {
      Decoder decoder(c.encoding);
      // Twice, as Finish() begins anew.
      for (int round = 0; round < 2; ++round) {
        std::string out;
        for (size_t at = 0; at < c.bytes.size(); at += size) {
          decoder.Decode(std::string_view(c.bytes).substr(at, size), &out);
          decoder.Decode("", &out);
        }
        decoder.Finish(&out);
        EXPECT_EQ(EscapeForTerminal(out), EscapeForTerminal(c.utf8))
            << EncodingName(c.encoding) << ' ' << EscapeForTerminal(c.bytes);
      }
    }
  }
}

TEST(Decoder, AnythingBecomesValidUtf8OfBoundedLength) {
  std::string bytes;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      bytes.push_back(static_cast<char>(a));
      bytes.push_back(static_cast<char>(b));
      if (b % 7 == 0) bytes.append("(B");
    }
  }
  for (size_t i = 0; i < kEncodingCount; ++i) {
    std::string out = DecodeToUtf8(static_cast<Encoding>(i), bytes);
    EXPECT_TRUE(IsUtf8(out)) << i;
    EXPECT_LE(out.size(), 3 * bytes.size()) << i;
  }
}

TEST(Decoder, AsciiStaysAscii) {
  std::string ascii;
  for (char c = 1; c < 0x7f; ++c) ascii.push_back(c);
  for (size_t i = 0; i < kEncodingCount; ++i) {
    auto encoding = static_cast<Encoding>(i);
    if (!IsAsciiCompatible(encoding)) continue;
    EXPECT_EQ(DecodeToUtf8(encoding, ascii), ascii) << EncodingName(encoding);
    std::string out;
    Decoder(encoding).Decode(ascii + "\x80" + ascii, &out);
    EXPECT_TRUE(out.starts_with(ascii)) << EncodingName(encoding);
  }
}

}  // namespace
}  // namespace nephila::parse
