#include "base/pair_sorter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/random.h"

namespace nephila {
namespace {

using Pair = PairSorter::Pair;

std::vector<Pair> Sorted(PairSorter& sorter) {
  std::vector<Pair> pairs;
  MustDo(sorter.Merge([&](const Pair& pair) { pairs.push_back(pair); }));
  return pairs;
}

TEST(PairSorter, SortsTheSameInMemoryAndByWayOfRuns) {
  MemoryFileSystem fs;
  MustDo(fs.MakeDir("scratch"));
  Random random(1);
  std::vector<Pair> expected;
  PairSorter small(fs, "scratch", "small", 1 << 20);
  {
    PairSorter large(fs, "scratch", "large", 100 * sizeof(Pair));
    for (uint64_t i = 0; i < 20'030; ++i) {
      const Pair pair{random.Below(1000), i};
      expected.push_back(pair);
      MustDo(small.Add(pair));
      MustDo(large.Add(pair));
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(Sorted(large), expected);
    EXPECT_EQ(large.runs(), 201U);
  }
  EXPECT_EQ(Sorted(small), expected);
  EXPECT_EQ(small.runs(), 0U);
  EXPECT_TRUE(Names(fs, "scratch").empty());
}

TEST(PairSorter, NothingIsSortedToo) {
  MemoryFileSystem fs;
  PairSorter sorter(fs, "scratch", "sort", 100);
  EXPECT_TRUE(Sorted(sorter).empty());
}

}  // namespace
}  // namespace nephila
