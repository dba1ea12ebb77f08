#include "drum/run.h"

#include <unistd.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "base/real_file_system.h"
#include "drum/run_testing.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

// As hashes have them, `count` over all of 2^64.
std::vector<uint64_t> EvenKeys(Random& random, size_t count) {
  const double mean = std::exp2(64) / static_cast<double>(count + 1);
  std::vector<uint64_t> keys;
  double key = 0;
  while (keys.size() < count) {
    key -= std::log1p(-random.Uniform()) * mean;
    if (key >= std::exp2(64)) break;
    keys.push_back(static_cast<uint64_t>(key) | (random.Next() & 0xffff));
    if (keys.size() > 1 && keys.back() <= keys[keys.size() - 2]) {
      keys.pop_back();
    }
  }
  return keys;
}

TEST_F(RunTest, RecordsOfEveryKindComeBack) {
  Random random(1);
  for (const ValueFormat format :
       {kNoValues, FixedValues(1), FixedValues(8), FixedValues(5000),
        FixedValues(0), kVariableValues}) {
    for (const double tombstones : {0.0, 0.01, 0.7, 1.0}) {
      for (const uint64_t mask : {kMaxKey, uint64_t{0xffff}}) {
        const size_t count = format.bytes > 1000 ? 100 : 5000;
        const Records records =
            RandomRecords(random, count, format, tombstones, mask);
        const RunInfo info = Write(records, format);
        EXPECT_EQ(info.records, records.size());
        const auto run = *Open(info, format);
        RunCursor cursor(run, 0, kMaxKey);
        EXPECT_EQ(*ReadAll(cursor), records);
        EXPECT_EQ(run->bytes(), info.end);
        EXPECT_EQ(run->file_number(), 7U);
        EXPECT_EQ(run->tombstones(),
                  static_cast<size_t>(std::count_if(
                      records.begin(), records.end(),
                      [](const auto& r) { return !r.second.has_value(); })));
        ASSERT_TRUE(fs_.Remove("store/run").has_value());
      }
    }
  }
}

TEST_F(RunTest, ExtremeKeysComeBack) {
  Records dense;
  for (uint64_t i = 0; i < 200000; ++i) dense[i + 5] = "";
  Records ends = dense;
  ends[0] = ends[kMaxKey] = ends[kMaxKey - 1] = "";
  for (const Records& records :
       {Records{}, Records{{0, ""}}, Records{{kMaxKey, ""}},
        Records{{0, ""}, {kMaxKey, ""}}, dense, ends}) {
    const RunInfo info = Write(records, kNoValues);
    const auto run = *Open(info, kNoValues);
    RunCursor cursor(run, 0, kMaxKey);
    EXPECT_EQ(*ReadAll(cursor), records);
    // At the end it stays.
    EXPECT_TRUE(cursor.SeekTo(0).has_value());
    EXPECT_TRUE(cursor.AtEnd());
    ASSERT_TRUE(fs_.Remove("store/run").has_value());
  }
}

TEST_F(RunTest, AValueAboveABlockHasABlockOfItsOwn) {
  Random random(2);
  Records records = RandomRecords(random, 3000, kVariableValues, 0.1);
  const std::vector<size_t> sizes = {kRunBlockPayload - 30, kRunBlockPayload,
                                     200000, 2 << 20, kMaxValueBytes};
  for (const size_t size : sizes) {
    records[random.Next()] = std::string(size, 'v');
  }
  const RunInfo info = Write(records, kVariableValues);
  const auto run = *Open(info, kVariableValues);
  RunCursor cursor(run, 0, kMaxKey);
  EXPECT_TRUE(*ReadAll(cursor) == records);
  size_t large = 0;
  for (const RunIndexEntry& entry : run->index()) {
    if (entry.pages * kPageBytes <= kRunBlockBytes) continue;
    EXPECT_EQ(entry.count, 1);
    ++large;
  }
  EXPECT_EQ(large, 4U);
}

