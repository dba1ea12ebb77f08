#include "drum/memory_run.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "drum/run_testing.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

MemoryRun MakeRun(const Records& records, ValueFormat format) {
  MemoryRun run(format);
  for (const auto& [key, value] : records) {
    if (value) {
      run.Add(key, *value);
    } else {
      run.AddTombstone(key);
    }
  }
  return run;
}

Records RecordsOf(const MemoryRun& run) {
  Records records;
  for (size_t i = 0; i < run.records(); ++i) {
    if (run.is_tombstone(i)) {
      EXPECT_EQ(run.value(i), "");
      records[run.keys()[i]] = std::nullopt;
    } else {
      records[run.keys()[i]] = run.value(i);
    }
  }
  return records;
}

double TombstonesOf(ValueFormat format) {
  return format.kind == ValueKind::kNone ? 0 : 0.2;
}

const ValueFormat kFormats[] = {kNoValues, FixedValues(0), FixedValues(8),
                                kVariableValues};

TEST(MemoryRunTest, RecordsComeBack) {
  Random random(1);
  for (const ValueFormat format : kFormats) {
    const Records records =
        RandomRecords(random, 500, format, TombstonesOf(format));
    const MemoryRun run = MakeRun(records, format);
    EXPECT_FALSE(run.empty());
    EXPECT_EQ(run.records(), records.size());
    EXPECT_TRUE(RecordsOf(run) == records);
    size_t bytes = 8 * records.size();
    for (const auto& [key, value] : records) bytes += value ? value->size() : 0;
    EXPECT_GE(run.memory_bytes(), bytes);
  }
  EXPECT_TRUE(MemoryRun(kNoValues).empty());
}

TEST(MemoryRunTest, AppendTakesAllOfTheLaterRun) {
  Random random(2);
  for (const ValueFormat format : kFormats) {
    const Records all =
        RandomRecords(random, 300, format, TombstonesOf(format));
    const auto middle = std::next(all.begin(), 120);
    MemoryRun run = MakeRun(Records(all.begin(), middle), format);
    run.Append(MakeRun(Records(middle, all.end()), format));
    run.Append(MemoryRun(format));
    EXPECT_TRUE(RecordsOf(run) == all);
  }
}

TEST(MemoryRunDeathTest, KeysThatDoNotAscendEndTheProcess) {
  MemoryRun run(kNoValues);
  run.Add(5, "");
  EXPECT_DEATH(run.Add(5, ""), "");
  EXPECT_DEATH(run.AddTombstone(6), "");
}

TEST(MemoryRunTest, OfTwoRunsTheNewerOneWins) {
  Random random(3);
  for (const ValueFormat format : kFormats) {
    for (const uint64_t key_mask : {uint64_t{0x1FF}, kMaxKey}) {
      const Records older =
          RandomRecords(random, 300, format, TombstonesOf(format), key_mask);
      Records newer =
          RandomRecords(random, 200, format, TombstonesOf(format), key_mask);
      // A tombstone for one of the older records in any case.
      if (format.kind != ValueKind::kNone) {
        newer[older.begin()->first] = std::nullopt;
      }
      Records expected = newer;
      expected.insert(older.begin(), older.end());
      const MemoryRun a = MakeRun(newer, format);
      const MemoryRun b = MakeRun(older, format);
      EXPECT_TRUE(RecordsOf(*MergeRuns(a, b, false)) == expected);
      std::erase_if(expected, [](const auto& r) { return !r.second; });
      EXPECT_TRUE(RecordsOf(*MergeRuns(a, b, true)) == expected);
    }
    const MemoryRun none(format);
    const MemoryRun one =
        MakeRun({{7, std::string(format.bytes, 'x')}}, format);
    EXPECT_EQ(MergeRuns(none, one, true)->records(), 1U);
    EXPECT_EQ(MergeRuns(one, none, true)->records(), 1U);
    EXPECT_TRUE(MergeRuns(none, none, true)->empty());
  }
}

TEST(MemoryRunTest, CursorsStayInTheirRange) {
  Random random(4);
  const Records records =
      RandomRecords(random, 400, kVariableValues, 0.2, 0x3FF);
  const auto run =
      std::make_shared<const MemoryRun>(MakeRun(records, kVariableValues));
  for (int round = 0; round < 200; ++round) {
    uint64_t first = random.Below(0x400);
    uint64_t last = random.Below(0x400);
    if (first > last) std::swap(first, last);
    if (round == 0) first = 0, last = kMaxKey;
    auto expected = records.lower_bound(first);
    const auto end = records.upper_bound(last);
    MemoryRunCursor cursor(run, first, last);
    while (expected != end) {
      ASSERT_FALSE(cursor.AtEnd());
      ASSERT_EQ(cursor.key(), expected->first);
      ASSERT_EQ(cursor.is_tombstone(), !expected->second.has_value());
      ASSERT_EQ(cursor.value(), expected->second.value_or(""));
      ASSERT_TRUE(cursor.Next().has_value());
      ++expected;
    }
    EXPECT_TRUE(cursor.AtEnd());
  }
  EXPECT_TRUE(
      MemoryRunCursor(std::make_shared<const MemoryRun>(kNoValues), 0, kMaxKey)
          .AtEnd());
}

