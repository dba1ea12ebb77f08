#include "drum/plan.h"

#include <algorithm>
#include <functional>
#include <string>

#include "drum/block_file.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;
constexpr uint64_t kGiB = 1024 * kMiB;
constexpr uint64_t kTiB = 1024 * kGiB;

// What plan.h takes a tuple to need on disk.
constexpr uint64_t kDiskBytesPerTuple = 16;

using Visit = std::function<void(uint64_t memory, uint64_t disk, int threads,
                                 const Plan& plan)>;

// Powers of two, and sizes between them.
void ForEachPlan(uint64_t least_memory, const Visit& visit) {
  for (uint64_t memory = least_memory; memory <= 64 * kGiB; memory *= 2) {
    for (uint64_t disk = 64 * kKiB; disk <= 4 * kTiB; disk *= 4) {
      for (int threads = 0; threads <= 8; ++threads) {
        for (const uint64_t odd : {uint64_t{0}, memory / 3, memory - 1}) {
          SCOPED_TRACE(std::to_string(memory + odd) + " of memory, " +
                       std::to_string(disk) + " of disk, " +
                       std::to_string(threads) + " threads");
          visit(memory + odd, disk, threads,
                MakePlan(memory + odd, disk, threads));
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

uint64_t Buckets(const Plan& plan) { return uint64_t{1} << plan.bucket_bits; }

uint64_t TuplesOfBuckets(const Plan& plan) {
  return Buckets(plan) * (plan.bucket_sort_bytes / kSortBytesPerTuple);
}

TEST(PlanTest, EverySizeIsPositive) {
  ForEachPlan(kMiB, [](uint64_t, uint64_t, int, const Plan& plan) {
    EXPECT_GE(plan.bucket_bits, 1);
    EXPECT_LE(plan.bucket_bits, 14);
    EXPECT_GE(plan.chunk_bytes, kPageBytes);
    EXPECT_EQ(plan.chunk_bytes % kPageBytes, 0U);
    EXPECT_GT(plan.min_chunk_bytes, kFrameHeaderBytes);
    EXPECT_LE(plan.min_chunk_bytes, plan.chunk_bytes);
    EXPECT_GT(plan.spare_chunks, 0U);
    EXPECT_GT(plan.aux_block_bytes, 0U);
    EXPECT_GT(plan.aux_blocks_written, 0U);
    EXPECT_GT(plan.aux_blocks_ahead, 0U);
    EXPECT_GT(plan.merge_tasks, 0);
    EXPECT_GE(plan.bucket_sort_bytes, 100 * kSortBytesPerTuple);
    EXPECT_GE(plan.batch_disk_bytes, kPageBytes);
    EXPECT_GT(plan.memory_run_bytes, 0U);
    EXPECT_GT(plan.result_bytes, 0U);
    EXPECT_GE(plan.read_ahead_bytes, kPageBytes);
  });
}

TEST(PlanTest, ThePartsFitIntoTheMemory) {
  ForEachPlan(16 * kMiB, [](uint64_t memory, uint64_t, int, const Plan& plan) {
    EXPECT_LE(plan.total_bytes(), memory);
  });
}

// Half of it is little enough to be a mistake.
TEST(PlanTest, ThePartsUseTheMemoryWhereTheDiskIsLarge) {
  for (uint64_t memory = 16 * kMiB; memory <= kGiB; memory *= 2) {
    for (int threads = 0; threads <= 8; ++threads) {
      EXPECT_GE(MakePlan(memory, kTiB, threads).total_bytes(), memory / 2)
          << memory << " and " << threads;
    }
  }
}

TEST(PlanTest, KeysInBucketsSaveAByteFromSixteenMebibytesOn) {
  ForEachPlan(16 * kMiB, [](uint64_t, uint64_t, int, const Plan& plan) {
    EXPECT_LE(KeyBytes(plan.bucket_bits), 7U);
  });
  EXPECT_EQ(KeyBytes(0), 8U);
  EXPECT_EQ(KeyBytes(7), 8U);
  EXPECT_EQ(KeyBytes(8), 7U);
  EXPECT_EQ(KeyBytes(15), 7U);
  EXPECT_EQ(KeyBytes(16), 6U);
}

TEST(PlanTest, BucketsHoldHalfOfTheDiskOrAreAsManyAsMayBe) {
  ForEachPlan(kMiB, [](uint64_t, uint64_t disk, int, const Plan& plan) {
    if (TuplesOfBuckets(plan) >= disk / 2 / kDiskBytesPerTuple) return;
    // Twice as many would have buffers that are too small.
    EXPECT_TRUE(plan.bucket_bits == 14 || plan.chunk_bytes < 32 * kKiB);
  });
}

TEST(PlanTest, BatchesTakeHalfOfTheDisk) {
  ForEachPlan(kMiB, [](uint64_t, uint64_t disk, int, const Plan& plan) {
    EXPECT_EQ(plan.batch_disk_bytes, std::max(disk / 2, 16 * kPageBytes));
  });
}

// Up to what the disk can hold: from there on fewer buckets are enough.
TEST(PlanTest, TwiceTheMemoryNeverMeansSmallerBatches) {
  for (uint64_t disk = 64 * kKiB; disk <= 4 * kTiB; disk *= 4) {
    const uint64_t enough = disk / 2 / kDiskBytesPerTuple;
    for (int threads = 0; threads <= 8; ++threads) {
      uint64_t before = 0;
      for (uint64_t memory = kMiB; memory <= 64 * kGiB; memory *= 2) {
        const uint64_t tuples =
            std::min(TuplesOfBuckets(MakePlan(memory, disk, threads)), enough);
        EXPECT_GE(tuples, before) << memory << ", " << disk << ", " << threads;
        before = tuples;
      }
    }
  }
}

}  // namespace
}  // namespace nephila::drum
