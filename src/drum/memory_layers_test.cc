#include "drum/memory_layers.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "drum/run_merger.h"
#include "drum/run_testing.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

MemoryLayers::Layer Layer(const Records& records, ValueFormat format) {
  auto run = std::make_shared<MemoryRun>(format);
  for (const auto& [key, value] : records) {
    if (value) {
      run->Add(key, *value);
    } else {
      run->AddTombstone(key);
    }
  }
  return run;
}

// What whoever reads the layers finds, tombstones too.
Records Found(const MemoryLayers& memory) {
  RunMerger merged(MemoryCursors(memory, 0, UINT64_MAX));
  EXPECT_TRUE(merged.SeekTo(0));
  Records found;
  while (!merged.AtEnd()) {
    if (merged.is_tombstone()) {
      found[merged.key()] = std::nullopt;
    } else {
      found[merged.key()] = merged.value();
    }
    EXPECT_TRUE(merged.Next());
  }
  return found;
}

TEST(MemoryLayersTest, TheNewestRecordOfAKeyIsFound) {
  Random random(7);
  MemoryLayers memory;
  EXPECT_TRUE(memory.empty());
  Records expected;
  for (int pass = 0; pass < 200; ++pass) {
    Records changes;
    for (int i = 0; i < 20; ++i) {
      const uint64_t key = random.Below(500);
      if (random.Below(4) == 0) {
        changes[key] = std::nullopt;
      } else {
        changes[key] = std::to_string(pass) + "." + std::to_string(i);
      }
    }
    memory.Add(Layer(changes, kVariableValues), false);
    for (const auto& [key, value] : changes) expected[key] = value;
    ASSERT_TRUE(Found(memory) == expected) << "after pass " << pass;
  }
  EXPECT_GE(memory.records(), expected.size());
  EXPECT_GE(memory.memory_bytes(), 8 * expected.size());
}

TEST(MemoryLayersTest, LayersStayFewAndARecordIsCopiedSeldom) {
  MemoryLayers memory;
  size_t copied = 0;
  constexpr size_t kPasses = 4096;
  constexpr size_t kEach = 10;
  for (size_t pass = 0; pass < kPasses; ++pass) {
    Records changes;
    for (size_t i = 0; i < kEach; ++i) changes[i * kPasses + pass] = "";
    const std::vector<MemoryLayers::Layer> before = memory.layers();
    memory.Add(Layer(changes, kNoValues), true);
    EXPECT_LE(memory.layers().size(), 8U);
    for (const MemoryLayers::Layer& layer : memory.layers()) {
      const bool is_old =
          std::find(before.begin(), before.end(), layer) != before.end();
      if (!is_old) copied += layer->records();
    }
  }
  EXPECT_EQ(memory.records(), kPasses * kEach);
  // A run that is made anew by each pass is 2 048 times as much.
  EXPECT_LT(copied, 20 * kPasses * kEach);
}

TEST(MemoryLayersTest, TombstonesGoWhereNothingStandsBelow) {
  MemoryLayers memory;
  memory.Add(Layer({{1, "a"}, {2, "b"}}, kVariableValues), true);
  MemoryLayers above_runs = memory;
  const Records gone = {{1, std::nullopt}, {2, std::nullopt}};
  memory.Add(Layer(gone, kVariableValues), true);
  EXPECT_TRUE(memory.empty());
  EXPECT_EQ(memory.records(), 0U);
  above_runs.Add(Layer(gone, kVariableValues), false);
  EXPECT_TRUE(Found(above_runs) == gone);
}

TEST(MemoryLayersTest, ACopyKeepsWhatItHad) {
  MemoryLayers memory;
  memory.Add(Layer({{1, "a"}}, kVariableValues), true);
  const MemoryLayers copy = memory;
  memory.Add(Layer({{1, "b"}, {3, "c"}}, kVariableValues), true);
  memory.Add(Layer({}, kVariableValues), true);
  EXPECT_TRUE(Found(copy) == (Records{{1, "a"}}));
  EXPECT_TRUE(Found(memory) == (Records{{1, "b"}, {3, "c"}}));
}

}  // namespace
}  // namespace nephila::drum