// Short seeks go step by step and long ones do not: both are tried, and seeks
// back, which stay where they are.
TEST(MemoryRunTest, SeeksGoToTheFirstKeyThatIsNotBelow) {
  Random random(5);
  const Records records = RandomRecords(random, 2000, kNoValues, 0, 0xFFFF);
  const auto run =
      std::make_shared<const MemoryRun>(MakeRun(records, kNoValues));
  for (int round = 0; round < 200; ++round) {
    const uint64_t last = random.Below(0x10000);
    MemoryRunCursor cursor(run, 0, last);
    const auto end = records.upper_bound(last);
    auto expected = records.begin();
    uint64_t key = 0;
    while (true) {
      const uint64_t step = random.Chance(0.5) ? 50 : 5000;
      key += random.Below(step);
      const uint64_t to = random.Chance(0.1) ? key / 2 : key;
      ASSERT_TRUE(cursor.SeekTo(to).has_value());
      while (expected != end && expected->first < to) ++expected;
      ASSERT_EQ(cursor.AtEnd(), expected == end);
      if (cursor.AtEnd()) break;
      ASSERT_EQ(cursor.key(), expected->first);
    }
    ASSERT_TRUE(cursor.SeekTo(kMaxKey).has_value());
    EXPECT_TRUE(cursor.AtEnd());
  }
}

std::string BytesOf(const MemoryRun& run) {
  std::string bytes;
  ByteWriter writer(bytes);
  run.AppendTo(writer);
  return bytes;
}

TEST(MemoryRunTest, TheJournalsBytesGiveTheSameRun) {
  Random random(6);
  for (const ValueFormat format : kFormats) {
    for (const size_t count : {0U, 1U, 2U, 300U}) {
      Records records =
          RandomRecords(random, count, format, TombstonesOf(format));
      if (count == 2) {
        records = {{0, std::string(format.bytes, 'a')},
                   {kMaxKey, std::string(format.bytes, 'b')}};
      }
      // What follows is not touched.
      const std::string bytes = BytesOf(MakeRun(records, format)) + "next";
      ByteReader reader(bytes);
      const auto run = MemoryRun::Parse(reader, format);
      ASSERT_TRUE(run.has_value());
      EXPECT_TRUE(RecordsOf(*run) == records);
      EXPECT_EQ(run->format(), format);
      EXPECT_EQ(reader.remaining(), 4U);
    }
  }
}

bool Parses(const std::string& bytes, ValueFormat format) {
  ByteReader reader(bytes);
  const auto run = MemoryRun::Parse(reader, format);
  if (run) return true;
  EXPECT_EQ(run.error().code, ErrorCode::kCorruption);
  return false;
}

TEST(MemoryRunTest, BytesThatEndTooEarlyAreRefused) {
  Random random(7);
  for (const ValueFormat format : kFormats) {
    const std::string bytes = BytesOf(MakeRun(
        RandomRecords(random, 20, format, 0.2 * TombstonesOf(format)), format));
    EXPECT_TRUE(Parses(bytes, format));
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(Parses(bytes.substr(0, size), format)) << size;
    }
  }
}

TEST(MemoryRunTest, DamagedBytesAreRefused) {
  using std::string_literals::operator""s;
  EXPECT_TRUE(Parses("\2\5\1"s, kNoValues));
  EXPECT_FALSE(Parses("\2\5\0"s, kNoValues)) << "a key twice";
  EXPECT_FALSE(Parses("\2\5\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1"s, kNoValues))
      << "keys that wrap around";
  EXPECT_FALSE(Parses("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1\5"s, kNoValues))
      << "more records than bytes";
  EXPECT_TRUE(Parses("\1\5\0\2ab"s, kVariableValues));
  EXPECT_TRUE(Parses("\1\5\1\0"s, kVariableValues));
  EXPECT_FALSE(Parses("\1\5\2\2ab"s, kVariableValues)) << "a third kind";
  EXPECT_FALSE(Parses("\1\5\1\2ab"s, kVariableValues))
      << "a tombstone with a value";
  EXPECT_TRUE(Parses("\1\5\0\2ab"s, FixedValues(2)));
  EXPECT_TRUE(Parses("\1\5\1\0"s, FixedValues(2)));
  EXPECT_FALSE(Parses("\1\5\0\2ab"s, FixedValues(3))) << "another size";
  EXPECT_FALSE(Parses("\1\5\0\xFF\1ab"s, kVariableValues)) << "a long value";
}

}  // namespace
}  // namespace nephila::drum
