#include "parse/query_encoder.h"

#include <gtest/gtest.h>

#include <string>

#include "base/conformance_testing.h"
#include "parse/charset_tables.h"
#include "parse/decoder.h"
#include "url/parser.h"
#include "url/percent.h"

namespace nephila::parse {
namespace {

std::string Encode(Encoding encoding, std::string_view utf8) {
  std::string out;
  LegacyQueryEncoder(encoding).Append(utf8, &out);
  return out;
}

TEST(QueryEncoder, EveryCaseOfTheStandardsSuiteHolds) {
  int cases = 0;
  for (const auto& c : ReadTestJson("whatwg-url/percent-encoding.json")) {
    if (!c.is_object()) continue;
    for (const auto& [label, want] : c["output"].items()) {
      auto encoding = EncodingOfLabel(label);
      ASSERT_TRUE(encoding.has_value()) << label;
      auto encoder = MakeQueryEncoder(*encoding);
      url::Url url;
      ASSERT_TRUE(url::Parse("http://a/?" + c["input"].get<std::string>(),
                             nullptr, &url, encoder.get()));
      EXPECT_EQ(url.query(), want.get<std::string>()) << label;
      ++cases;
    }
  }
  EXPECT_EQ(cases, 16);
}

TEST(QueryEncoder, Utf8NeedsNone) {
  EXPECT_EQ(MakeQueryEncoder(Encoding::kUtf8), nullptr);
  EXPECT_EQ(MakeQueryEncoder(Encoding::kUtf16Le), nullptr);
  EXPECT_EQ(MakeQueryEncoder(Encoding::kReplacement), nullptr);
  EXPECT_NE(MakeQueryEncoder(Encoding::kBig5), nullptr);
}

// What an encoding can write it reads back, but for the characters that the
// standard folds into one.
TEST(QueryEncoder, WhatIsWrittenIsReadBack) {
  for (size_t i = 1; i < kEncodingCount; ++i) {
    auto encoding = static_cast<Encoding>(i);
    if (OutputEncoding(encoding) == Encoding::kUtf8) continue;
    size_t written = 0;
    for (char32_t c = 0xa0; c < 0x20000; ++c) {
      if (c >= 0xd800 && c <= 0xdfff) continue;
      bool folded = c == 0xa5 || c == 0x203e || c == 0x2212 ||
                    (c >= 0xff61 && c <= 0xff9f) ||
                    (c >= 0xe78d && c <= 0xe864);
      if (folded) continue;
      std::string utf8;
      url::AppendUtf8(c, &utf8);
      std::string bytes = Encode(encoding, utf8);
      if (bytes.starts_with("%26%23")) continue;
      ++written;
      ASSERT_EQ(DecodeToUtf8(encoding, bytes), utf8)
          << EncodingName(encoding) << ' ' << std::hex
          << static_cast<uint32_t>(c);
    }
    EXPECT_GT(written, 30u) << EncodingName(encoding);
  }
}

TEST(QueryEncoder, KeepsTheRulesOfTheStandard) {
  using E = Encoding;
  EXPECT_EQ(Encode(E::kGbk, "\xe2\x82\xac"), "\x80");
  EXPECT_EQ(Encode(E::kGb18030, "\xe2\x82\xac"), "\xa2\xe3");
  EXPECT_EQ(Encode(E::kGbk, "\xf0\x9f\x98\x80"), "%26%23128512%3B");
  EXPECT_EQ(Encode(E::kGb18030, "\xf0\x90\x80\x80"), "\x90\x30\x81\x30");
  EXPECT_EQ(Encode(E::kGb18030, "\xee\x9e\x8d\xef\xb8\x90"),
            "\xa6\xd9\xa6\xd9");
  EXPECT_EQ(Encode(E::kGb18030, "\xee\x9f\x87"), "\x81\x35\xf4\x37");
  EXPECT_EQ(Encode(E::kBig5, "\xe2\x95\x90\xe5\x8d\x81"), "\xf9\xf9\xa4\x51");
  EXPECT_EQ(Encode(E::kShiftJis, "\xc2\xa5\xe2\x80\xbe\xef\xbd\xb1"),
            "\\~\xb1");
  EXPECT_EQ(Encode(E::kShiftJis, "\xe7\xba\x8a"), "\xfa\x5c");
  EXPECT_EQ(Encode(E::kEucJp, "\xef\xbd\xb1\xe2\x88\x92"), "\x8e\xb1\xa1\xdd");
  EXPECT_EQ(Encode(E::kIso2022Jp,
                   "\xef\xbd\xb1"
                   "b\xf0\x9f\x98\x80"),
            "\x1b$B%\"\x1b(Bb%26%23128512%3B");
  EXPECT_EQ(Encode(E::kIso2022Jp, "\xe3\x81\x82\xf0\x9f\x98\x80"),
            "\x1b$B$\"\x1b(B%26%23128512%3B");
  EXPECT_EQ(Encode(E::kIso2022Jp, "\xe3\x81\x82"), "\x1b$B$\"\x1b(B");
  EXPECT_EQ(Encode(E::kUserDefined, "\xef\x9e\x80\xc3\xa4"),
            "\x80%26%23228%3B");
  EXPECT_EQ(Encode(E::kWindows1252, "a\xff"), "a%26%2365533%3B");
}

}  // namespace
}  // namespace nephila::parse
