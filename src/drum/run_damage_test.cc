// Runs that are damaged, cut or made to deceive.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "base/source_path_testing.h"
#include "drum/run.h"
#include "drum/run_testing.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

// The run of testdata/drum/run-v1: two parts, with blocks out of order in the
// file, an escape in the code of keys, tombstones, values of many sizes.
Records GoldenRecords() {
  Random random(20240601);
  Records records = RandomRecords(random, 60, kVariableValues, 0.2, 0xffff);
  for (auto& [key, value] : records) {
    if (value.has_value()) value->resize(std::min<size_t>(value->size(), 200));
  }
  records[0] = "zero";
  records[kMaxKey] = "largest";
  for (uint64_t i = 0; i < 20; ++i) records[(uint64_t{1} << 62) + 3 * i] = "";
  return records;
}

class RunDamageTest : public RunTest {
 protected:
  RunInfo WriteGolden() {
    const Records records = GoldenRecords();
    const auto middle = records.lower_bound(uint64_t{1} << 32);
    auto writer = NewWriter(kVariableValues);
    auto upper = writer->NewPart();
    AddAll(*upper, middle, records.end());
    EXPECT_TRUE(upper->Finish().has_value());
    auto lower = writer->NewPart();
    AddAll(*lower, records.begin(), middle);
    EXPECT_TRUE(lower->Finish().has_value());
    return *writer->Finish();
  }
  Result<Records> ReadRun(const RunInfo& info, ValueFormat format) {
    NEPHILA_TRY(const auto run, Open(info, format));
    RunCursor cursor(run, 0, kMaxKey);
    return ReadAll(cursor);
  }
  // A run of one block with this payload, sealed as if it were whole.
  RunInfo Forge(const std::string& payload, std::vector<RunIndexEntry> entries,
                RunIndex index) {
    if (*fs_.Exists("store/run")) {
      EXPECT_TRUE(fs_.Remove("store/run").has_value());
    }
    auto file = *BlockFile::Create(fs_, "store/run", kSalt, counts_);
    const auto append = [&](const std::string& bytes) {
      BlockBuffer buffer(bytes.size());
      std::copy(bytes.begin(), bytes.end(), buffer.payload());
      return *file->Append(buffer, bytes.size());
    };
    append(payload);
    index.entries = std::move(entries);
    RunInfo info;
    info.records = index.records;
    info.tombstones = index.tombstones;
    info.index = append(FormatRunIndex(index));
    info.end = file->end();
    return info;
  }
};

TEST_F(RunDamageTest, TheFormatIsThatOfTheGoldenFile) {
  const RunInfo info = WriteGolden();
  EXPECT_EQ(info, (RunInfo{7, {8192, 64}, 12288, 82, 11}));
  const std::string written = *ReadWholeFile(fs_, "store/run", 1 << 20);
  std::ifstream file(SourcePath("testdata/drum/run-v1"), std::ios::binary);
  const std::string golden(std::istreambuf_iterator<char>(file), {});
  if (written != golden) {
    const std::string path = ::testing::TempDir() + "/run-v1";
    std::ofstream(path, std::ios::binary) << written;
    ADD_FAILURE() << "the bytes of a run have changed; they are in " << path;
  }
  ASSERT_TRUE(PublishFile(fs_, "store/run", golden).has_value());
  EXPECT_TRUE(*ReadRun(info, kVariableValues) == GoldenRecords());
}

TEST_F(RunDamageTest, AFlippedBitIsFoundOrChangesNothing) {
  const RunInfo info = WriteGolden();
  const Records records = GoldenRecords();
  ASSERT_TRUE(*ReadRun(info, kVariableValues) == records);
  uint64_t found = 0;
  for (uint64_t bit = 0; bit < info.end * 8; ++bit) {
    const auto flip = [&] {
      return fs_.FlipBit("store/run", bit / 8, static_cast<unsigned>(bit % 8));
    };
    ASSERT_TRUE(flip().has_value());
    const auto read = ReadRun(info, kVariableValues);
    if (read.has_value()) {
      ASSERT_TRUE(*read == records) << bit;
    } else {
      ASSERT_EQ(read.error().code, ErrorCode::kCorruption) << bit;
      ASSERT_NE(read.error().message.find("store/run at offset"),
                std::string::npos)
          << read.error().message;
      ++found;
    }
    ASSERT_TRUE(flip().has_value());
  }
  // All but padding: the index alone is 76 bytes with its header.
  EXPECT_GT(found, 8 * (info.index.payload_bytes + 500));
}

TEST_F(RunDamageTest, ATruncatedFileIsFound) {
  const RunInfo info = WriteGolden();
  for (uint64_t size = 0; size < info.end; size += 512) {
    auto file = *fs_.Open("store/run", OpenMode::kReadWrite);
    ASSERT_TRUE(file->Truncate(size).has_value());
    const auto read = ReadRun(info, kVariableValues);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code, ErrorCode::kCorruption);
    ASSERT_TRUE(fs_.Remove("store/run").has_value());
    ASSERT_EQ(WriteGolden(), info);
  }
}

