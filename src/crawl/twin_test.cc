// Random crawls of random webs, undisturbed and disturbed: the promises hold.
#include <gtest/gtest.h>

#include <utility>

#include "crawl/twin_testing.h"

namespace nephila::crawl {
namespace {

TEST(TwinTest, AnUndisturbedCrawlKeepsAllPromises) {
  const auto [begin, end] = TwinSeeds(0, 100);
  for (uint64_t seed = begin; seed < end; ++seed) {
    SCOPED_TRACE(testing::Message() << "NEPHILA_TWIN_SEED=" << seed);
    UndisturbedRequests(MakeTwinPlan(seed));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(TwinTest, ThirtyPages) {
  for (const auto profile : {config::Profile::kSite, config::Profile::kBroad}) {
    UndisturbedRequests(ThirtyPages(profile));
  }
}

}  // namespace
}  // namespace nephila::crawl
