// What the tests of runs share: writing a run from a map, and reading it back.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_file_system.h"
#include "base/random.h"
#include "drum/run.h"
#include "gtest/gtest.h"

namespace nephila::drum {

inline constexpr uint64_t kMaxKey = std::numeric_limits<uint64_t>::max();

// No value: a tombstone.
using Records = std::map<uint64_t, std::optional<std::string>>;

inline constexpr ValueFormat kNoValues{};
inline constexpr ValueFormat kVariableValues{ValueKind::kVariable, 0};
constexpr ValueFormat FixedValues(uint32_t bytes) {
  return {ValueKind::kFixed, bytes};
}

inline std::string RandomValue(Random& random, ValueFormat format) {
  size_t size = format.bytes;
  if (format.kind == ValueKind::kVariable) {
    // Many short ones, few long: also those of two and three size bytes.
    size = random.Below(random.Chance(0.02) ? 20000 : 40);
  }
  std::string value(size, '\0');
  for (char& byte : value) byte = static_cast<char>(random.Next());
  return value;
}

inline Records RandomRecords(Random& random, size_t count, ValueFormat format,
                             double tombstones, uint64_t key_mask = kMaxKey) {
  Records records;
  while (records.size() < count) {
    std::optional<std::string> value;
    if (!random.Chance(tombstones)) value = RandomValue(random, format);
    records.emplace(random.Next() & key_mask, std::move(value));
  }
  return records;
}

inline void AddAll(RunWriter::Part& part, Records::const_iterator begin,
                   Records::const_iterator end) {
  for (auto it = begin; it != end; ++it) {
    ASSERT_TRUE(it->second.has_value()
                    ? part.Add(it->first, *it->second).has_value()
                    : part.AddTombstone(it->first).has_value());
  }
}

// It says drum::Run: a test of GoogleTest has a Run as well.
class RunTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kSalt = 0x5a17;

  RunTest() { EXPECT_TRUE(fs_.MakeDir("store").has_value()); }

  std::unique_ptr<RunWriter> NewWriter(ValueFormat format,
                                       const std::string& path = "store/run") {
    return *RunWriter::Create(fs_, path, 7, kSalt, format, counts_);
  }
  RunInfo Write(const Records& records, ValueFormat format,
                const std::string& path = "store/run") {
    auto writer = NewWriter(format, path);
    auto part = writer->NewPart();
    AddAll(*part, records.begin(), records.end());
    EXPECT_TRUE(part->Finish().has_value());
    RunInfo info = *writer->Finish();
    EXPECT_TRUE(writer->Sync().has_value());
    return info;
  }
  Result<std::shared_ptr<const drum::Run>> Open(
      const RunInfo& info, ValueFormat format,
      const std::string& path = "store/run") {
    return drum::Run::Open(fs_, path, kSalt, info, format, counts_);
  }

  MemoryFileSystem fs_;
  IoCounts counts_;
};

// All that a source has from `from` on; the first error ends it.
inline Result<Records> ReadAll(RecordSource& source, uint64_t from = 0) {
  Records records;
  NEPHILA_RETURN_IF_ERROR(source.SeekTo(from));
  std::optional<uint64_t> before;
  while (!source.AtEnd()) {
    EXPECT_TRUE(!before.has_value() || *before < source.key());
    before = source.key();
    std::optional<std::string> value;
    if (!source.is_tombstone()) value = source.value();
    records.emplace(source.key(), std::move(value));
    NEPHILA_RETURN_IF_ERROR(source.Next());
  }
  return records;
}

}  // namespace nephila::drum
