#include "item/fetch_outcome.h"

#include <gtest/gtest.h>

#include <set>

namespace nephila::item {
namespace {

TEST(FetchOutcomeTest, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (uint8_t i = 0; i < kFetchOutcomes; ++i) {
    names.insert(FetchOutcomeName(static_cast<FetchOutcome>(i)));
  }
  EXPECT_EQ(names.size(), kFetchOutcomes);
  EXPECT_EQ(FetchOutcomeName(FetchOutcome::kResponse), "response");
  EXPECT_EQ(FetchOutcomeName(FetchOutcome::kInternalError), "internal-error");
}

}  // namespace
}  // namespace nephila::item
