#include "net/event_loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace nephila::net {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class Handler : public FdHandler {
 public:
  explicit Handler(std::function<void(uint32_t)> on_ready)
      : on_ready_(std::move(on_ready)) {}
  void OnReady(uint32_t events) override { on_ready_(events); }

 private:
  const std::function<void(uint32_t)> on_ready_;
};

struct Pair {
  Pair() {
    std::array<int, 2> fds{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()),
              0);
    ours = Descriptor(fds[0]);
    theirs = Descriptor(fds[1]);
  }
  void Send() const { EXPECT_EQ(write(theirs.get(), "x", 1), 1); }
  void Read() const {
    char byte = 0;
    EXPECT_EQ(read(ours.get(), &byte, 1), 1);
  }
  Descriptor ours;
  Descriptor theirs;
};

class EventLoopTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = EventLoop::Make(clock_);
    ASSERT_TRUE(made);
    loop_ = *std::move(made);
  }
  size_t Round() { return loop_->RunOnce(clock_.Now()); }

  ManualClock clock_;
  std::unique_ptr<EventLoop> loop_;
};

TEST_F(EventLoopTest, ARoundWithNothingToDoDoesNothing) {
  EXPECT_EQ(Round(), 0U);
}

TEST_F(EventLoopTest, ADescriptorIsToldOfWhileItIsReady) {
  const Pair pair;
  int calls = 0;
  uint32_t seen = 0;
  Handler handler([&](uint32_t events) {
    ++calls;
    seen = events;
  });
  ASSERT_TRUE(loop_->Watch(pair.ours.get(), EPOLLIN, &handler));
  EXPECT_EQ(loop_->descriptors(), 1U);
  EXPECT_EQ(Round(), 0U);
  pair.Send();
  EXPECT_EQ(Round(), 1U);
  EXPECT_EQ(seen, static_cast<uint32_t>(EPOLLIN));
  EXPECT_EQ(Round(), 1U);  // level-triggered: it was not read
  pair.Read();
  EXPECT_EQ(Round(), 0U);
  ASSERT_TRUE(loop_->Change(pair.ours.get(), EPOLLOUT));
  EXPECT_EQ(Round(), 1U);
  EXPECT_EQ(seen, static_cast<uint32_t>(EPOLLOUT));
  ASSERT_TRUE(loop_->Change(pair.ours.get(), 0));
  EXPECT_EQ(Round(), 0U);
  loop_->Forget(pair.ours.get());
  loop_->Forget(pair.ours.get());
  EXPECT_EQ(loop_->descriptors(), 0U);
  EXPECT_EQ(calls, 3);
}

TEST_F(EventLoopTest, AHangUpIsTold) {
  Pair pair;
  uint32_t seen = 0;
  Handler handler([&](uint32_t events) { seen = events; });
  ASSERT_TRUE(loop_->Watch(pair.ours.get(), 0, &handler));
  pair.theirs = Descriptor();
  EXPECT_EQ(Round(), 1U);
  EXPECT_NE(seen & EPOLLHUP, 0U);
  loop_->Forget(pair.ours.get());
}

TEST_F(EventLoopTest, WhatIsForgottenInARoundIsNotToldInIt) {
  // Both are ready; whoever is told first forgets the other.
  const Pair a;
  const Pair b;
  int calls = 0;
  Handler handler([&](uint32_t) {
    ++calls;
    loop_->Forget(a.ours.get());
    loop_->Forget(b.ours.get());
  });
  ASSERT_TRUE(loop_->Watch(a.ours.get(), EPOLLIN, &handler));
  ASSERT_TRUE(loop_->Watch(b.ours.get(), EPOLLIN, &handler));
  a.Send();
  b.Send();
  EXPECT_EQ(Round(), 1U);
  EXPECT_EQ(calls, 1);
}

TEST_F(EventLoopTest, ANumberUsedAgainInARoundGetsNoOldEvent) {
  Pair a;
  Pair b;
  Pair fresh;
  int old_calls = 0;
  int fresh_calls = 0;
  Handler fresh_handler([&](uint32_t) { ++fresh_calls; });
  Handler handler([&](uint32_t) {
    ++old_calls;
    // The one that is told second: its number now names a socket that is not
    // ready.
    for (Pair* pair : {&a, &b}) {
      loop_->Forget(pair->ours.get());
      ASSERT_GE(dup2(fresh.ours.get(), pair->ours.get()), 0);
      ASSERT_TRUE(loop_->Watch(pair->ours.get(), EPOLLIN, &fresh_handler));
    }
  });
  ASSERT_TRUE(loop_->Watch(a.ours.get(), EPOLLIN, &handler));
  ASSERT_TRUE(loop_->Watch(b.ours.get(), EPOLLIN, &handler));
  a.Send();
  b.Send();
  EXPECT_EQ(Round(), 1U);
  EXPECT_EQ(old_calls, 1);
  EXPECT_EQ(fresh_calls, 0);
  fresh.Send();
  EXPECT_EQ(Round(), 2U);
  EXPECT_EQ(fresh_calls, 2);
}

