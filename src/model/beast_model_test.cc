#include "model/beast_model.h"

#include <gtest/gtest.h>

namespace nephila::model {
namespace {

TEST(BeastModel, NaiveSpeedGrowsWithoutBoundAndDoublingDoesNot) {
  BeastParameters a;
  double naive = 0;
  double doubling = 0;
  for (double pages = 1e9; pages < 1e15; pages *= 10) {
    EXPECT_GT(NaiveDiskSpeed(a, pages), naive);
    EXPECT_GT(DoublingDiskSpeed(a, pages), doubling);
    naive = NaiveDiskSpeed(a, pages);
    doubling = DoublingDiskSpeed(a, pages);
    EXPECT_LT(doubling, DoublingDiskSpeedLimit(a));
  }
  EXPECT_NEAR(doubling / DoublingDiskSpeedLimit(a), 1, 1e-5);
  EXPECT_DOUBLE_EQ(NaiveDiskSpeed(a, 2e15) / NaiveDiskSpeed(a, 1e15), 2);
}

TEST(BeastModel, BelowOneRoundNothingDependsOnTheCrawl) {
  BeastParameters a;
  EXPECT_EQ(NaiveDiskSpeed(a, 1), NaiveDiskSpeed(a, 363e6));
  EXPECT_EQ(DoublingDiskSpeed(a, 1), DoublingDiskSpeed(a, 363e6));
  EXPECT_EQ(QueuesByThesis(a, 1), 1);
  EXPECT_EQ(QueuesByPaper(a, 1), 1);
}

TEST(BeastModel, ThePapersQueuesAreTheThesisRoundedUpToAPowerOfTwo) {
  BeastParameters a;
  for (double pages = 363e6; pages < 1e13; pages *= 1.3) {
    double queues = QueuesByPaper(a, pages);
    EXPECT_GE(queues, QueuesByThesis(a, pages) * (1 - 1e-12));
    EXPECT_LT(queues, 2 * QueuesByThesis(a, pages));
  }
  EXPECT_EQ(QueuesByPaper(a, 8e9), 16);
  EXPECT_EQ(QueuesByPaper(a, 8e10), 128);
}

}  // namespace
}  // namespace nephila::model
