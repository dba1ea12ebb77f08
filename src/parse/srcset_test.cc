#include "parse/srcset.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nephila::parse {
namespace {

std::vector<std::string> Urls(std::string_view value) {
  std::vector<std::string> urls;
  SrcsetReader reader(value);
  for (SrcsetCandidate c; reader.Next(&c);) urls.emplace_back(c.url);
  return urls;
}

using List = std::vector<std::string>;

TEST(Srcset, ReadsUrlsAndDescriptors) {
  SrcsetReader reader("a.jpg 640w 480h, b.jpg 1.5x , c.jpg");
  SrcsetCandidate c;
  ASSERT_TRUE(reader.Next(&c));
  EXPECT_EQ(c.url, "a.jpg");
  EXPECT_EQ(c.width, 640u);
  EXPECT_EQ(c.height, 480u);
  ASSERT_TRUE(reader.Next(&c));
  EXPECT_EQ(c.url, "b.jpg");
  EXPECT_EQ(c.width, 0u);
  EXPECT_EQ(c.density, 1.5);
  ASSERT_TRUE(reader.Next(&c));
  EXPECT_EQ(c.url, "c.jpg");
  EXPECT_EQ(c.density, 1);
  EXPECT_FALSE(reader.Next(&c));
  EXPECT_FALSE(reader.Next(&c));
  EXPECT_EQ(reader.refused(), 0u);
}

TEST(Srcset, KeepsCommasInsideUrls) {
  EXPECT_EQ(Urls("/w_1,h_2/a.jpg 1x, /w_3,h_4/b.jpg 2x"),
            (List{"/w_1,h_2/a.jpg", "/w_3,h_4/b.jpg"}));
  EXPECT_EQ(Urls("a.jpg,b.jpg"), (List{"a.jpg,b.jpg"}));
  EXPECT_EQ(Urls("data:,a, data:,b"), (List{"data:,a", "data:,b"}));
  EXPECT_EQ(Urls("a,,, b"), (List{"a", "b"}));
}

// The cases of web-platform-tests' parse-a-srcset-attribute, as facts: which
// values have a candidate at all.
TEST(Srcset, SplitsAsTheStandardsTestsDo) {
  for (std::string_view none : {"", ",", ",,,", "data:,a (, data:,b"}) {
    EXPECT_EQ(Urls(none), List{}) << none;
  }
  for (std::string_view one : {"  data:,a  1x  ",
                               "\t\tdata:,a\t\t1x\t\t",
                               "\n\ndata:,a\n\n1x\n\n",
                               "\f\fdata:,a\f\f1x\f\f",
                               "\r\rdata:,a\r\r1x\r\r",
                               "data:,a",
                               "data:,a ",
                               "data:,a ,",
                               "data:,a,",
                               "data:,a, ",
                               "data:,a,,,",
                               "data:,a,, , ",
                               " data:,a",
                               ",,,data:,a",
                               " , ,,data:,a",
                               "data:,a 1x,",
                               "data:,a, data:,b (",
                               "data:,a, data:,b (  ",
                               "data:,a, data:,b (,",
                               "data:,a, data:,b (x",
                               "data:,a, data:,b ()"}) {
    EXPECT_EQ(Urls(one), List{"data:,a"}) << one;
  }
  EXPECT_EQ(Urls("\v\vdata:,a\v\v1x\v\v"), List{"\v\vdata:,a\v\v1x\v\v"});
  EXPECT_EQ(Urls("data:,a ( , data:,b 1x, ), data:,c"), List{"data:,c"});
  EXPECT_EQ(Urls("data:,a ((( , data:,b 1x, ), data:,c"), List{"data:,c"});
  EXPECT_EQ(Urls("data:,a [ , data:,b 1x, ], data:,c"),
            (List{"data:,b", "]", "data:,c"}));
  EXPECT_EQ(Urls("data:,a \\,data:;\\,b, data:,c"),
            (List{"data:;\\,b", "data:,c"}));
  EXPECT_EQ(Urls("data:,a /*, data:,b, data:,c */"), List{"data:,b"});
}

TEST(Srcset, TakesTheDescriptorsThatTheStandardTakes) {
  for (std::string_view good :
       {"1w 1h", "1h 1w", "0x", "-0x", "1e0x", "1E0x", "1e-1x", "1.5e1x", ".5x",
        ".5e1x", "1.0x", "1x", "99999999999999999999999w", "1e999x"}) {
    EXPECT_EQ(Urls("data:,a " + std::string(good)), List{"data:,a"}) << good;
  }
}

TEST(Srcset, RefusesTheDescriptorsThatTheStandardRefuses) {
  for (std::string_view bad :
       {"foo",    "foo 1x", "1x foo",  "1x 1x",     "1w 1w",    "1w 1x",
        "1x 1w",  "1h 1h",  "1h 1x",   "1h 1w 1x",  "1x 1w 1h", "1h",
        "1h foo", "0w",     "-1w",     "1.0w",      "1e0w",     "1www",
        "+1w",    "1W",     "NaNw",    "0x1w",      "1\x01w",   "1\xc2\xa0w",
        "1x -0x", "-1x",    "-x",      ".x",        "-.x",      "1.x",
        "1e1.5x", "+1x",    "1X",      "Infinityx", "1ex",      "1e+x",
        "1w 0h",  "1w -1h", "1w 1.0h", "1w 1hhh",   "1w 1H",    "x"}) {
    EXPECT_EQ(Urls("data:,a " + std::string(bad)), List{}) << bad;
    EXPECT_EQ(Urls("data:,a " + std::string(bad) + ", data:,b"),
              List{"data:,b"})
        << bad;
  }
}

TEST(Srcset, CountsWhatItRefuses) {
  SrcsetReader reader("a foo, b 1x, c bar");
  SrcsetCandidate c;
  ASSERT_TRUE(reader.Next(&c));
  EXPECT_EQ(c.url, "b");
  EXPECT_FALSE(reader.Next(&c));
  EXPECT_EQ(reader.refused(), 2u);
}

}  // namespace
}  // namespace nephila::parse
