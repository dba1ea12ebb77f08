#include "parse/encoding.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/conformance_testing.h"

namespace nephila::parse {
namespace {

TEST(Encoding, EveryLabelOfTheStandardIsKnown) {
  int labels = 0;
  std::set<Encoding> encodings;
  for (const auto& group : ReadTestJson("encoding-labels/encodings.json")) {
    for (const auto& encoding : group["encodings"]) {
      for (const auto& label : encoding["labels"]) {
        auto found = EncodingOfLabel(label.get<std::string>());
        ASSERT_TRUE(found.has_value()) << label;
        EXPECT_EQ(EncodingName(*found), encoding["name"].get<std::string>());
        encodings.insert(*found);
        ++labels;
      }
      // The name of each is one of its labels.
      EXPECT_TRUE(EncodingOfLabel(encoding["name"].get<std::string>()));
    }
  }
  EXPECT_EQ(labels, 228);
  EXPECT_EQ(encodings.size(), kEncodingCount);
}

TEST(Encoding, LabelsAreTrimmedAndCaseIsIgnored) {
  EXPECT_EQ(EncodingOfLabel(" \t\n\f\rUTF-8 "), Encoding::kUtf8);
  EXPECT_EQ(EncodingOfLabel("Latin1"), Encoding::kWindows1252);
  EXPECT_EQ(EncodingOfLabel(""), std::nullopt);
  EXPECT_EQ(EncodingOfLabel("\vutf-8"), std::nullopt);
  EXPECT_EQ(EncodingOfLabel("utf-8\xc2\xa0"), std::nullopt);
  EXPECT_EQ(EncodingOfLabel("utf-7"), std::nullopt);
  EXPECT_EQ(EncodingOfLabel(std::string(10000, 'a')), std::nullopt);
}

TEST(Encoding, KnowsWhichHaveAscii) {
  EXPECT_TRUE(IsAsciiCompatible(Encoding::kUtf8));
  EXPECT_TRUE(IsAsciiCompatible(Encoding::kShiftJis));
  EXPECT_FALSE(IsAsciiCompatible(Encoding::kUtf16Le));
  EXPECT_FALSE(IsAsciiCompatible(Encoding::kIso2022Jp));
  EXPECT_EQ(OutputEncoding(Encoding::kUtf16Be), Encoding::kUtf8);
  EXPECT_EQ(OutputEncoding(Encoding::kReplacement), Encoding::kUtf8);
  EXPECT_EQ(OutputEncoding(Encoding::kIso2022Jp), Encoding::kIso2022Jp);
}

TEST(Encoding, MeasuresRunsOfAscii) {
  for (size_t length = 0; length < 100; ++length) {
    std::string text(length, 'a');
    EXPECT_EQ(AsciiPrefix(text), length);
    for (size_t at = 0; at < length; ++at) {
      text[at] = '\x80';
      EXPECT_EQ(AsciiPrefix(text), at);
      text[at] = 'a';
    }
  }
}

}  // namespace
}  // namespace nephila::parse
