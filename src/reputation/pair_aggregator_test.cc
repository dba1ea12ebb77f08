#include "reputation/pair_aggregator.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "base/random.h"

namespace nephila::reputation {
namespace {

using url::PldKey;

TEST(PairAggregator, KeepsEachPairOnceInItsOrder) {
  PairAggregator pairs(100'000);
  Random random(3);
  std::set<std::pair<uint64_t, uint64_t>> known;
  std::vector<DomainPair> expected;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t from = random.Below(300);
    const uint64_t to = random.Below(300);
    ASSERT_TRUE(pairs.Add(PldKey{from}, PldKey{to}));
    if (from != to && known.insert({from, to}).second) {
      expected.push_back({PldKey{from}, PldKey{to}});
    }
  }
  EXPECT_EQ(std::vector<DomainPair>(pairs.pairs().begin(), pairs.pairs().end()),
            expected);
}

TEST(PairAggregator, IsFullForWhatIsNewAlone) {
  PairAggregator pairs(2);
  EXPECT_TRUE(pairs.Add(PldKey{1}, PldKey{2}));
  EXPECT_TRUE(pairs.Add(PldKey{2}, PldKey{1}));
  EXPECT_FALSE(pairs.Add(PldKey{1}, PldKey{3}));
  EXPECT_TRUE(pairs.Add(PldKey{1}, PldKey{2}));
  EXPECT_TRUE(pairs.Add(PldKey{4}, PldKey{4}));
  EXPECT_EQ(pairs.pairs().size(), 2U);
  pairs.Clear();
  EXPECT_TRUE(pairs.pairs().empty());
  EXPECT_TRUE(pairs.Add(PldKey{1}, PldKey{3}));
}

TEST(PairAggregator, MergesWhatFits) {
  PairAggregator one(3);
  PairAggregator other(3);
  one.Add(PldKey{1}, PldKey{2});
  one.Add(PldKey{1}, PldKey{3});
  other.Add(PldKey{1}, PldKey{2});
  other.Add(PldKey{5}, PldKey{6});
  other.Add(PldKey{7}, PldKey{8});
  EXPECT_EQ(one.Merge(other.pairs()), 2U);
  EXPECT_EQ(one.pairs().size(), 3U);
  EXPECT_EQ(one.pairs()[2], (DomainPair{PldKey{5}, PldKey{6}}));
}

}  // namespace
}  // namespace nephila::reputation
