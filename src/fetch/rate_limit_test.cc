#include "fetch/rate_limit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace nephila::fetch {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

class RateLimitTest : public testing::Test {
 protected:
  RateLimit Limit(uint64_t bytes, int64_t pages) {
    config::FetchSettings settings;
    settings.max_bytes_per_second = bytes;
    settings.max_pages_per_second = pages;
    return RateLimit(settings, clock_);
  }
  // How many pages begin in `time`, asked for every millisecond.
  int PagesIn(RateLimit& limit, milliseconds time) {
    int pages = 0;
    for (milliseconds at(0); at < time; at += milliseconds(1)) {
      while (limit.TakePage()) ++pages;
      clock_.Advance(milliseconds(1));
    }
    return pages;
  }

  ManualClock clock_;
};

TEST_F(RateLimitTest, WithoutALimitAllIsAllowed) {
  RateLimit limit = Limit(0, 0);
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_TRUE(limit.TakePage());
    EXPECT_TRUE(limit.MayRead());
    limit.CountBytes(uint64_t{1} << 40);
  }
  EXPECT_LE(limit.WhenPageAllowed(), clock_.Now());
  EXPECT_LE(limit.WhenReadAllowed(), clock_.Now());
}

TEST_F(RateLimitTest, PagesBeginAtTheRate) {
  RateLimit limit = Limit(0, 100);
  EXPECT_NEAR(PagesIn(limit, seconds(10)), 1'000, 2);
}

TEST_F(RateLimitTest, SaysWhenTheNextPageMayBegin) {
  RateLimit limit = Limit(0, 4);
  EXPECT_TRUE(limit.TakePage());
  EXPECT_FALSE(limit.TakePage());
  EXPECT_EQ(limit.WhenPageAllowed(), clock_.Now() + milliseconds(250));
  clock_.Advance(milliseconds(249));
  EXPECT_FALSE(limit.TakePage());
  clock_.Advance(milliseconds(1));
  EXPECT_TRUE(limit.TakePage());
}

TEST_F(RateLimitTest, IdleTimeIsSavedUpForATenthOfASecond) {
  RateLimit limit = Limit(0, 100);
  clock_.Advance(hours(1));
  int burst = 0;
  while (limit.TakePage()) ++burst;
  EXPECT_EQ(burst, 11);
}

TEST_F(RateLimitTest, BytesArePaidBackBeforeTheNextRead) {
  RateLimit limit = Limit(1'000'000, 0);
  clock_.Advance(seconds(1));
  EXPECT_TRUE(limit.MayRead());
  limit.CountBytes(600'000);
  EXPECT_FALSE(limit.MayRead());
  // A tenth of a second was saved up.
  EXPECT_EQ(limit.WhenReadAllowed(), clock_.Now() + milliseconds(500));
  EXPECT_FALSE(limit.TakePage());
  EXPECT_EQ(limit.WhenPageAllowed(), limit.WhenReadAllowed());
  clock_.Advance(milliseconds(500));
  EXPECT_TRUE(limit.MayRead());
  EXPECT_TRUE(limit.TakePage());
}

TEST_F(RateLimitTest, ReadsStayWithinTheRate) {
  RateLimit limit = Limit(3'000'000, 0);
  uint64_t read = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (limit.MayRead()) {
      limit.CountBytes(16'384);
      read += 16'384;
    }
    clock_.Advance(milliseconds(1));
  }
  EXPECT_NEAR(static_cast<double>(read), 30e6, 30e6 * 0.02);
}

TEST_F(RateLimitTest, ALimitChangesWhileItRuns) {
  RateLimit limit = Limit(1'000, 10);
  limit.CountBytes(1'000'000);  // a debt of 1 000 s
  EXPECT_GT(limit.WhenReadAllowed(), clock_.Now() + seconds(990));
  limit.SetBytesPerSecond(1'000'000);
  EXPECT_LE(limit.WhenReadAllowed(), clock_.Now() + seconds(1));
  limit.SetBytesPerSecond(1'000);
  EXPECT_GT(limit.WhenReadAllowed(), clock_.Now() + seconds(990));
  limit.SetBytesPerSecond(0);
  EXPECT_TRUE(limit.MayRead());
  EXPECT_NEAR(PagesIn(limit, seconds(10)), 100, 2);
  limit.SetPagesPerSecond(100);
  EXPECT_NEAR(PagesIn(limit, seconds(10)), 1'000, 2);
  limit.SetPagesPerSecond(1);
  EXPECT_NEAR(PagesIn(limit, seconds(10)), 10, 1);
  limit.SetPagesPerSecond(0);
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(limit.TakePage());
  limit.SetPagesPerSecond(10);
  EXPECT_NEAR(PagesIn(limit, seconds(10)), 100, 2);
}

TEST_F(RateLimitTest, AnyDebtIsANumber) {
  RateLimit limit = Limit(1, 0);
  for (int i = 0; i < 100; ++i) limit.CountBytes(UINT64_MAX);
  EXPECT_GT(limit.WhenReadAllowed(), clock_.Now() + hours(24 * 300));
  EXPECT_LE(limit.WhenReadAllowed(), clock_.Now() + hours(24 * 366));
  limit.SetBytesPerSecond(UINT64_MAX / 2);
  EXPECT_LE(limit.WhenReadAllowed(), clock_.Now() + seconds(1));
}

TEST_F(RateLimitTest, ThreadsShareIt) {
  RateLimit limit = Limit(0, 1'000);
  std::atomic<int> pages{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        if (limit.TakePage()) {
          ++pages;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  for (int i = 0; i < 500; ++i) {
    clock_.Advance(milliseconds(1));
    // The page that this millisecond pays for is taken once.
    while (limit.WhenPageAllowed() <= clock_.Now()) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_NEAR(pages, 500, 2);
}

}  // namespace
}  // namespace nephila::fetch