TEST_F(EventLoopTest, WatchingWhatIsNoDescriptorIsAnError) {
  Handler handler([](uint32_t) {});
  EXPECT_FALSE(loop_->Watch(-1, EPOLLIN, &handler));
  EXPECT_FALSE(loop_->Watch(1'000'000, EPOLLIN, &handler));
  EXPECT_FALSE(loop_->Watched(1'000'000));
}

TEST_F(EventLoopTest, TimersRunWhenTheyAreDueAndInOrder) {
  std::vector<int> ran;
  const MonoTime now = clock_.Now();
  loop_->At(now + seconds(2), [&] { ran.push_back(2); });
  loop_->At(now + seconds(1), [&] { ran.push_back(1); });
  loop_->At(now - seconds(1), [&] { ran.push_back(0); });
  const TimerId cancelled = loop_->At(now, [&] { ran.push_back(9); });
  EXPECT_TRUE(loop_->Cancel(cancelled));
  EXPECT_EQ(Round(), 1U);
  clock_.Advance(milliseconds(999));
  EXPECT_EQ(Round(), 0U);
  clock_.Advance(hours(1));
  EXPECT_EQ(Round(), 2U);
  EXPECT_EQ(ran, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(loop_->timers(), 0U);
}

TEST_F(EventLoopTest, ATimerMayCancelTheNextAndAddAnother) {
  std::vector<int> ran;
  TimerId second = TimerId::kNone;
  loop_->At(clock_.Now(), [&] {
    ran.push_back(1);
    EXPECT_TRUE(loop_->Cancel(second));
    loop_->At(clock_.Now(), [&] { ran.push_back(3); });
  });
  second = loop_->At(clock_.Now(), [&] { ran.push_back(2); });
  EXPECT_EQ(Round(), 1U);
  EXPECT_EQ(Round(), 1U);
  EXPECT_EQ(ran, (std::vector<int>{1, 3}));
}

TEST_F(EventLoopTest, WhatKeepsAddingItselfDoesNotKeepOthersWaiting) {
  const Pair pair;
  int told = 0;
  Handler handler([&](uint32_t) { ++told; });
  ASSERT_TRUE(loop_->Watch(pair.ours.get(), EPOLLIN, &handler));
  pair.Send();
  std::function<void()> timer = [&] { loop_->At(clock_.Now(), timer); };
  std::function<void()> post = [&] { loop_->Post(post); };
  timer();
  post();
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(Round(), 3U);
    EXPECT_EQ(told, i);
  }
  loop_->Forget(pair.ours.get());
}

