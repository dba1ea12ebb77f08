#include "drum/plan.h"

#include <algorithm>
#include <bit>

#include "drum/block_file.h"

namespace nephila::drum {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;

// What a tuple is taken to need on disk when k is chosen: a key of 7 bytes and
// text of links that compresses to about as much (docs/performance.md). Longer
// tuples fill the disk before the buckets, shorter ones the buckets before the
// disk; either ends the batch.
constexpr uint64_t kDiskBytesPerTuple = 16;

// Shares of memory, in sixteenths: buffers of buckets and the sorting of
// buckets get the most, as more of either means larger batches. Results and
// records of small passes have two; what each task needs beside the bucket that
// it sorts (cursors, the writer of a run, blocks of the aux log) shares the
// rest, which bounds the tasks.
constexpr uint64_t kBufferShare = 5;
constexpr uint64_t kSortShare = 5;
constexpr uint64_t kTaskShare = 4;

// Of writing a run.
constexpr uint64_t kRunWriterBytes = kMiB;
// Blocks of the aux log for each task.
constexpr uint64_t kAuxBlocksWritten = 1;
constexpr uint64_t kAuxBlocksAhead = 2;

constexpr uint64_t kMinChunkBytes = 16 * kKiB;
constexpr uint64_t kMaxChunkBytes = 512 * kKiB;
// Of open buffers that a commit writes to the journal.
constexpr uint64_t kMostSpillBytes = 256 * kMiB;

uint64_t PagesDown(uint64_t bytes) { return bytes / kPageBytes * kPageBytes; }

}  // namespace

Plan MakePlan(uint64_t memory_bytes, uint64_t disk_bytes, int threads) {
  const uint64_t memory = std::max(memory_bytes, kMiB / 2);
  Plan plan;
  plan.aux_block_bytes =
      std::clamp(std::bit_floor(memory / 256), 16 * kKiB, kMiB);
  plan.read_ahead_bytes =
      std::clamp(std::bit_floor(memory / 1024), 64 * kKiB, 512 * kKiB);
  // One more than threads, so that a core is not idle while a bucket waits for
  // the disk; fewer where memory does not reach for as many.
  const uint64_t task_bytes =
      kRunWriterBytes + 2 * plan.read_ahead_bytes +
      2 * plan.aux_block_bytes * (kAuxBlocksWritten + kAuxBlocksAhead);
  const uint64_t tasks =
      std::clamp<uint64_t>(memory * kTaskShare / 16 / task_bytes, 1,
                           static_cast<uint64_t>(threads) + 1);
  plan.merge_tasks = static_cast<int>(tasks);
  plan.aux_blocks_written = tasks * kAuxBlocksWritten;
  plan.aux_blocks_ahead = tasks * kAuxBlocksAhead;
  plan.bucket_sort_bytes = memory * kSortShare / 16 / tasks;
  plan.batch_disk_bytes = std::max(disk_bytes / 2, 16 * kPageBytes);

  const uint64_t buffers = memory * kBufferShare / 16;
  const uint64_t tuples = plan.batch_disk_bytes / kDiskBytesPerTuple;
  const uint64_t bucket_tuples = plan.bucket_sort_bytes / kSortBytesPerTuple;
  // 256 buckets save a byte of each key: taken where buffers stay useful.
  uint64_t wanted = std::max<uint64_t>(tuples / bucket_tuples + 1, 256);
  const uint64_t most = std::max<uint64_t>(
      buffers / std::min(kMinChunkBytes, std::max(buffers / 64, kPageBytes)),
      4);
  wanted = std::min(
      {std::bit_ceil(wanted), std::bit_floor(most), uint64_t{1} << 14});
  plan.bucket_bits = std::countr_zero(wanted);
  plan.spare_chunks = static_cast<size_t>(threads) + 2;
  plan.chunk_bytes =
      std::clamp(PagesDown(buffers / (wanted + plan.spare_chunks)), kPageBytes,
                 kMaxChunkBytes);
  // So the open parts of all buckets together stay small in a commit.
  plan.min_chunk_bytes =
      std::min(plan.chunk_bytes / 4, kMostSpillBytes / wanted);

  // Bounded, as a whole commit holds it.
  plan.memory_run_bytes = std::min(memory / 32, kMostSpillBytes);
  plan.result_bytes = memory / 16;
  return plan;
}

uint64_t Plan::total_bytes() const {
  const uint64_t buckets = uint64_t{1} << bucket_bits;
  return (buckets + spare_chunks) * chunk_bytes +
         static_cast<uint64_t>(merge_tasks) *
             (bucket_sort_bytes + 2 * read_ahead_bytes + kRunWriterBytes) +
         2 * aux_block_bytes * (aux_blocks_written + aux_blocks_ahead) +
         2 * memory_run_bytes + result_bytes;
}

}  // namespace nephila::drum
