#include "report/sum_table.h"

#include <gtest/gtest.h>

#include <map>

#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/random.h"

namespace nephila::report {
namespace {

using Expected = std::map<uint64_t, Sums>;

class SumTableTest : public testing::Test {
 protected:
  SumTableTest() { MustDo(fs_.MakeDir("scratch")); }

  // So many additions to about half as many keys; how many runs it took.
  size_t AddAndCompare(size_t count, uint64_t memory_bytes) {
    SumTable table(fs_, "scratch", "hosts", memory_bytes);
    Expected expected;
    Random random(count);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t key = random.Next() % (count / 2) * 0x9E3779B97F4A7C15;
      const Sums sums{1, i, i % 3, 7};
      MustDo(table.Add(key, sums));
      expected[key].Add(sums);
    }
    Expected merged;
    uint64_t last = 0;
    MustDo(table.Merge([&](uint64_t key, const Sums& sums) -> Status {
      EXPECT_TRUE(merged.empty() || key > last);
      last = key;
      merged[key] = sums;
      return {};
    }));
    EXPECT_EQ(merged, expected);
    return table.runs();
  }

  MemoryFileSystem fs_;
};

TEST_F(SumTableTest, WhatFitsIntoMemoryStaysThere) {
  EXPECT_EQ(AddAndCompare(1000, uint64_t{1} << 20), 0U);
}

// The same memory, ten times the keys: only the files are more.
TEST_F(SumTableTest, WhatDoesNotFitIsMergedFromRuns) {
  constexpr uint64_t kMemory = 64 << 10;
  const size_t few = AddAndCompare(4000, kMemory);
  const size_t many = AddAndCompare(40'000, kMemory);
  EXPECT_GE(few, 2U);
  EXPECT_GE(many, 8 * few);
}

TEST_F(SumTableTest, ScratchIsRemoved) {
  AddAndCompare(4000, 1);
  EXPECT_TRUE(Names(fs_, "scratch").empty());
}

TEST_F(SumTableTest, AScratchThatIsNotThereIsNamed) {
  SumTable table(fs_, "gone", "hosts", 1);
  EXPECT_FAILS(table.Add(1, {}), kNotFound, "gone/hosts-0");
}

}  // namespace
}  // namespace nephila::report
