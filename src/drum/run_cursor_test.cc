#include <string>
#include <vector>

#include "drum/run.h"
#include "drum/run_testing.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

using RunCursorTest = RunTest;

TEST_F(RunCursorTest, RangesAndSeeksAgreeWithAMap) {
  Random random(1);
  const Records records = RandomRecords(random, 20000, kVariableValues, 0.2);
  const auto run = *Open(Write(records, kVariableValues), kVariableValues);
  std::vector<uint64_t> keys;
  for (const auto& [key, value] : records) keys.push_back(key);
  const auto any_key = [&] {
    return random.Chance(0.5) ? keys[random.Below(keys.size())] : random.Next();
  };
  for (int round = 0; round < 300; ++round) {
    uint64_t first = any_key();
    uint64_t last = any_key();
    if (first > last && !random.Chance(0.1)) std::swap(first, last);
    RunCursor cursor(run, first, last, random.Below(400000));
    auto want = records.lower_bound(first);
    const auto end = first > last ? want : records.upper_bound(last);
    ASSERT_TRUE(cursor.SeekTo(first).has_value());
    while (want != end) {
      ASSERT_FALSE(cursor.AtEnd());
      ASSERT_EQ(cursor.key(), want->first);
      ASSERT_EQ(cursor.is_tombstone(), !want->second.has_value());
      ASSERT_EQ(cursor.value(), want->second.value_or(""));
      if (random.Chance(0.7)) {
        ASSERT_TRUE(cursor.Next().has_value());
        ++want;
      } else {
        // Near and far, back too: it stays then.
        const uint64_t key = random.Chance(0.5)
                                 ? any_key()
                                 : want->first + (random.Next() >> 16);
        ASSERT_TRUE(cursor.SeekTo(key).has_value());
        while (want != end && want->first < key) ++want;
      }
    }
    ASSERT_TRUE(cursor.AtEnd());
  }
}

TEST_F(RunCursorTest, KeysOfBlocksAgreeWithAMap) {
  Random random(2);
  const Records records = RandomRecords(random, 100000, kNoValues, 0.01);
  const auto run = *Open(Write(records, kNoValues), kNoValues);
  for (int round = 0; round < 100; ++round) {
    uint64_t first = random.Chance(0.2) ? 0 : random.Next();
    uint64_t last = random.Chance(0.2) ? kMaxKey : random.Next();
    if (first > last) std::swap(first, last);
    RunCursor cursor(run, first, last);
    uint64_t min_key = 0;
    // Every key asked for that is in range must come, once.
    auto want = records.lower_bound(first);
    while (true) {
      const auto block = *cursor.NextKeys(min_key);
      if (block.empty()) break;
      EXPECT_GE(block.front(), first);
      EXPECT_LE(block.back(), last);
      while (want->first < block.front()) {
        ASSERT_LT(want->first, min_key);
        ++want;
      }
      for (const uint64_t key : block) {
        ASSERT_EQ(key, want->first);
        ++want;
      }
      min_key = block.back();
      if (random.Chance(0.5)) min_key += random.Next() >> 4;
      if (min_key < block.back()) min_key = kMaxKey;
    }
    while (want != records.end() && want->first < min_key) ++want;
    EXPECT_TRUE(want == records.end() || want->first > last);
  }
}

TEST_F(RunCursorTest, NeighboursAreReadTogetherAndOthersNotAtAll) {
  Random random(3);
  const Records records = RandomRecords(random, 30000, FixedValues(56), 0);
  const RunInfo info = Write(records, FixedValues(56));
  const auto run = *Open(info, FixedValues(56));
  const auto index = run->index();
  ASSERT_GT(index.size(), 20U);

  counts_.bytes_read = 0;
  RunCursor all(run, 0, kMaxKey);
  ASSERT_TRUE(all.SeekTo(0).has_value());
  EXPECT_EQ(counts_.bytes_read, 4 * kRunBlockBytes);
  ASSERT_TRUE(ReadAll(all).has_value());
  EXPECT_EQ(counts_.bytes_read, info.index.offset);

  // One key in a late block, then another far from it.
  counts_.bytes_read = 0;
  RunCursor cursor(run, 0, kMaxKey, 1);
  ASSERT_TRUE(cursor.SeekTo(index[7].first_key).has_value());
  EXPECT_EQ(cursor.key(), index[7].first_key);
  ASSERT_TRUE(cursor.SeekTo(index[15].first_key + 1).has_value());
  EXPECT_EQ(counts_.bytes_read, 2 * kRunBlockBytes);

  // A jump takes the read ahead back to one block.
  counts_.bytes_read = 0;
  RunCursor jumper(run, 0, kMaxKey);
  ASSERT_TRUE(jumper.SeekTo(0).has_value());
  ASSERT_TRUE(jumper.SeekTo(index[9].first_key).has_value());
  EXPECT_EQ(counts_.bytes_read, 5 * kRunBlockBytes);
  ASSERT_TRUE(jumper.SeekTo(index[10].first_key).has_value());
  EXPECT_EQ(counts_.bytes_read, 7 * kRunBlockBytes);

  // Nothing of a block that begins behind the range is read.
  counts_.bytes_read = 0;
  RunCursor narrow(run, index[3].first_key, index[4].first_key - 1);
  ASSERT_TRUE(ReadAll(narrow).has_value());
  EXPECT_EQ(counts_.bytes_read, kRunBlockBytes);
}

TEST_F(RunCursorTest, AnEmptyRangeReadsNothing) {
  const auto run = *Open(Write({{5, ""}, {9, ""}}, kNoValues), kNoValues);
  counts_.bytes_read = 0;
  RunCursor before(run, 0, 4);
  ASSERT_TRUE(before.SeekTo(0).has_value());
  EXPECT_TRUE(before.AtEnd());
  EXPECT_TRUE(before.NextKeys(0)->empty());
  EXPECT_EQ(counts_.bytes_read, 0U);
  RunCursor between(run, 6, 8);
  ASSERT_TRUE(between.SeekTo(0).has_value());
  EXPECT_TRUE(between.AtEnd());
  RunCursor behind(run, 10, kMaxKey);
  EXPECT_TRUE(behind.NextKeys(0)->empty());
}

}  // namespace
}  // namespace nephila::drum
