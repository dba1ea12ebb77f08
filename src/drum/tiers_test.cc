#include "drum/tiers.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

size_t Fold(const std::vector<uint64_t>& run_bytes, uint64_t new_bytes) {
  return RunsToFold(run_bytes, new_bytes);
}

// Points far from the limit: how much larger a run may be is a matter of
// tuning.
TEST(TiersTest, ARunIsFoldedWhenWhatIsNewIsAsLarge) {
  EXPECT_EQ(Fold({}, 10), 0U);
  EXPECT_EQ(Fold({20}, 10), 0U);
  EXPECT_EQ(Fold({10}, 10), 1U);
  EXPECT_EQ(Fold({9, 100}, 10), 1U);
  // 10 and 10 make 20, and so on.
  EXPECT_EQ(Fold({10, 20, 40, 80}, 10), 4U);
  EXPECT_EQ(Fold({10, 20, 81, 80}, 10), 2U);
  // A large one shields small ones behind it.
  EXPECT_EQ(Fold({50, 1, 1}, 10), 0U);
  EXPECT_EQ(Fold({1, 2, 3}, 0), 0U);
  EXPECT_EQ(Fold({0, 1}, 0), 1U);
}

TEST(TiersTest, MoreThanTheMostRunsAreFoldedWhateverTheirSizes) {
  std::vector<uint64_t> run_bytes;
  for (size_t i = 0; i + 1 < kMostRuns; ++i)
    run_bytes.push_back(uint64_t{1000} << i);
  EXPECT_EQ(Fold(run_bytes, 1), 0U);
  run_bytes.push_back(uint64_t{1000} << 40);
  EXPECT_EQ(Fold(run_bytes, 1), 1U);
  run_bytes.push_back(uint64_t{1000} << 41);
  EXPECT_EQ(Fold(run_bytes, 1), 2U);
}

struct Simulation {
  size_t most_runs = 0;
  uint64_t total = 0;
  uint64_t written = 0;
  uint64_t most_rewrites = 0;
};

// Passes that each add what `next_bytes` says, with the rewrites of the
// bytes of each pass counted. A run remembers its pass with the most.
template <typename NextBytes>
Simulation Simulate(int passes, NextBytes next_bytes) {
  struct Tier {
    uint64_t bytes;
    uint64_t rewrites;
  };
  std::vector<Tier> runs;  // newest last
  Simulation result;
  for (int pass = 0; pass < passes; ++pass) {
    std::vector<uint64_t> sizes;
    for (size_t i = runs.size(); i-- > 0;) sizes.push_back(runs[i].bytes);
    const uint64_t bytes = next_bytes();
    Tier written{bytes, 0};
    const size_t folded = RunsToFold(sizes, bytes);
    EXPECT_LE(folded, runs.size());
    for (size_t i = 0; i < folded; ++i) {
      written.bytes += runs.back().bytes;
      written.rewrites = std::max(written.rewrites, runs.back().rewrites + 1);
      runs.pop_back();
    }
    runs.push_back(written);
    result.total += bytes;
    result.written += written.bytes;
    result.most_runs = std::max(result.most_runs, runs.size());
    result.most_rewrites = std::max(result.most_rewrites, written.rewrites);
  }
  return result;
}

TEST(TiersTest, EqualPassesHaveAsManyRunsAndRewritesAsDoublings) {
  // 2^11 passes fit below kMostRuns, more meet the bound.
  for (const int passes : {10, 100, 1000, 2000, 10'000}) {
    const Simulation result = Simulate(passes, [] { return 1000; });
    const double doublings = std::log2(passes);
    EXPECT_LE(result.most_runs, kMostRuns);
    EXPECT_LE(static_cast<double>(result.most_runs), doublings + 1) << passes;
    EXPECT_GE(static_cast<double>(result.most_runs), doublings - 2) << passes;
    EXPECT_LE(static_cast<double>(result.most_rewrites), doublings + 2)
        << passes;
  }
}

TEST(TiersTest, UnevenPassesKeepTheBoundsToo) {
  Random random(1);
  const Simulation result =
      Simulate(10'000, [&] { return 500 + random.Below(1000); });
  EXPECT_LE(result.most_runs, kMostRuns);
  // The mean over bytes: no key is written more often than there are doublings.
  EXPECT_LE(
      static_cast<double>(result.written) / static_cast<double>(result.total),
      std::log2(10'000) + 2);
}

// A crawl's passes bring ever fewer new keys: each run is smaller than all
// that is older, nothing is folded for its size, and the bound alone holds.
TEST(TiersTest, ShrinkingPassesStayWithinTheMostRuns) {
  double bytes = 1e15;
  const Simulation result =
      Simulate(200, [&] { return static_cast<uint64_t>(bytes = bytes * 0.9); });
  EXPECT_LE(result.most_runs, kMostRuns);
}

}  // namespace
}  // namespace nephila::drum
