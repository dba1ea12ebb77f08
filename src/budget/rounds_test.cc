#include "budget/rounds.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::budget {
namespace {

TEST(Rounds, QueuesDoubleWhenFailedWasSplit) {
  Rounds rounds(1);
  EXPECT_EQ(rounds.current(), 1U);
  EXPECT_LT(rounds.window().last, rounds.window().first);
  uint64_t queues = 1;
  for (int round = 0; round < 5; ++round) {
    while (!rounds.AtRoundEnd()) rounds.Advance();
    const uint64_t c = rounds.current();
    rounds.BeginSplit(1000);
    EXPECT_EQ(rounds.split().first, c + queues);
    EXPECT_EQ(rounds.split().last, c + 2 * queues - 1);
    EXPECT_EQ(rounds.queues(), queues);
    rounds.EndSplit();
    queues *= 2;
    EXPECT_EQ(rounds.queues(), queues);
    EXPECT_EQ(rounds.window().last, c + queues - 1);
  }
  EXPECT_EQ(rounds.splits(), 5U);
}

TEST(Rounds, WithoutASplitTheNextRoundIsAsLong) {
  Rounds rounds(4);
  for (uint64_t c = 1; c < 40; ++c) {
    EXPECT_EQ(rounds.current(), c);
    EXPECT_EQ(rounds.AtRoundEnd(), c % 4 == 0);
    rounds.Advance();
  }
  EXPECT_EQ(rounds.queues(), 4U);
}

TEST(Rounds, ThereIsAMost) {
  Rounds rounds(3);
  for (int round = 0; round < 4; ++round) {
    while (!rounds.AtRoundEnd()) rounds.Advance();
    rounds.BeginSplit(5);
    rounds.EndSplit();
  }
  EXPECT_EQ(rounds.queues(), 5U);
}

TEST(Rounds, ASplitIsOverBeforeItsFirstQueueIsRead) {
  Rounds rounds(3);
  rounds.Advance();
  rounds.Advance();
  ASSERT_TRUE(rounds.AtRoundEnd());
  rounds.BeginSplit(1000);
  rounds.SplitAdded();
  while (rounds.SplitLetsPass()) rounds.Advance();
  EXPECT_EQ(rounds.current(), 5U);
  EXPECT_EQ(rounds.split().first, 6U);
  rounds.SplitDelivered();
  rounds.EndSplit();
  EXPECT_TRUE(rounds.SplitLetsPass());
}

TEST(Rounds, PassesHoldTheCurrentQueueBack) {
  EXPECT_TRUE(Rounds::MayPass(5, false, 1));
  EXPECT_TRUE(Rounds::MayPass(5, true, 5));
  EXPECT_FALSE(Rounds::MayPass(6, true, 5));
}

TEST(Rounds, ComeBackFromTheirBytes) {
  Rounds rounds(2);
  rounds.Advance();
  rounds.BeginSplit(1000);
  rounds.SplitAdded();
  std::string bytes;
  ByteWriter writer(bytes);
  rounds.Write(writer);
  Rounds read(1);
  ByteReader reader(bytes);
  ASSERT_TRUE(read.Read(reader));
  EXPECT_TRUE(reader.AtEnd());
  std::string again;
  ByteWriter second(again);
  read.Write(second);
  EXPECT_EQ(again, bytes);
  EXPECT_EQ(read.split_left(), 1U);
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteReader cut(std::string_view(bytes).substr(0, size));
    EXPECT_FALSE(read.Read(cut));
  }
}

}  // namespace
}  // namespace nephila::budget
