#include "fetch/body_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>

namespace nephila::fetch {
namespace {

constexpr size_t kBlock = BodyPool::kBlockBytes;

std::unique_ptr<BodyPool> Pool(size_t blocks) {
  auto pool = BodyPool::Make(blocks * kBlock);
  EXPECT_TRUE(pool.has_value());
  return *std::move(pool);
}

std::string Text(const Body& body) {
  std::string text;
  for (const std::string_view piece : body.pieces()) text += piece;
  return text;
}

std::string Numbers(size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i);
  text.resize(size);
  return text;
}

TEST(Body, HoldsItsBytesInPieces) {
  auto pool = Pool(16);
  BodyShare share(*pool);
  const std::string text = Numbers(3 * kBlock + 100);
  for (const size_t step : {size_t{1}, size_t{1000}, text.size()}) {
    Body body(&share);
    for (size_t at = 0; at < text.size(); at += step) {
      const std::string_view piece = std::string_view(text).substr(at, step);
      EXPECT_EQ(body.Append(piece), piece.size());
    }
    EXPECT_TRUE(Text(body) == text);
    EXPECT_EQ(body.size_bytes(), text.size());
    EXPECT_EQ(body.pieces().size(), 4u);
    EXPECT_EQ(body.held_bytes(), 4 * kBlock);
    EXPECT_EQ(pool->used_bytes(), 4 * kBlock);
    EXPECT_EQ(share.held_bytes(), 4 * kBlock);
    body.Clear();
    EXPECT_TRUE(body.empty());
    EXPECT_EQ(pool->used_bytes(), 0u);
  }
  EXPECT_EQ(pool->used_bytes(), 0u);
}

TEST(Body, TakesWhatFitsWhenThePoolIsUsedUp) {
  auto pool = Pool(2);
  BodyShare share(*pool);
  Body first(&share);
  EXPECT_EQ(first.Append("a"), 1u);
  const std::string text = Numbers(3 * kBlock);
  Body second(&share);
  EXPECT_EQ(second.Append(text), kBlock);
  EXPECT_EQ(second.Append("more"), 0u);
  EXPECT_TRUE(Text(second) == text.substr(0, kBlock));
  EXPECT_EQ(first.Append("b"), 1u) << "there is room in its own block";
  first.Clear();
  EXPECT_EQ(second.Append("more"), 4u);
}

TEST(Body, MovesWithItsBlocks) {
  auto pool = Pool(4);
  BodyShare share(*pool);
  BodyShare other_share(*pool);
  Body body(&share);
  body.Append("text");
  Body moved = std::move(body);
  EXPECT_EQ(Text(moved), "text");
  Body target(&other_share);
  target.Append("old");
  target = std::move(moved);
  EXPECT_EQ(Text(target), "text");
  EXPECT_EQ(other_share.held_bytes(), 0u);
  EXPECT_EQ(share.held_bytes(), kBlock);
  target.Begin(&other_share);
  EXPECT_EQ(share.held_bytes(), 0u);
  target.Append("new");
  EXPECT_EQ(other_share.held_bytes(), kBlock);
}

TEST(BodyPool, HasAtLeastABlock) {
  auto pool = BodyPool::Make(0);
  ASSERT_TRUE(pool.has_value());
  EXPECT_EQ((*pool)->capacity_bytes(), kBlock);
}

TEST(BodyShare, AsksForNothingWhileThereIsRoom) {
  auto pool = Pool(80);
  BodyShare share(*pool);
  Body body(&share);
  body.Append(std::string(70 * kBlock, 'x'));
  EXPECT_EQ(share.Pressure(), 0u);
  body.Append("x");
  // From 71 blocks to 60.
  EXPECT_GE(share.Pressure(), 11 * kBlock);
  EXPECT_LE(share.Pressure(), 11 * kBlock + 1);
}

TEST(BodyShare, AsksEachForItsPart) {
  auto pool = Pool(80);
  BodyShare large(*pool);
  BodyShare small(*pool);
  BodyShare none(*pool);
  Body large_body(&large);
  large_body.Append(std::string(60 * kBlock, 'x'));
  Body small_body(&small);
  small_body.Append(std::string(20 * kBlock, 'x'));
  EXPECT_NEAR(static_cast<double>(large.Pressure()), 15 * kBlock, 2);
  EXPECT_NEAR(static_cast<double>(small.Pressure()), 5 * kBlock, 2);
  EXPECT_EQ(none.Pressure(), 0u);
  // Who gave its part is not asked again for that of others.
  small_body.Clear();
  EXPECT_EQ(large.Pressure(), 0u);
}

TEST(SlowestTransfers, AreThoseWithTheFewestBytesInTheirTime) {
  using std::chrono::seconds;
  const BodyProgress kTransfers[] = {
      {kBlock, 100, seconds(10)},            // 10 bytes/s
      {kBlock, 1'000'000, seconds(10)},      // fast
      {2 * kBlock, 10'000, seconds(5'000)},  // 2
      {0, 0, seconds(100)},                  // has nothing to give
      {kBlock, 50, seconds(10)},             // 5
  };
  EXPECT_EQ(SlowestTransfers(kTransfers, 0), std::vector<size_t>());
  EXPECT_EQ(SlowestTransfers(kTransfers, 1), (std::vector<size_t>{2}));
  EXPECT_EQ(SlowestTransfers(kTransfers, 2 * kBlock + 1),
            (std::vector<size_t>{2, 4}));
  EXPECT_EQ(SlowestTransfers(kTransfers, 100 * kBlock),
            (std::vector<size_t>{2, 4, 0, 1}));
}

// Engines of several threads, each with slow drips that never end and fast
// pages: the pool holds, fast pages come whole, drips are truncated.
TEST(BodyPool, FastTransfersGoOnWhileDripsAreTruncated) {
  auto pool = Pool(2048);
  std::atomic<int> fast_whole{0};
  std::atomic<int> truncated{0};
  auto engine = [&] {
    BodyShare share(*pool);
    std::vector<Body> drips(100);
    for (Body& drip : drips) drip.Begin(&share);
    std::vector<BodyProgress> progress(drips.size());
    const std::string drop(2'000, 'd');
    for (int turn = 0; turn < 300; ++turn) {
      if (const uint64_t bytes = share.Pressure(); bytes > 0) {
        for (size_t i = 0; i < drips.size(); ++i) {
          progress[i] = {drips[i].held_bytes(), drips[i].size_bytes(),
                         std::chrono::seconds(turn)};
        }
        for (const size_t i : SlowestTransfers(progress, bytes)) {
          drips[i].Clear();
          ++truncated;
        }
      }
      for (Body& drip : drips) {
        if (drip.Append(drop) < drop.size()) {
          drip.Clear();
          ++truncated;
        }
      }
      Body page(&share);
      const std::string text = Numbers(21'000);
      if (page.Append(text) == text.size() && Text(page) == text) ++fast_whole;
      EXPECT_LE(pool->used_bytes(), pool->capacity_bytes());
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) threads.emplace_back(engine);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool->used_bytes(), 0u);
  EXPECT_GT(truncated, 100);
  EXPECT_GT(fast_whole, 4 * 300 * 9 / 10);
}

}  // namespace
}  // namespace nephila::fetch
