#include "base/gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace nephila {
namespace {

TEST(Gate, LetsInUntilClosed) {
  Gate gate;
  EXPECT_TRUE(gate.TryEnter());
  gate.Close();
  EXPECT_FALSE(gate.TryEnter());
  gate.Close();
}

TEST(Gate, CountsAMovedPassOnce) {
  Gate gate;
  Gate::Pass first = gate.TryEnter();
  Gate::Pass second = std::move(first);
  EXPECT_TRUE(second);
  second = gate.TryEnter();
  second = Gate::Pass();
  EXPECT_FALSE(second);
  gate.Close();
}

TEST(Gate, LetsOneThreadStopAndDrainWhatItStepsItself) {
  Gate gate;
  EXPECT_TRUE(gate.IsEmpty());
  std::vector<Gate::Pass> work;
  for (int i = 0; i < 3; ++i) work.push_back(gate.TryEnter());
  EXPECT_FALSE(gate.IsEmpty());
  gate.StopIntake();
  EXPECT_FALSE(gate.TryEnter());
  int steps = 0;
  while (!gate.IsEmpty()) {
    work.pop_back();
    ++steps;
  }
  EXPECT_EQ(steps, 3);
  gate.Close();
  EXPECT_TRUE(gate.IsEmpty());
}

TEST(Gate, MayBeDestroyedAsSoonAsItIsStoppedAndEmpty) {
  for (int round = 0; round < 200; ++round) {
    auto gate = std::make_unique<Gate>();
    std::thread worker(
        [pass = gate->TryEnter()]() mutable { pass = Gate::Pass(); });
    gate->StopIntake();
    while (!gate->IsEmpty()) std::this_thread::yield();
    gate.reset();
    worker.join();
  }
}

TEST(Gate, RefusesNewPassesWhileItWaitsForOldOnes) {
  Gate gate;
  Gate::Pass pass = gate.TryEnter();
  std::atomic<bool> closed{false};
  std::thread closer([&] {
    gate.Close();
    closed = true;
  });
  while (gate.TryEnter()) std::this_thread::yield();
  EXPECT_FALSE(closed);
  pass = Gate::Pass();
  closer.join();
  EXPECT_TRUE(closed);
}

TEST(Gate, NothingIsInsideWhenCloseReturns) {
  for (int round = 0; round < 50; ++round) {
    auto gate = std::make_unique<Gate>();
    std::atomic<int> inside{0};
    std::atomic<int> started{0};
    std::atomic<bool> stop{false};
    std::vector<std::thread> workers;
    workers.reserve(3);
    for (int i = 0; i < 3; ++i) {
      workers.emplace_back([&] {
        while (Gate::Pass pass = gate->TryEnter()) {
          ++inside;
          ++started;
          std::this_thread::yield();
          EXPECT_FALSE(stop);
          --inside;
        }
      });
    }
    while (started < 10) std::this_thread::yield();
    gate->Close();
    EXPECT_EQ(inside, 0);
    stop = true;
    for (std::thread& worker : workers) worker.join();
  }
}

TEST(Gate, MayBeDestroyedAsSoonAsCloseReturns) {
  for (int round = 0; round < 200; ++round) {
    auto gate = std::make_unique<Gate>();
    std::thread worker(
        [pass = gate->TryEnter()]() mutable { pass = Gate::Pass(); });
    gate->Close();
    gate.reset();
    worker.join();
  }
}

TEST(GateDeathTest, DestroyingAGateWithSomeoneInsideIsABug) {
  EXPECT_DEATH(
      {
        auto gate = std::make_unique<Gate>();
        Gate::Pass pass = gate->TryEnter();
        gate.reset();
      },
      "check failed: inside_ == 0");
}

}  // namespace
}  // namespace nephila