TEST_F(EventLoopTest, TensOfThousandsOfTimersAndAllOfTheirCancels) {
  size_t ran = 0;
  std::vector<TimerId> ids;
  ids.reserve(50'000);
  for (int i = 0; i < 50'000; ++i) {
    ids.push_back(loop_->At(
        clock_.Now() + milliseconds((i * 7919) % 30'000 + 1), [&] { ++ran; }));
  }
  for (size_t i = 0; i < ids.size(); i += 2) EXPECT_TRUE(loop_->Cancel(ids[i]));
  EXPECT_EQ(loop_->timers(), 25'000U);
  clock_.Advance(seconds(30));
  EXPECT_EQ(Round(), 25'000U);
  EXPECT_EQ(ran, 25'000U);
}

TEST_F(EventLoopTest, ATimerSetAnewInThePastDoesNotKeepOthersWaiting) {
  std::function<void()> again = [&] {
    loop_->At(clock_.Now() - seconds(1), again);
  };
  again();
  bool ran = false;
  loop_->At(clock_.Now(), [&] { ran = true; });
  EXPECT_EQ(Round(), 2U);
  EXPECT_TRUE(ran);
  EXPECT_EQ(Round(), 1U);
}

TEST_F(EventLoopTest, ThousandsOfDescriptors) {
  // As many as the limit of a default shell lets a test have.
  constexpr size_t kDescriptors = 900;
  std::vector<Descriptor> fds;
  std::vector<size_t> told(kDescriptors);
  std::vector<std::unique_ptr<Handler>> handlers;
  for (size_t i = 0; i < kDescriptors; ++i) {
    fds.emplace_back(eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC));
    ASSERT_GE(fds.back().get(), 0);
    handlers.push_back(
        std::make_unique<Handler>([&told, i](uint32_t) { ++told[i]; }));
    ASSERT_TRUE(loop_->Watch(fds.back().get(), EPOLLIN, handlers.back().get()));
  }
  // More than a round fetches: the rest comes in the next one, nobody twice
  // before everybody once.
  const size_t first = Round();
  EXPECT_LT(first, kDescriptors);
  EXPECT_EQ(std::count(told.begin(), told.end(), 1U),
            static_cast<ptrdiff_t>(first));
  EXPECT_EQ(std::count(told.begin(), told.end(), 0U),
            static_cast<ptrdiff_t>(kDescriptors - first));
  EXPECT_GE(first + Round(), kDescriptors);
  EXPECT_EQ(std::count(told.begin(), told.end(), 0U), 0);
  for (const Descriptor& fd : fds) loop_->Forget(fd.get());
}

TEST_F(EventLoopTest, FunctionsThatNeverRanAreDropped) {
  const auto held = std::make_shared<int>(0);
  loop_->At(clock_.Now() + hours(1), [held] {});
  loop_->Post([held] {});
  EXPECT_EQ(held.use_count(), 3);
  loop_.reset();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(EventLoop, WaitsForATimerInRealTime) {
  const RealClock clock;
  auto loop = EventLoop::Make(clock);
  ASSERT_TRUE(loop);
  const MonoTime due = clock.Now() + milliseconds(5);
  bool ran = false;
  (*loop)->At(due, [&] { ran = true; });
  while (!ran) (*loop)->RunOnce(MonoTime::max());
  EXPECT_GE(clock.Now(), due);
  const MonoTime deadline = clock.Now() + milliseconds(2);
  EXPECT_EQ((*loop)->RunOnce(deadline), 0U);
  EXPECT_GE(clock.Now(), deadline);
}

TEST(EventLoop, PostsOfManyThreadsAllRunOnTheLoopsThread) {
  const RealClock clock;
  auto loop = EventLoop::Make(clock);
  ASSERT_TRUE(loop);
  constexpr int kThreads = 4;
  constexpr int kPosts = 2'000;
  int ran = 0;  // not atomic: only the loop's thread touches it
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kPosts; ++i) (*loop)->Post([&ran] { ++ran; });
    });
  }
  while (ran < kThreads * kPosts) (*loop)->RunOnce(MonoTime::max());
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, kThreads * kPosts);
}

TEST(EventLoop, ANapLastsWhateverComesSoon) {
  const RealClock clock;
  auto loop = EventLoop::Make(clock);
  ASSERT_TRUE(loop);
  int ran = 0;
  // What came before it, and what comes while it lasts.
  (*loop)->PostSoon([&] { ++ran; });
  const MonoTime wakes = clock.Now() + std::chrono::milliseconds(30);
  std::thread other([&] { (*loop)->PostSoon([&] { ++ran; }); });
  EXPECT_GT((*loop)->RunOnce(MonoTime::max(), wakes), 0U);
  EXPECT_GE(clock.Now(), wakes);
  other.join();
  while (ran < 2) (*loop)->RunOnce(MonoTime::max());
}

TEST(EventLoop, ANapEndsForWhatCannotWait) {
  const RealClock clock;
  auto loop = EventLoop::Make(clock);
  ASSERT_TRUE(loop);
  const MonoTime never = clock.Now() + std::chrono::hours(1);
  int ran = 0;
  (*loop)->PostSoon([&] { ++ran; });
  (*loop)->Post([&] { ++ran; });
  EXPECT_EQ((*loop)->RunOnce(MonoTime::max(), never), 2U);
  EXPECT_EQ(ran, 2);
  std::thread other([&] { (*loop)->Post([&] { ++ran; }); });
  EXPECT_EQ((*loop)->RunOnce(MonoTime::max(), never), 1U);
  other.join();
  EXPECT_LT(clock.Now(), never);
}

TEST(EventLoop, WakeEndsTheWaiting) {
  const RealClock clock;
  auto loop = EventLoop::Make(clock);
  ASSERT_TRUE(loop);
  std::thread waker([&] { (*loop)->Wake(); });
  EXPECT_EQ((*loop)->RunOnce(MonoTime::max()), 0U);
  waker.join();
}

}  // namespace
}  // namespace nephila::net