TEST_F(RunDamageTest, AnotherRunsInfoOrFormatIsFound) {
  const RunInfo good = WriteGolden();
  const auto open = [&](const RunInfo& info, ValueFormat format) {
    return Open(info, format).has_value();
  };
  EXPECT_TRUE(open(good, kVariableValues));
  EXPECT_FALSE(open(good, kNoValues));
  EXPECT_FALSE(open(good, FixedValues(8)));
  RunInfo bad = good;
  ++bad.records;
  EXPECT_FALSE(open(bad, kVariableValues));
  bad = good;
  ++bad.tombstones;
  EXPECT_FALSE(open(bad, kVariableValues));
  for (const uint64_t offset : {uint64_t{0}, good.index.offset + 1, kMaxKey,
                                kMaxKey - kPageBytes + 1}) {
    bad = good;
    bad.index.offset = offset;
    EXPECT_FALSE(open(bad, kVariableValues));
  }
  bad = good;
  bad.index.payload_bytes = 0xffffffff;
  EXPECT_FALSE(open(bad, kVariableValues));
  EXPECT_FALSE(drum::Run::Open(fs_, "store/run", kSalt + 1, good,
                               kVariableValues, counts_)
                   .has_value());
}

std::string KeyBlock(const std::vector<uint64_t>& keys) {
  RunBlockBuilder builder(kNoValues);
  EXPECT_EQ(builder.AddKeys(keys), keys.size());
  std::string payload;
  EXPECT_TRUE(builder.Cut(true, payload).has_value());
  return payload;
}

TEST_F(RunDamageTest, AnIndexThatCannotBeIsFound) {
  const std::string block = KeyBlock({5, 6, 9});
  const RunIndexEntry good{5, 0, 1, 3};
  const RunIndex three{kNoValues, 3, 0, {}};
  const auto read = [&](std::vector<RunIndexEntry> entries, RunIndex index) {
    return ReadRun(Forge(block, std::move(entries), std::move(index)),
                   kNoValues)
        .has_value();
  };
  EXPECT_TRUE(read({good}, three));
  // In the index itself.
  EXPECT_FALSE(read({good}, {kNoValues, 4, 0, {}}));
  EXPECT_FALSE(read({good}, {kNoValues, 3, 4, {}}));
  EXPECT_FALSE(read({}, three));
  EXPECT_FALSE(read({{5, 1, 1, 3}}, three));
  EXPECT_FALSE(read({{5, 0, 2, 3}}, three));
  EXPECT_FALSE(read({{5, 0xffffffff, 0xffff, 3}}, three));
  EXPECT_FALSE(read({{5, 0, 0, 3}}, three));
  EXPECT_FALSE(read({good, {6, 0, 1, 0}}, three));
  EXPECT_FALSE(read({good, good}, {kNoValues, 6, 0, {}}));
  EXPECT_FALSE(read({good, {4, 0, 1, 3}}, {kNoValues, 6, 0, {}}));
  // Against the block.
  EXPECT_FALSE(read({{4, 0, 1, 3}}, three));
  EXPECT_FALSE(read({{5, 0, 1, 2}}, {kNoValues, 2, 0, {}}));
  EXPECT_FALSE(read({good, {9, 0, 1, 3}}, {kNoValues, 6, 0, {}}));
}

TEST_F(RunDamageTest, AnIndexOfALaterVersionIsUnsupported) {
  std::string later = FormatRunIndex({});
  EXPECT_TRUE(ParseRunIndex(later, 1).has_value());
  ++later[4];
  EXPECT_EQ(ParseRunIndex(later, 1).error().code, ErrorCode::kUnsupported);
  EXPECT_FALSE(ParseRunIndex(FormatRunIndex({}) + "x", 1).has_value());
  EXPECT_FALSE(ParseRunIndex(FormatRunIndex({}).substr(1), 1).has_value());
  EXPECT_FALSE(ParseRunIndex("", 1).has_value());
}

TEST_F(RunDamageTest, ABlockThatDeceivesIsFoundByItsOffset) {
  const auto error = [&](const std::string& payload, uint16_t count,
                         ValueFormat format = kNoValues) {
    const RunInfo info =
        Forge(payload, {{5, 0, 1, count}}, {format, count, 0, {}});
    const auto read = ReadRun(info, format);
    return read.has_value() ? "" : read.error().message;
  };
  const std::string good = KeyBlock({5, 6, 9});
  EXPECT_EQ(error(good, 3), "");
  const auto expect = [&](const std::string& message, const char* what) {
    EXPECT_NE(message.find("store/run at offset 0"), std::string::npos);
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  expect(error("", 3), "head");
  expect(error(good.substr(0, 9), 3), "head");
  expect(error(good.substr(0, good.size() - 1), 3), "keys");
  expect(error(good + "x", 3), "values");
  expect(error("\x20" + good.substr(1), 3), "version");
  expect(error("\x12" + good.substr(1), 3), "version");
  // A bitmap is promised: missing, without a tombstone, with one too many.
  const std::string dead = "\x11" + good.substr(1);
  expect(error(dead, 3), "tombstones");
  expect(error(dead + std::string(1, '\0'), 3), "tombstones");
  expect(error(dead + "\x09", 3), "tombstones");
  EXPECT_EQ(error(dead + "\x04", 3), "");
  // Values that are too few, too many, too long.
  EXPECT_EQ(error(good + "aabbcc", 3, FixedValues(2)), "");
  EXPECT_EQ(error(dead + "\x04"
                         "aabb",
                  3, FixedValues(2)),
            "");
  expect(error(good + "aabbc", 3, FixedValues(2)), "values");
  EXPECT_EQ(error(good + "\x01\x02\x01"
                         "abbc",
                  3, kVariableValues),
            "");
  expect(error(good + "\x01\x02\x01"
                      "abb",
               3, kVariableValues),
         "values");
  expect(error(good + "\x01\x02", 3, kVariableValues), "values");
  expect(error(good + "\xff\xff\xff\xff\x0f\x02\x01"
                      "abb",
               3, kVariableValues),
         "values");
}

}  // namespace
}  // namespace nephila::drum
