// Random crawls of random webs, undisturbed and disturbed: the promises hold.
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "crawl/twin_testing.h"

namespace nephila::crawl {
namespace {

// The seeds of a test: `count` of them, or what the environment asks for,
// NEPHILA_TWIN_SEED=12 or NEPHILA_TWIN_SEED=1000-1999.
std::pair<uint64_t, uint64_t> Seeds(uint64_t count) {
  const char* asked = std::getenv("NEPHILA_TWIN_SEED");
  if (asked == nullptr) return {0, count};
  char* end = nullptr;
  const uint64_t first = std::strtoull(asked, &end, 10);
  const uint64_t last =
      *end == '-' ? std::strtoull(end + 1, nullptr, 10) : first;
  return {first, last + 1};
}

TEST(TwinTest, AnUndisturbedCrawlKeepsAllPromises) {
  const auto [begin, end] = Seeds(100);
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
