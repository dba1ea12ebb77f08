#include "reputation/top_k.h"

#include <gtest/gtest.h>

#include <string>

#include "config/settings.h"

namespace nephila::reputation {
namespace {

TEST(TopK, IsANumberOrAShare) {
  EXPECT_EQ(TopK::Parse("10000")->Of(5), 10'000U);
  EXPECT_EQ(TopK::Parse("0.01%")->Of(89'700'000), 8970U);
  EXPECT_EQ(TopK::Parse("100%")->Of(7), 7U);
  EXPECT_EQ(TopK::Parse("1%")->Of(3), 1U);
  EXPECT_EQ(TopK::Parse("1%")->Of(0), 1U);
}

TEST(TopK, RefusesAnythingElse) {
  for (const char* text : {"", "0", "-1", "x", "10x", "0%", "101%", "%", "nan%",
                           "1 %", "99999999999999", "1e3"}) {
    const auto parsed = TopK::Parse(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(TopK, TheDefaultIsThePapers) {
  EXPECT_EQ(TopK::Parse(config::ReputationSettings().top_k)->Of(1), 10'000U);
}

}  // namespace
}  // namespace nephila::reputation
