#include "url/percent.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::url {
namespace {

std::string Encoded(std::string_view text, EncodeSet set) {
  std::string out;
  AppendEncoded(text, set, &out);
  return out;
}

std::string Decoded(std::string_view text) {
  std::string out;
  AppendDecoded(text, &out);
  return out;
}

TEST(Percent, EachSetEncodesItsOwnCharacters) {
  constexpr std::string_view kAll = " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  EXPECT_EQ(Encoded(kAll, kC0Control), kAll);
  EXPECT_EQ(Encoded(kAll, kFragment),
            "%20!%22#$%&'()*+,-./:;%3C=%3E?@[\\]^_%60{|}~");
  EXPECT_EQ(Encoded(kAll, kQuery),
            "%20!%22%23$%&'()*+,-./:;%3C=%3E?@[\\]^_`{|}~");
  EXPECT_EQ(Encoded(kAll, kSpecialQuery),
            "%20!%22%23$%&%27()*+,-./:;%3C=%3E?@[\\]^_`{|}~");
  EXPECT_EQ(Encoded(kAll, kPath),
            "%20!%22%23$%&'()*+,-./:;%3C=%3E%3F@[\\]%5E_%60%7B|%7D~");
  EXPECT_EQ(Encoded(kAll, kUserinfo),
            "%20!%22%23$%&'()*+,-.%2F%3A%3B%3C%3D%3E%3F%40%5B%5C%5D%5E_%60%7B"
            "%7C%7D~");
}

TEST(Percent, ControlsAndNonAsciiAreAlwaysEncoded) {
  for (EncodeSet set :
       {kC0Control, kFragment, kQuery, kSpecialQuery, kPath, kUserinfo}) {
    EXPECT_EQ(Encoded(std::string_view("\0\x1f\x7f", 3), set), "%00%1F%7F");
    EXPECT_EQ(Encoded("\xc3\xa9\xf0\x9f\x92\xa9", set), "%C3%A9%F0%9F%92%A9");
  }
}

TEST(Percent, BrokenUtf8BecomesOneReplacementPerMaximalSubpart) {
  constexpr std::string_view kBad = "%EF%BF%BD";
  auto times = [&](int n) {
    std::string text;
    while (n-- > 0) text += kBad;
    return text;
  };
  EXPECT_EQ(Encoded("\xff", kPath), times(1));
  EXPECT_EQ(Encoded("\x80\x80", kPath), times(2));
  EXPECT_EQ(Encoded("\xc0\xaf", kPath), times(2));  // overlong
  EXPECT_EQ(Encoded("\xe2\x80", kPath), times(1));  // cut off
  EXPECT_EQ(Encoded("\xe2\x80x", kPath), times(1) + "x");
  EXPECT_EQ(Encoded("\xed\xa0\x80", kPath), times(3));  // a surrogate
  EXPECT_EQ(Encoded("\xf4\x90\x80\x80", kPath), times(4));
  EXPECT_EQ(Encoded("\xf0\x9f\x92", kPath), times(1));
}

TEST(Percent, DecodingLeavesWhatIsNoEscape) {
  EXPECT_EQ(Decoded("%41%zz%4%%41%"), "A%zz%4%A%");
  EXPECT_EQ(Decoded("%e2%98%83"), "\xe2\x98\x83");
  EXPECT_EQ(Decoded("%00"), std::string(1, '\0'));
}

TEST(Percent, EveryCodePointSurvivesWritingAndReading) {
  for (char32_t c = 0; c <= 0x10ffff; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    std::string text;
    AppendUtf8(c, &text);
    size_t pos = 0;
    ASSERT_EQ(ReadUtf8(text, &pos), c);
    ASSERT_EQ(pos, text.size());
  }
}

}  // namespace
}  // namespace nephila::url
