#include "drum/run_merger.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "drum/run_testing.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

using RunMergerTest = RunTest;

TEST_F(RunMergerTest, TheNewestRecordOfAKeyWins) {
  Random random(1);
  for (const size_t sources : {0U, 1U, 2U, 3U, 7U, 16U}) {
    Records merged;
    std::vector<std::shared_ptr<const drum::Run>> runs;
    for (size_t i = 0; i < sources; ++i) {
      Records records = RandomRecords(random, random.Below(3000),
                                      kVariableValues, 0.2, 0xfff);
      // The ends of all keys meet as well.
      if (random.Chance(0.5)) records[kMaxKey] = std::to_string(i);
      const std::string path = "store/" + std::to_string(i);
      runs.push_back(
          *Open(Write(records, kVariableValues, path), kVariableValues, path));
      ASSERT_TRUE(fs_.Remove(path).has_value());
      // The oldest came first into `runs` last: what is there is newer.
      merged.merge(std::move(records));
    }
    for (const uint64_t from : {uint64_t{0}, uint64_t{1000}, kMaxKey}) {
      std::vector<std::unique_ptr<RecordSource>> cursors;
      cursors.reserve(runs.size());
      for (const auto& run : runs) {
        cursors.push_back(std::make_unique<RunCursor>(run, 0, kMaxKey));
      }
      RunMerger merger(std::move(cursors));
      EXPECT_TRUE(*ReadAll(merger, from) ==
                  Records(merged.lower_bound(from), merged.end()))
          << sources << " from " << from;
    }
  }
}

TEST_F(RunMergerTest, SeeksGoForward) {
  std::vector<std::unique_ptr<RecordSource>> cursors;
  for (const char* path : {"store/new", "store/old"}) {
    const Records records =
        path == std::string("store/new")
            ? Records{{1, "n1"}, {5, {}}, {9, "n9"}}
            : Records{{2, "o2"}, {5, "o5"}, {7, "o7"}, {9, "o9"}};
    cursors.push_back(std::make_unique<RunCursor>(
        *Open(Write(records, kVariableValues, path), kVariableValues, path), 0,
        kMaxKey));
  }
  RunMerger merger(std::move(cursors));
  EXPECT_TRUE(merger.AtEnd());
  ASSERT_TRUE(merger.SeekTo(3).has_value());
  EXPECT_EQ(merger.key(), 5U);
  EXPECT_TRUE(merger.is_tombstone());
  ASSERT_TRUE(merger.SeekTo(2).has_value());
  EXPECT_EQ(merger.key(), 5U);
  ASSERT_TRUE(merger.Next().has_value());
  EXPECT_EQ(merger.value(), "o7");
  ASSERT_TRUE(merger.SeekTo(8).has_value());
  EXPECT_EQ(merger.value(), "n9");
  ASSERT_TRUE(merger.Next().has_value());
  EXPECT_TRUE(merger.AtEnd());
}

}  // namespace
}  // namespace nephila::drum
