#include "parse/charset.h"

#include <gtest/gtest.h>

#include <string>

#include "base/conformance_testing.h"
#include "parse/charset_guess.h"
#include "parse/prescan.h"

namespace nephila::parse {
namespace {

using std::string_literals::operator""s;

// The blocks of a .dat file: "#data", lines, "#encoding", a label.
void CheckDatFile(const std::string& name, Exceptions* exceptions) {
  std::string file = ReadTestData("html5lib/encoding/" + name);
  constexpr std::string_view kData = "#data\n";
  constexpr std::string_view kEncoding = "\n#encoding\n";
  size_t at = 0;
  int number = 0;
  while ((at = file.find(kData, at)) != std::string::npos) {
    at += kData.size();
    size_t end = file.find(kEncoding, at);
    ASSERT_NE(end, std::string::npos);
    std::string data = file.substr(at, end - at);
    at = end + kEncoding.size();
    std::string label = file.substr(at, file.find('\n', at) - at);
    CharsetHints hints;
    hints.guess = false;  // the suite knows none
    Charset charset = DecideCharset(data, hints);
    exceptions->Expect(name, "case " + std::to_string(++number),
                       charset.encoding == EncodingOfLabel(label),
                       EncodingName(charset.encoding));
  }
}

TEST(Charset, TheHtml5libSuiteHoldsOrIsListed) {
  Exceptions exceptions("html5lib/encoding");
  for (const char* name : {"tests1.dat", "tests2.dat", "test-yahoo-jp.dat",
                           "scripted/tests1.dat"}) {
    CheckDatFile(name, &exceptions);
  }
  EXPECT_EQ(exceptions.held("tests1.dat") + exceptions.listed("tests1.dat"),
            59);
  EXPECT_EQ(exceptions.held("tests2.dat") + exceptions.listed("tests2.dat"),
            22);
}

TEST(Charset, AMarkComesBeforeAllElse) {
  CharsetHints hints;
  hints.header = "windows-1251";
  std::string meta = "<meta charset=big5>";
  Charset charset = DecideCharset("\xef\xbb\xbf" + meta, hints);
  EXPECT_EQ(charset.encoding, Encoding::kUtf8);
  EXPECT_EQ(charset.source, CharsetSource::kMark);
  EXPECT_EQ(charset.mark_bytes, 3u);
  EXPECT_EQ(DecideCharset("\xff\xfe<\0"s, hints).encoding, Encoding::kUtf16Le);
  EXPECT_EQ(DecideCharset("\xfe\xff\0<"s, hints).encoding, Encoding::kUtf16Be);

  charset = DecideCharset(meta, hints);
  EXPECT_EQ(charset.encoding, Encoding::kWindows1251);
  EXPECT_EQ(charset.source, CharsetSource::kHeader);
  EXPECT_EQ(charset.mark_bytes, 0u);

  hints.header = "no such charset";
  charset = DecideCharset(meta, hints);
  EXPECT_EQ(charset.encoding, Encoding::kBig5);
  EXPECT_EQ(charset.source, CharsetSource::kDeclared);

  charset = DecideCharset("caf\xc3\xa9", hints);
  EXPECT_EQ(charset.encoding, Encoding::kUtf8);
  EXPECT_EQ(charset.source, CharsetSource::kGuess);

  hints.guess = false;
  charset = DecideCharset("caf\xc3\xa9", hints);
  EXPECT_EQ(charset.encoding, Encoding::kWindows1252);
  EXPECT_EQ(charset.source, CharsetSource::kDefault);
}

TEST(Charset, ASettingSaysWhetherToGuess) {
  config::ParseSettings settings;
  CharsetHints hints = CharsetHintsOf(settings, "");
  EXPECT_EQ(DecideCharset("caf\xc3\xa9", hints).encoding, Encoding::kUtf8);
  settings.guess_charset = false;
  hints = CharsetHintsOf(settings, "");
  EXPECT_EQ(DecideCharset("caf\xc3\xa9", hints).encoding,
            Encoding::kWindows1252);
  hints = CharsetHintsOf(settings, "big5");
  EXPECT_EQ(DecideCharset("caf\xc3\xa9", hints).encoding, Encoding::kBig5);
}

TEST(Charset, XmlIsUtf8UnlessItSaysOtherwise) {
  CharsetHints hints;
  hints.xml = true;
  EXPECT_EQ(DecideCharset("<a>caf\xe9</a>", hints).encoding, Encoding::kUtf8);
  EXPECT_EQ(
      DecideCharset("<?xml version='1.0' encoding='koi8-r'?>", hints).encoding,
      Encoding::kKoi8R);
  EXPECT_EQ(DecideCharset("<\0a\0>\0b\0<\0/\0a\0>\0"s, hints).encoding,
            Encoding::kUtf16Le);
}

TEST(Prescan, LooksAtNoMoreThanTheStandardDoes) {
  std::string meta = "<meta charset=big5>";
  std::string before(kPrescanBytes - meta.size(), ' ');
  EXPECT_EQ(Prescan(before + meta), Encoding::kBig5);
  EXPECT_EQ(Prescan(before + " " + meta), std::nullopt);
}

TEST(Charset, ADeclarationFurtherBehindCounts) {
  std::string page = std::string(5000, ' ') + "<meta charset=big5>";
  EXPECT_EQ(DecideCharset(page, {}).encoding, Encoding::kBig5);
  page.insert(0, kLatePrescanBytes, ' ');
  EXPECT_EQ(DecideCharset(page, {}).encoding, Encoding::kWindows1252);
}

TEST(Prescan, DeclarationsThatCannotBeTrueAreReadAsTheStandardSays) {
  EXPECT_EQ(Prescan("<meta charset=utf-16>"), Encoding::kUtf8);
  EXPECT_EQ(Prescan("<meta charset=x-user-defined>"), Encoding::kWindows1252);
  EXPECT_EQ(Prescan("<meta charset=unheard-of>"), std::nullopt);
  EXPECT_EQ(Prescan("<meta charset=unheard-of><meta charset=big5>"),
            Encoding::kBig5);
}

TEST(Prescan, ReadsAttributesAsTheStandardDoes) {
  EXPECT_EQ(Prescan("<META/CHARSET = 'Big5' >"), Encoding::kBig5);
  EXPECT_EQ(Prescan("<meta charset=big5 charset=utf-8>"), Encoding::kBig5);
  EXPECT_EQ(Prescan("<meta content='text/html; charset=big5'>"), std::nullopt);
  EXPECT_EQ(Prescan("<meta content='charset=big5' http-equiv=Content-Type>"),
            Encoding::kBig5);
  EXPECT_EQ(Prescan("<a title='<meta charset=utf-8>'><meta charset=big5>"),
            Encoding::kBig5);
  EXPECT_EQ(Prescan("<!-- > <meta charset=utf-8> --><meta charset=big5>"),
            Encoding::kBig5);
  EXPECT_EQ(Prescan("<!--><meta charset=big5>"), Encoding::kBig5);
  EXPECT_EQ(Prescan("<?x <meta charset=utf-8>"), std::nullopt);
  EXPECT_EQ(Prescan("<metal charset=big5>"), std::nullopt);
  EXPECT_EQ(Prescan("<meta charset=big5"), std::nullopt);
  EXPECT_EQ(Prescan("<meta charset='big5>"), std::nullopt);
}

TEST(Prescan, AnXmlDeclarationCountsWhereNoMetaDoes) {
  EXPECT_EQ(Prescan("<?xml version='1.0' encoding = \"big5\" ?><html>"),
            Encoding::kBig5);
  EXPECT_EQ(Prescan("<?xml encoding='big5'?><meta charset=koi8-r>"),
            Encoding::kKoi8R);
  EXPECT_EQ(Prescan("<?xml encoding='utf-16'?>"), Encoding::kUtf8);
  EXPECT_EQ(Prescan("<?xml encoding=big5?>"), std::nullopt);
  EXPECT_EQ(Prescan("<?xml encoding='big5"), std::nullopt);
  EXPECT_EQ(Prescan(" <?xml encoding='big5'?>"), std::nullopt);
  EXPECT_EQ(Prescan("<\0?\0x\0m\0l\0"s), Encoding::kUtf16Le);
  EXPECT_EQ(Prescan("\0<\0?\0x\0m\0l"s), Encoding::kUtf16Be);
}

TEST(Prescan, ReadsTheCharsetOfAContentAttribute) {
  EXPECT_EQ(EncodingFromMetaContent("text/html; CHARSET = big5 ; x"),
            Encoding::kBig5);
  EXPECT_EQ(EncodingFromMetaContent("charset charset=big5"), Encoding::kBig5);
  EXPECT_EQ(EncodingFromMetaContent("charset='big5'x"), Encoding::kBig5);
  EXPECT_EQ(EncodingFromMetaContent("charset=\"big5"), std::nullopt);
  EXPECT_EQ(EncodingFromMetaContent("charset="), std::nullopt);
  EXPECT_EQ(EncodingFromMetaContent("charse=big5"), std::nullopt);
}

TEST(Guess, KnowsUtf16ByItsZeros) {
  EXPECT_EQ(GuessEncoding("<\0h\0t\0m\0l\0>\0"s), Encoding::kUtf16Le);
  EXPECT_EQ(GuessEncoding("\0<\0h\0t\0m\0l\0>"s), Encoding::kUtf16Be);
  EXPECT_EQ(GuessEncoding(std::string(1000, '\0')), std::nullopt);
  EXPECT_EQ(GuessEncoding("a\0"s), std::nullopt);
}

TEST(Guess, KnowsUtf8ByItsForm) {
  EXPECT_EQ(GuessEncoding("\xc3\xa4"), Encoding::kUtf8);
  EXPECT_EQ(GuessEncoding("abc \xe2\x82\xac \xe2\x82"), Encoding::kUtf8);
  EXPECT_TRUE(LooksLikeUtf8("\xef\xbf\xbd"));
  EXPECT_FALSE(LooksLikeUtf8("plain"));
  EXPECT_FALSE(LooksLikeUtf8("caf\xe9 \xc3\xa4"));
  std::string many;
  for (int i = 0; i < 16; ++i) many += "\xc3\xa4 ";
  EXPECT_TRUE(LooksLikeUtf8(many + "\xe9 "));
  EXPECT_FALSE(LooksLikeUtf8(many + "\xe9 \xe9 "));
}

TEST(Guess, KnowsNothingOfAscii) {
  EXPECT_EQ(GuessEncoding(""), std::nullopt);
  EXPECT_EQ(GuessEncoding("<p>plain text"), std::nullopt);
  EXPECT_EQ(GuessEncoding("\x1b$B$\"\x1b(B"), Encoding::kIso2022Jp);
}

TEST(Guess, KnowsLegacyTextByItsLetters) {
  EXPECT_EQ(
      GuessEncoding(ReadTestData("html5lib/encoding/chardet/test_big5.txt")),
      Encoding::kBig5);
  // "Good day, dear readers of our newspaper" and the like.
  std::string russian =
      "\xc4\xee\xe1\xf0\xfb\xe9 \xe4\xe5\xed\xfc, \xf3\xe2\xe0\xe6\xe0\xe5"
      "\xec\xfb\xe5 \xf7\xe8\xf2\xe0\xf2\xe5\xeb\xe8 \xed\xe0\xf8\xe5\xe9 "
      "\xe3\xe0\xe7\xe5\xf2\xfb. \xcf\xee\xf1\xeb\xe5\xe4\xed\xe8\xe5 "
      "\xed\xee\xe2\xee\xf1\xf2\xe8 \xe3\xee\xf0\xee\xe4\xe0.";
  EXPECT_EQ(GuessEncoding(russian), Encoding::kWindows1251);
  // However far behind, and however much markup is between.
  std::string page(2 * kGuessBytes, 'a');
  for (char c : russian) {
    page.push_back(c);
    if (c == ' ') page += "<a href='javascript:void(0)' class='some words'>";
  }
  EXPECT_EQ(GuessEncoding(page), Encoding::kWindows1251);
}

}  // namespace
}  // namespace nephila::parse
