#include "fetch/body_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
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

TEST(Body, CountsWhatIsHeldElsewhere) {
  auto pool = Pool(8);
  BodyShare share(*pool);
  Body body(&share);
  EXPECT_TRUE(body.Charge(0));
  EXPECT_EQ(body.held_bytes(), 0u);
  EXPECT_TRUE(body.Charge(kBlock + 1));
  EXPECT_EQ(body.held_bytes(), 2 * kBlock);
  // In all, not besides.
  EXPECT_TRUE(body.Charge(2 * kBlock));
  EXPECT_EQ(pool->used_bytes(), 2 * kBlock);
  EXPECT_EQ(body.Append(std::string(kBlock, 'x')), kBlock);
  EXPECT_EQ(share.in_flight_bytes(), 3 * kBlock);
  Body moved = std::move(body);
  EXPECT_EQ(moved.held_bytes(), 3 * kBlock);
  EXPECT_EQ(moved.size_bytes(), kBlock);
  EXPECT_FALSE(moved.Charge(9 * kBlock));
  EXPECT_EQ(pool->used_bytes(), 8 * kBlock);
  moved.Finished();
  EXPECT_EQ(share.in_flight_bytes(), 0u);
  EXPECT_EQ(share.held_bytes(), 8 * kBlock);
  moved.Clear();
  EXPECT_EQ(pool->used_bytes(), 0u);
  EXPECT_EQ(pool->in_flight_bytes(), 0u);
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

TEST(SlowestTransfers, AreSlowNowWhateverTheyWereBefore) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const MonoTime start{};
  // 50 MB in five seconds, then nothing for two minutes.
  RecentSpeed burst;
  burst.Begin(start);
  // A thousand bytes a second for all the time.
  RecentSpeed steady;
  steady.Begin(start);
  MonoTime now = start;
  for (int tenth = 1; tenth <= 1'250; ++tenth) {
    now = start + tenth * milliseconds(100);
    if (tenth <= 50) burst.Count(1'000'000, now);
    steady.Count(100, now);
    if (tenth == 50) {
      EXPECT_NEAR(burst.BytesPerSecond(now), 10e6, 0.5e6);
      EXPECT_NEAR(steady.BytesPerSecond(now), 1'000, 50);
    }
  }
  EXPECT_NEAR(steady.BytesPerSecond(now), 1'000, 50);
  EXPECT_LT(burst.BytesPerSecond(now), 10);
  BodyProgress transfers[] = {
      {kBlock, 125'000, seconds(125), steady.BytesPerSecond(now)},
      {kBlock, 50'000'000, seconds(125), burst.BytesPerSecond(now)},
  };
  EXPECT_EQ(SlowestTransfers(transfers, 1), (std::vector<size_t>{1}));
  // One that has just begun is not slow.
  RecentSpeed fresh;
  fresh.Begin(now);
  fresh.Count(1'400, now);
  EXPECT_GT(fresh.BytesPerSecond(now), 100'000);
}

TEST(BodyShare, TransfersDoNotPayForWhatIsFinished) {
  auto pool = Pool(80);
  BodyShare share(*pool);
  Body finished(&share);
  finished.Append(std::string(45 * kBlock, 'x'));
  Body going(&share);
  going.Append(std::string(34 * kBlock, 'x'));
  EXPECT_EQ(share.in_flight_bytes(), 79 * kBlock);
  EXPECT_NEAR(static_cast<double>(share.Pressure()), 19 * kBlock, 2);
  EXPECT_TRUE(pool->MayStart()) << "nothing waits for anybody";
  finished.Finished();
  finished.Finished();
  EXPECT_EQ(share.held_bytes(), 79 * kBlock);
  EXPECT_EQ(share.in_flight_bytes(), 34 * kBlock);
  EXPECT_EQ(pool->in_flight_bytes(), 34 * kBlock);
  EXPECT_EQ(share.Pressure(), 0u) << "others are slow";
  EXPECT_FALSE(pool->MayStart());
  // It may travel, and ends where it likes.
  Body elsewhere = std::move(finished);
  elsewhere.Clear();
  EXPECT_EQ(share.held_bytes(), 34 * kBlock);
  EXPECT_EQ(share.in_flight_bytes(), 34 * kBlock);
  EXPECT_TRUE(pool->MayStart());
  // The next page in the same object is in flight again.
  elsewhere.Begin(&share);
  elsewhere.Append("x");
  EXPECT_EQ(share.in_flight_bytes(), 35 * kBlock);
}

TEST(BodyShare, TransfersPayUntilTheyHoldHalf) {
  auto pool = Pool(80);
  BodyShare share(*pool);
  BodyShare other(*pool);
  Body finished(&other);
  finished.Append(std::string(30 * kBlock, 'x'));
  finished.Finished();
  Body going(&share);
  going.Append(std::string(50 * kBlock, 'x'));
  // From 80 blocks to 60 would be 20, but of 50 in flight 40 may stay.
  EXPECT_NEAR(static_cast<double>(share.Pressure()), 10 * kBlock, 2);
  EXPECT_EQ(other.Pressure(), 0u) << "it has nothing that it could end";
}

// Of one thread: a hundred slow drips that never end, and in each turn a fast
// page that comes in two halves, one turn apart.
class DripEngine {
 public:
  explicit DripEngine(BodyPool& pool) : share_(pool), drips_(100) {
    for (Body& drip : drips_) drip.Begin(&share_);
  }

  void Turn(int turn) {
    if (const uint64_t bytes = share_.Pressure(); bytes > 0) {
      Relieve(bytes, turn);
    }
    for (Body& drip : drips_) {
      if (drip.Append(drop_) < drop_.size()) {
        drip.Clear();
        ++truncated;
      }
    }
    if (!page_.empty() && Half(&page_, 1) && Text(page_) == text_) ++whole;
    page_.Begin(&share_);
    if (!Half(&page_, 0)) page_.Clear();
  }

  int whole = 0;
  int truncated = 0;

 private:
  bool Half(Body* body, size_t half) {
    const size_t size = text_.size() / 2;
    return body->Append(std::string_view(text_).substr(half * size, size)) ==
           size;
  }
  void Relieve(uint64_t bytes, int turn) {
    std::vector<BodyProgress> progress;
    progress.reserve(drips_.size() + 1);
    for (const Body& drip : drips_) {
      progress.push_back(
          {drip.held_bytes(), drip.size_bytes(), std::chrono::seconds(turn)});
    }
    progress.push_back(
        {page_.held_bytes(), page_.size_bytes(), std::chrono::seconds(1)});
    for (const size_t i : SlowestTransfers(progress, bytes)) {
      if (i == drips_.size()) {
        page_.Clear();
      } else {
        drips_[i].Clear();
        ++truncated;
      }
    }
  }

  const std::string drop_ = std::string(2'000, 'd');
  const std::string text_ = Numbers(42'000);
  BodyShare share_;
  std::vector<Body> drips_;
  Body page_;
};

// Engines of several threads: the pool holds, fast pages come whole, drips are
// truncated.
TEST(BodyPool, FastTransfersGoOnWhileDripsAreTruncated) {
  auto pool = Pool(2048);
  std::atomic<int> whole{0};
  std::atomic<int> truncated{0};
  std::barrier turns(4);
  auto engine = [&] {
    DripEngine drips(*pool);
    for (int turn = 0; turn < 300; ++turn) {
      // As fast as each other, as the network makes them.
      turns.arrive_and_wait();
      drips.Turn(turn);
      EXPECT_LE(pool->used_bytes(), pool->capacity_bytes());
    }
    whole += drips.whole;
    truncated += drips.truncated;
  };
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) threads.emplace_back(engine);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool->used_bytes(), 0u);
  EXPECT_GT(truncated, 100);
  EXPECT_GT(whole, 4 * 300 * 9 / 10);
}

}  // namespace
}  // namespace nephila::fetch
