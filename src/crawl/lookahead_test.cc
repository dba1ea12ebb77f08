#include "crawl/lookahead.h"

#include <gtest/gtest.h>

namespace nephila::crawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

MonoTime At(milliseconds time) { return MonoTime(seconds(100) + time); }

// 1 000 URLs a second for two seconds.
Lookahead Running() {
  Lookahead lookahead;
  for (int i = 0; i <= 20; ++i) lookahead.Given(100, At(milliseconds(100 * i)));
  return lookahead;
}

TEST(LookaheadTest, TakesNothingAheadWhilePassesTakeNoTime) {
  EXPECT_EQ(Running().Urls(milliseconds(0)), 0U);
  EXPECT_EQ(Lookahead().Urls(seconds(10)), 0U);
}

TEST(LookaheadTest, TakesWhatIsGivenOutInTwiceTheTimeOfAPass) {
  EXPECT_NEAR(static_cast<double>(Running().Urls(seconds(4))), 8000, 800);
}

TEST(LookaheadTest, ForgetsHowFastItWas) {
  Lookahead lookahead = Running();
  lookahead.Given(0, At(seconds(3)));
  lookahead.Given(0, At(seconds(5)));
  EXPECT_EQ(lookahead.Urls(seconds(4)), 0U);
}

TEST(LookaheadTest, IsBounded) {
  EXPECT_EQ(Running().Urls(seconds(100'000)), 200'000U);
}

}  // namespace
}  // namespace nephila::crawl
