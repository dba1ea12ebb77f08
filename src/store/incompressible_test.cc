#include "store/incompressible.h"

#include <gtest/gtest.h>

#include "store/store_testing.h"

namespace nephila::store {
namespace {

std::string Html() {
  std::string html;
  for (int i = 0; html.size() < 8000; ++i) {
    html += "<p>paragraph " + std::to_string(i) + " of a page</p>\n";
  }
  return html;
}

TEST(IncompressibleTest, WhatCameCompressedIsNotCompressedAgain) {
  const std::string noise = Noise(8000, 1);
  EXPECT_TRUE(LooksIncompressible("text/html", "gzip", noise));
  EXPECT_TRUE(LooksIncompressible("text/html; charset=utf-8", "BR", noise));
  EXPECT_TRUE(LooksIncompressible("image/jpeg", "", noise));
  EXPECT_TRUE(LooksIncompressible("IMAGE/PNG", "", noise));
  EXPECT_TRUE(LooksIncompressible("font/woff2", "", noise));
  EXPECT_TRUE(LooksIncompressible("application/zip", "identity", noise));
}

TEST(IncompressibleTest, BytesThatLookRandomNeedNoHead) {
  EXPECT_TRUE(LooksIncompressible("", "", Noise(8000, 2)));
  EXPECT_TRUE(
      LooksIncompressible("application/octet-stream", "", Noise(2000, 3)));
  EXPECT_TRUE(LooksIncompressible("text/html", "", Noise(8000, 4)));
}

TEST(IncompressibleTest, TextIsCompressedWhateverTheHeadSays) {
  EXPECT_FALSE(LooksIncompressible("text/html", "", Html()));
  EXPECT_FALSE(LooksIncompressible("text/html", "gzip", Html()));
  EXPECT_FALSE(LooksIncompressible("image/png", "", Html()));
}

TEST(IncompressibleTest, TextOfAnyScriptIsCompressed) {
  std::string text;
  for (int i = 0; text.size() < 8000; ++i) {
    // Cyrillic and Han letters in UTF-8, in no simple order.
    const auto n = static_cast<unsigned>(i * 7919);
    text += {static_cast<char>(0xD0), static_cast<char>(0x90 + n % 48)};
    text += {static_cast<char>(0xE4 + n % 5), static_cast<char>(0x80 + n % 61),
             static_cast<char>(0x80 + n % 59)};
  }
  EXPECT_FALSE(LooksIncompressible("text/html", "", text));
  EXPECT_FALSE(LooksIncompressible("", "", text));
}

TEST(IncompressibleTest, ImagesThatAreNotCompressedAre) {
  // Half of it flat, as bitmaps are.
  const std::string bitmap = Noise(600, 5) + std::string(8000, '\xFF');
  EXPECT_FALSE(LooksIncompressible("image/bmp", "", bitmap));
}

TEST(IncompressibleTest, FewBytesAreNotWorthTheQuestion) {
  EXPECT_FALSE(LooksIncompressible("image/png", "", Noise(500, 6)));
  EXPECT_FALSE(LooksIncompressible("image/png", "gzip", ""));
}

}  // namespace
}  // namespace nephila::store
