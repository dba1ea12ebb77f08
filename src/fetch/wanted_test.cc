#include "fetch/wanted.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nephila::fetch {
namespace {

TEST(Wanted, TakesAllUnlessToldOtherwise) {
  EXPECT_EQ(Wanted().Check("image/png", 1ULL << 60), WantedVerdict::kTake);
}

TEST(Wanted, TypesAreComparedWithoutCaseAndParameters) {
  const std::vector<std::string> types = {"Text/*", "application/pdf"};
  const auto wanted = Wanted::Make(types, 0);
  ASSERT_TRUE(wanted.has_value());
  for (const std::string_view type :
       {"text/html", "TEXT/plain;charset=x", " text/x ; a=b", "application/PDF",
        "", "garbage", ";"}) {
    EXPECT_EQ(wanted->Check(type, {}), WantedVerdict::kTake) << type;
  }
  for (const std::string_view type :
       {"image/png", "application/pdfx", "application/pd", "textx/html"}) {
    EXPECT_EQ(wanted->Check(type, {}), WantedVerdict::kType) << type;
  }
}

TEST(Wanted, LengthsBeyondTheBound) {
  const auto wanted = Wanted::Make({}, 100);
  ASSERT_TRUE(wanted.has_value());
  EXPECT_EQ(wanted->Check("a/b", 100), WantedVerdict::kTake);
  EXPECT_EQ(wanted->Check("a/b", 101), WantedVerdict::kLength);
  EXPECT_EQ(wanted->Check("a/b", std::nullopt), WantedVerdict::kTake);
}

TEST(Wanted, RefusesTypesThatAreNone) {
  for (const std::string& type :
       {std::string(), std::string("text"), std::string("/html"),
        std::string("text/"), std::string("*/*"), std::string("a/b/c"),
        std::string("text/html; q=1")}) {
    const std::vector<std::string> types = {type};
    const auto wanted = Wanted::Make(types, 0);
    ASSERT_FALSE(wanted.has_value()) << type;
    EXPECT_TRUE(wanted.error().message.starts_with("fetch.accept_types: "));
  }
}

}  // namespace
}  // namespace nephila::fetch
