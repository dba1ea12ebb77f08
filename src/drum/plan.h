// Plan: the sizes of a store's parts, from two numbers.
//
// Memory M and disk D give the number of buckets k, the buffer of each, the
// tuples r that a bucket may hold, the blocks of the aux log. In the thesis'
// terms (eqs. 8 to 12, 17; docs/drum-model.md has the derivation):
//   - two batches share D, one that gathers and one in its pass, so a batch
//     may take D/2, and batches that wait for a commit count too;
//   - a bucket must be sorted in its share of memory, which bounds r;
//   - k is the smallest power of two for which k r tuples fill D/2: fewer, and
//     the disk is not used; more, and the buffers get small for nothing;
//   - buffers below 16 KiB cost more in seeks than they save, which bounds k:
//     then memory is the bottleneck and part of D stays unused (R^2 < Lambda).
// Theorem 2 asks for 96 MB of memory so that buckets have 32 MB. Below that
// nothing breaks: buckets and buffers shrink with M, passes get more, each
// moves less. Below about 8 MiB what is fixed (a codec's context, a megabyte
// a thread for writing a run) is more than the figure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nephila::drum {

struct Plan {
  int bucket_bits = 0;         // k = 2^bucket_bits
  size_t chunk_bytes = 0;      // of a bucket's buffer, pages, header included
  size_t min_chunk_bytes = 0;  // at a commit: less goes to the journal
  size_t spare_chunks = 0;     // buffers being written
  size_t aux_block_bytes = 0;  // before compression
  size_t aux_blocks_written = 0;   // at once, being compressed and written
  size_t aux_blocks_ahead = 0;     // read and unpacked before they are needed
  int merge_tasks = 0;             // buckets in work at the same time
  uint64_t bucket_sort_bytes = 0;  // memory for one of them: bounds r
  uint64_t batch_disk_bytes = 0;   // a batch is full with so much on disk
  uint64_t memory_run_bytes = 0;   // of records of small passes
  uint64_t result_bytes = 0;       // of results kept in memory
  size_t read_ahead_bytes = 0;     // of each cursor over a run

  // What the parts add up to.
  uint64_t total_bytes() const;
};

// Bytes of memory that sorting and merging a tuple takes, beside its value.
inline constexpr uint64_t kSortBytesPerTuple = 50;

Plan MakePlan(uint64_t memory_bytes, uint64_t disk_bytes, int threads);

// Bytes of a key in a bucket: the bucket's own bits are left out.
constexpr size_t KeyBytes(int bucket_bits) {
  return static_cast<size_t>((64 - bucket_bits + 7) / 8);
}

}  // namespace nephila::drum
