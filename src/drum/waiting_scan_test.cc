// What waits in the batches of a store, read beside the store itself.
#include "drum/waiting_scan.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_testing.h"
#include "base/hash.h"
#include "base/memory_file_system.h"
#include "base/workers.h"
#include "drum/drum.h"
#include "drum/drum_testing.h"

namespace nephila::drum {
namespace {

class WaitingScanTest : public ::testing::Test {
 protected:
  WaitingScanTest() {
    DrumOptions options;
    options.only = Operation::kCheckUpdate;
    // Small: chunks and blocks go to disk.
    options.memory_bytes = uint64_t{4} << 20;
    options.disk_bytes = uint64_t{64} << 20;
    drum_ = Must(Drum::Create({fs_, clock_, workers_}, "store", options));
  }

  static uint64_t KeyOf(int i) { return KeyedHash(std::to_string(i), 1); }
  static std::string AuxOf(int i) {
    return fmt::format("{}-{}", i,
                       std::string(static_cast<size_t>(i % 400), 'x'));
  }
  void Add(int first, int last) {
    for (int i = first; i < last; ++i) {
      const std::string aux = AuxOf(i);
      Tuple tuple;
      tuple.key = KeyOf(i);
      tuple.aux = aux;
      MustDo(drum_->Add(tuple));
    }
  }
  std::vector<std::string> Waiting(uint64_t generation) {
    std::vector<std::string> waiting;
    MustDo(ScanWaiting(fs_, "store", generation,
                       [&](std::string_view aux) -> Result<bool> {
                         waiting.emplace_back(aux);
                         return true;
                       }));
    return waiting;
  }
  uint64_t Tuples(uint64_t generation, int i) {
    uint64_t tuples = 0;
    MustDo(FindTuples(fs_, "store", generation, KeyOf(i),
                      [&](std::string_view) { ++tuples; }));
    return tuples;
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  Workers workers_{0};
  std::unique_ptr<Drum> drum_;
};

TEST_F(WaitingScanTest, ABatchIsReadInTheOrderOfArrival) {
  constexpr int kTuples = 20'000;
  Add(0, kTuples);
  const uint64_t generation = Must(drum_->Commit());
  const std::vector<std::string> waiting = Waiting(generation);
  ASSERT_EQ(waiting.size(), size_t{kTuples});
  for (int i = 0; i < kTuples; ++i) {
    ASSERT_EQ(waiting[static_cast<size_t>(i)], AuxOf(i));
  }
  EXPECT_GT(Must(WaitingBytes(fs_, "store", generation)), 0U);
  for (const int i : {0, 1, 777, kTuples - 1}) {
    EXPECT_EQ(Tuples(generation, i), 1U) << i;
  }
  EXPECT_EQ(Tuples(generation, kTuples), 0U);
}

TEST_F(WaitingScanTest, WhatWasDeliveredIsLeftOut) {
  Add(0, 3000);
  MustDo(drum_->Flush());
  CollectingReceiver receiver;
  while (receiver.results.size() < 1000) {
    Must(drum_->Deliver(receiver, 1000 - receiver.results.size()));
  }
  // Of the next batch.
  Add(3000, 3010);
  const std::vector<std::string> waiting = Waiting(Must(drum_->Commit()));
  ASSERT_EQ(waiting.size(), 2010U);
  EXPECT_EQ(waiting.front(), AuxOf(1000));
  EXPECT_EQ(waiting.back(), AuxOf(3009));
  MustDo(drum_->Drain(receiver));
  EXPECT_EQ(Waiting(Must(drum_->Commit())), std::vector<std::string>());
}

TEST_F(WaitingScanTest, ASinkEndsIt) {
  Add(0, 10);
  int seen = 0;
  MustDo(ScanWaiting(
      fs_, "store", Must(drum_->Commit()),
      [&](std::string_view) -> Result<bool> { return ++seen < 3; }));
  EXPECT_EQ(seen, 3);
}

TEST_F(WaitingScanTest, AFileThatIsGoneIsNotFound) {
  Add(0, 20'000);
  const uint64_t generation = Must(drum_->Commit());
  drum_.reset();
  for (const DirEntry& entry : Must(fs_.List("store"))) {
    if (!entry.name.starts_with("journal")) {
      MustDo(fs_.Remove("store/" + entry.name));
    }
  }
  const Status status =
      ScanWaiting(fs_, "store", generation,
                  [](std::string_view) -> Result<bool> { return true; });
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace nephila::drum