TEST_F(RunTest, AValueAboveTheMostIsRefused) {
  auto writer = NewWriter(kVariableValues);
  auto part = writer->NewPart();
  const auto refused = part->Add(1, std::string(kMaxValueBytes + 1, 'v'));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(RunTest, KeysThatDoNotAscendEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto writer = NewWriter(kNoValues);
  auto part = writer->NewPart();
  ASSERT_TRUE(part->Add(5, "").has_value());
  EXPECT_DEATH(IgnoreError(part->Add(5, ""), "dies"), "last_key_");
  EXPECT_DEATH(IgnoreError(part->AddTombstone(4), "dies"), "last_key_");
  const std::vector<uint64_t> again = {5, 6};
  EXPECT_DEATH(IgnoreError(part->AddKeys(again), "dies"), "last_key_");
  const std::vector<uint64_t> twice = {6, 7, 7};
  EXPECT_DEATH(IgnoreError(part->AddKeys(twice), "dies"), "ascends");
}

TEST_F(RunTest, PartsThatOverlapEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto writer = NewWriter(kNoValues);
  for (const uint64_t first : {1U, 5U}) {
    auto part = writer->NewPart();
    ASSERT_TRUE(part->Add(first, "").has_value());
    ASSERT_TRUE(part->Add(first + 4, "").has_value());
    ASSERT_TRUE(part->Finish().has_value());
  }
  EXPECT_DEATH(IgnoreError(writer->Finish(), "dies"), "last_key");
}

TEST_F(RunTest, PartsAreWrittenByThreadsInAnyOrder) {
  Random random(3);
  const Records records = RandomRecords(random, 60000, kVariableValues, 0.1);
  constexpr uint64_t kParts = 8;
  auto writer = NewWriter(kVariableValues);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      // Downwards, so that the order of ranges is not that of the parts.
      for (uint64_t i = kParts; i-- > 0;) {
        if (i % 4 != thread) continue;
        const uint64_t step = kMaxKey / kParts + 1;
        auto part = writer->NewPart();
        AddAll(*part, records.lower_bound(i * step),
               i + 1 == kParts ? records.end()
                               : records.lower_bound((i + 1) * step));
        ASSERT_TRUE(part->Finish().has_value());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(writer->NewPart()->Finish().has_value());  // an empty one
  const RunInfo info = *writer->Finish();
  EXPECT_EQ(info.end, counts_.bytes_written);
  const auto run = *Open(info, kVariableValues);
  RunCursor cursor(run, 0, kMaxKey);
  EXPECT_TRUE(*ReadAll(cursor) == records);
}

TEST_F(RunTest, KeysCostWhatTheoryAllows) {
  Random random(4);
  const std::vector<uint64_t> keys = EvenKeys(random, 1000000);
  ASSERT_GT(keys.size(), 990000U);
  auto writer = NewWriter(kNoValues);
  auto part = writer->NewPart();
  // In pieces of any size, and some one by one.
  std::span<const uint64_t> left(keys);
  while (!left.empty()) {
    const size_t size = std::min<size_t>(left.size(), random.Below(300000));
    ASSERT_TRUE(part->AddKeys(left.first(size)).has_value());
    left = left.subspan(size);
    if (left.empty()) break;
    ASSERT_TRUE(part->Add(left.front(), "").has_value());
    left = left.subspan(1);
  }
  ASSERT_TRUE(part->Finish().has_value());
  const RunInfo info = *writer->Finish();
  const auto run = *Open(info, kNoValues);
  const auto count = static_cast<double>(keys.size());
  const double theory = (64 - std::log2(count) + 1.5) / 8;
  // Pages of blocks and index included.
  EXPECT_LT(static_cast<double>(run->bytes()) / count, theory * 1.01);
  RunCursor cursor(run, 0, kMaxKey);
  std::vector<uint64_t> read;
  while (true) {
    const auto block = *cursor.NextKeys(0);
    if (block.empty()) break;
    read.insert(read.end(), block.begin(), block.end());
  }
  EXPECT_EQ(read, keys);
}

TEST_F(RunTest, BlocksAreFullWithValuesToo) {
  Random random(5);
  for (const ValueFormat format : {FixedValues(9), kVariableValues}) {
    const Records records = RandomRecords(random, 20000, format, 0.1);
    const auto run = *Open(Write(records, format), format);
    for (const RunIndexEntry& entry :
         run->index().first(run->index().size() - 1)) {
      // A value of 20 000 bytes may not have fit any more.
      EXPECT_GE(entry.pages, format.kind == ValueKind::kFixed ? 16 : 11);
      EXPECT_LE(entry.pages, 16);
    }
    ASSERT_TRUE(fs_.Remove("store/run").has_value());
  }
}

TEST_F(RunTest, InfoComesBackFromItsBytes) {
  const RunInfo info{1, {2, 3}, 4, 5, 6};
  std::string bytes;
  ByteWriter writer(bytes);
  info.AppendTo(writer);
  ByteReader reader{std::string_view(bytes)};
  EXPECT_EQ(*RunInfo::Parse(reader), info);
  EXPECT_TRUE(reader.AtEnd());
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteReader cut(std::string_view(bytes).substr(0, size));
    EXPECT_FALSE(RunInfo::Parse(cut).has_value());
  }
}

TEST_F(RunTest, AnErrorOfTheDiskIsReported) {
  Random random(6);
  const Records records = RandomRecords(random, 60000, FixedValues(64), 0);
  auto writer = NewWriter(FixedValues(64));
  fs_.SetCapacity(uint64_t{2} << 20);
  auto part = writer->NewPart();
  Status status;
  for (const auto& [key, value] : records) {
    status = part->Add(key, *value);
    if (!status.has_value()) break;
  }
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kNoSpace);
}

TEST(RunOnDisk, ComesBackPastThePageCache) {
  const auto disk = MakeRealFileSystem();
  FileSystem& fs = *disk;
  const std::string path =
      ::testing::TempDir() + "/nephila_run_on_disk" + std::to_string(getpid());
  IgnoreError(fs.Remove(path), "left over or not there");
  IoCounts counts;
  Random random(7);
  const Records records = RandomRecords(random, 20000, kVariableValues, 0.1);
  auto writer = *RunWriter::Create(fs, path, 1, 2, kVariableValues, counts);
  auto part = writer->NewPart();
  AddAll(*part, records.begin(), records.end());
  ASSERT_TRUE(part->Finish().has_value());
  const RunInfo info = *writer->Finish();
  ASSERT_TRUE(writer->Sync().has_value());
  const auto run = *drum::Run::Open(fs, path, 2, info, kVariableValues, counts);
  RunCursor cursor(run, 0, kMaxKey);
  EXPECT_TRUE(*ReadAll(cursor) == records);
  EXPECT_TRUE(fs.Remove(path).has_value());
}

}  // namespace
}  // namespace nephila::drum
