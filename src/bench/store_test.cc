// Every store gives the answers of a hash set, over several passes.

#include "bench/store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "bench/key_sort.h"
#include "bench/link_stream.h"
#include "bench/preload.h"
#include "bench/stores.h"

namespace nephila::bench {
namespace {

constexpr uint64_t kLinks = 300'000;
constexpr uint64_t kSeed = 7;

class StoreTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    options_.directory =
        testing::TempDir() + "store_" + GetParam() + std::to_string(getpid());
    std::filesystem::create_directory(options_.directory);
    options_.memory_bytes = size_t{1} << 20;
    options_.disk_bytes = size_t{1} << 30;
    options_.expected_keys = kLinks;
    options_.hash_seed = kSeed;
    options_.sink = &sink_;
  }
  void TearDown() override { std::filesystem::remove_all(options_.directory); }

  StorePtr Make() {
    auto store = MakeStore(GetParam(), options_);
    EXPECT_TRUE(store) << store.error().message;
    return *std::move(store);
  }

  StoreOptions options_;
  UniqueSink sink_;
};

std::unique_ptr<LinkStream> Stream(double unique_share) {
  static const LinkPages pages = GenerateLinkPages(size_t{1} << 20, 3);
  return *LinkStream::Create(pages,
                             {.links = kLinks, .unique_share = unique_share});
}

// Hands the stream to the store and, what is new, to `expected` too.
void Feed(LinkSource* stream, uint64_t count, LinkStore* store,
          std::unordered_set<uint64_t>* seen, UniqueSink* expected) {
  std::string_view link;
  for (uint64_t i = 0; i < count; ++i) {
    ASSERT_TRUE(stream->Next(&link));
    uint64_t key = KeyedHash(link, kSeed);
    if (seen->insert(key).second) expected->Take(key, link);
    Status status = store->Add(key, link);
    ASSERT_TRUE(status) << status.error().message;
  }
}

void ExpectEqual(const UniqueSink& got, const UniqueSink& expected) {
  EXPECT_EQ(got.links(), expected.links());
  EXPECT_EQ(got.text_bytes(), expected.text_bytes());
  EXPECT_EQ(got.key_xor(), expected.key_xor());
}

TEST_P(StoreTest, GivesTheAnswersOfAHashSet) {
  StorePtr store = Make();
  std::unordered_set<uint64_t> seen;
  UniqueSink expected;
  auto stream = Stream(0.3);
  ASSERT_NO_FATAL_FAILURE(
      Feed(stream.get(), kLinks, store.get(), &seen, &expected));
  ASSERT_TRUE(store->Finish());
  ExpectEqual(sink_, expected);
  StoreReport report = store->report();
  EXPECT_EQ(report.keys, seen.size());
  EXPECT_GT(report.bytes_of_keys, report.keys);
  bool batches = GetParam() == "mercator" || GetParam() == "polybot";
  EXPECT_EQ(report.passes > 2, batches) << report.passes;
  if (batches) {
    EXPECT_GT(report.bytes_read, report.bytes_of_keys);
    EXPECT_GT(report.bytes_written, report.bytes_of_keys);
  }
}

TEST_P(StoreTest, KnowsThePreloadedAndGoesOnAfterAFinish) {
  constexpr uint64_t kPreload = 50'000;
  StorePtr store = Make();
  ASSERT_TRUE(store->Preload(kPreload));
  EXPECT_EQ(store->report().keys, kPreload);
  std::unordered_set<uint64_t> seen;
  UniqueSink expected;
  auto stream = Stream(1.0 / 9);
  for (int i = 0; i < 2; ++i) {
    ASSERT_NO_FATAL_FAILURE(
        Feed(stream.get(), kLinks / 10, store.get(), &seen, &expected));
    // By key: those that know texts know other texts.
    PreloadKeys keys(kPreload);
    for (uint64_t k = 0; k < kPreload && GetParam() != "polybot"; ++k) {
      ASSERT_TRUE(store->Add(keys.Next(), "preloaded"));
    }
    ASSERT_TRUE(store->Finish());
    ExpectEqual(sink_, expected);
  }
  EXPECT_EQ(store->report().keys, kPreload + seen.size());
}

TEST_P(StoreTest, StopsLoadingWhenToldTo) {
  options_.keep_loading = [](uint64_t) { return false; };
  Status status = Make()->Preload(1'000'000);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kStopped);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreTest,
                         testing::Values("mercator", "polybot", "rocksdb",
                                         "lmdb"),
                         [](const auto& test) { return test.param; });

TEST(Stores, AWrongNameIsRefusedWithTheNamesThereAre) {
  auto store = MakeStore("x", {});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(store.error().message.find("mercator"), std::string::npos);
}

TEST(PreloadKeys, AreSortedDistinctAndSpreadLikeRandomOnes) {
  constexpr uint64_t kCount = 1'000'000;
  PreloadKeys keys(kCount);
  PreloadKeys again(kCount);
  double mean_gap = 0x1.0p64 / static_cast<double>(kCount);
  uint64_t last = 0;
  uint64_t small_gaps = 0;
  uint64_t large_gaps = 0;
  uint64_t odd = 0;
  for (uint64_t i = 0; i < kCount; ++i) {
    uint64_t key = keys.Next();
    ASSERT_EQ(again.Next(), key);
    if (i > 0) {
      ASSERT_GT(key, last);
      auto gap = static_cast<double>(key - last);
      if (gap < 0.1 * mean_gap) ++small_gaps;
      if (gap > 3 * mean_gap) ++large_gaps;
    }
    odd += key & 1;
    last = key;
  }
  EXPECT_GT(static_cast<double>(last), 0x1.0p64 - 20 * mean_gap);
  // 1 - exp(-0.1) and exp(-3).
  EXPECT_NEAR(static_cast<double>(small_gaps) / kCount, 0.0952, 0.002);
  EXPECT_NEAR(static_cast<double>(large_gaps) / kCount, 0.0498, 0.002);
  EXPECT_NEAR(static_cast<double>(odd) / kCount, 0.5, 0.01);
}

TEST(PreloadKeys, AnyCountWorks) {
  for (uint64_t count : {1U, 2U, 4096U, 4097U, 10'000U}) {
    PreloadKeys keys(count);
    uint64_t last = keys.Next();
    for (uint64_t i = 1; i < count; ++i) {
      uint64_t key = keys.Next();
      ASSERT_GT(key, last) << i << " of " << count;
      last = key;
    }
  }
}

TEST(SortByKey, SortsAnyKeysAndKeepsTheirPositions) {
  Random random(1);
  for (uint64_t distinct : {uint64_t{1}, uint64_t{50}, ~uint64_t{0}}) {
    for (int threads : {1, 3}) {
      std::vector<uint64_t> keys(200'000);
      std::vector<KeyedPosition> items;
      for (uint32_t i = 0; i < keys.size(); ++i) {
        keys[i] = random.Below(distinct) * 0x0100000000000001;
        items.push_back({static_cast<uint32_t>(keys[i] >> 32),
                         static_cast<uint32_t>(keys[i]), i});
      }
      SortByKey(items.data(), items.size(), threads);
      std::vector<bool> met(keys.size());
      for (size_t i = 0; i < items.size(); ++i) {
        ASSERT_EQ(items[i].key(), keys[items[i].position]);
        ASSERT_TRUE(i == 0 || items[i - 1].key() <= items[i].key());
        met[items[i].position] = true;
      }
      EXPECT_EQ(std::count(met.begin(), met.end(), true), 200'000);
    }
  }
}

}  // namespace
}  // namespace nephila::bench
