// Batch: tuples that wait for their pass.
//
// A tuple's key and value go to the bucket of its key, its aux to one log in
// the order of arrival. Each bucket has a buffer; a full one is a chunk, which
// is appended to a file that all buckets share. The log is cut into blocks,
// compressed and appended to another. Neither file is read before the pass.
// What has not left memory when a commit comes goes to the journal, and what
// was there before need not go again: see AppendTo.
//
// A batch gathers, is frozen, and is then read by a pass. A frozen batch keeps
// no buffers: what is small enough stays in memory as it is, the rest is on
// disk. Threads: one gathers; a frozen batch can be read by any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/codec.h"
#include "base/file.h"
#include "base/result.h"
#include "drum/aux_block.h"
#include "drum/block_file.h"
#include "drum/codec_chooser.h"
#include "drum/plan.h"
#include "drum/rule.h"
#include "drum/value.h"
#include "drum/write_queue.h"

namespace nephila::drum {

// How tuples are spelled in buckets:
//   [u8 operation, unless all have the same]
//   [the low bits of the key, little-endian, KeyBytes(bucket_bits) bytes]
//   [the value, with a varint of its size before it if sizes vary; not for a
//    check]
struct TupleFormat {
  ValueFormat value;
  std::optional<Operation> only;
  bool log_buckets = false;  // in the aux log, as the key is no function of aux
  int bucket_bits = 0;

  uint32_t BucketOf(uint64_t key) const {
    return bucket_bits == 0 ? 0
                            : static_cast<uint32_t>(key >> (64 - bucket_bits));
  }
  uint32_t buckets() const { return uint32_t{1} << bucket_bits; }
  // The lowest and highest key of a bucket.
  uint64_t FirstKey(uint32_t bucket) const {
    return bucket_bits == 0 ? 0 : uint64_t{bucket} << (64 - bucket_bits);
  }
  uint64_t LastKey(uint32_t bucket) const {
    return FirstKey(bucket) + (~uint64_t{0} >> bucket_bits);
  }
};

// A tuple as it stands in a bucket.
struct BucketTuple {
  Operation operation;
  uint64_t key;
  std::string_view value;
};

// Goes through the tuples of a piece of a bucket. What it reads had a checksum:
// a tuple that does not parse is kCorruption all the same.
class TupleReader {
 public:
  TupleReader(const TupleFormat& format, uint32_t bucket,
              std::string_view bytes)
      : format_(format), first_key_(format.FirstKey(bucket)), bytes_(bytes) {}
  bool AtEnd() const { return bytes_.empty(); }
  // False if the bytes are no tuple.
  bool Next(BucketTuple& tuple);
  size_t remaining() const { return bytes_.size(); }

 private:
  const TupleFormat& format_;
  const uint64_t first_key_;
  std::string_view bytes_;
};

// A piece of a bucket on disk.
struct Chunk {
  BlockPlace place;
  uint32_t tuples = 0;
};
struct AuxPlace {
  BlockPlace place;
  uint32_t records = 0;
};

// What the journal knows of a batch: enough to make it again.
struct BatchState {
  explicit BatchState(const TupleFormat& tuple_format)
      : format(tuple_format),
        buckets(tuple_format.buckets()),
        aux_open(tuple_format.log_buckets) {}

  struct Bucket {
    std::vector<Chunk> chunks;
    uint64_t chunk_tuples = 0;
    std::string open;  // the tuples behind the last chunk
    uint32_t open_tuples = 0;
  };

  // Takes the next entry of the journal about this batch, as Batch::AppendTo
  // wrote it.
  Status Apply(ByteReader& reader);

  TupleFormat format;
  uint64_t number = 0;  // of its files
  bool frozen = false;
  std::string parameters;
  uint64_t delivered = 0;  // results that the receiver has
  uint64_t keys_end = 0;   // of its files
  uint64_t aux_end = 0;
  std::vector<Bucket> buckets;
  std::vector<AuxPlace> aux_blocks;
  uint64_t aux_records = 0;  // in blocks
  AuxBlockBuilder aux_open;
};

// What the batches of a store share.
struct BatchContext {
  uint64_t mean_value_bytes;  // of the store's records, if they vary
  FileSystem& fs;
  const std::string& dir;
  uint64_t salt;  // of the store
  IoCounts& counts;
  WriteQueue& writes;
  CodecChooser& codecs;
  FreeList<BlockBuffer>& chunk_buffers;
  FreeList<Compressor>& compressors;
  FreeList<BlockBuffer>& block_buffers;
  FreeList<AuxBlockBuilder>& aux_builders;
};

// A block of the aux log is never larger, before compression.
inline constexpr uint32_t kMaxAuxBytes = uint32_t{16} << 20;
inline constexpr uint32_t kMaxAuxBlockBytes = 2 * kMaxAuxBytes;

class Batch {
 public:
  Batch(const BatchContext& context, uint64_t number, const TupleFormat& format,
        const Plan& plan, Codec codec);
  // As it was when `state` was written.
  static Result<std::unique_ptr<Batch>> Restore(const BatchContext& context,
                                                BatchState state,
                                                const Plan& plan, Codec codec);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // --- gathering
  // kNoSpace: nothing was added, call again.
  Status Add(Operation operation, uint64_t key, std::string_view value,
             std::string_view aux);
  // One of its buckets is as large as can be sorted, or the files are as
  // large as planned.
  bool IsFull() const { return full_ || planned_disk_bytes() >= disk_limit_; }
  // With what is in buffers and will go to disk.
  uint64_t planned_disk_bytes() const { return disk_bytes() + open_bytes_; }
  bool empty() const { return tuples_ == 0; }
  // No more tuples. After kNoSpace call again.
  Status Freeze(std::string parameters);

  // --- for a commit
  // Writes chunks of what is worth one, and waits for all writes.
  Status PrepareCommit();
  // What changed since the last call, or with `whole` everything.
  void AppendTo(ByteWriter& writer, bool whole);
  // Files with data that no Sync has covered yet.
  std::vector<std::shared_ptr<BlockFile>> TakeUnsynced();

  // --- frozen
  uint64_t bucket_tuples(uint32_t bucket) const {
    return buckets_[bucket].tuples;
  }
  // Calls `take` for the pieces of a bucket, in order.
  Status ReadBucket(
      uint32_t bucket, BlockBuffer& buffer,
      const std::function<Status(std::string_view tuples)>& take) const;
  size_t aux_blocks() const {
    return aux_blocks_.size() + (memory_aux_.empty() ? 0 : 1);
  }
  // The payload of a block of the log, in `buffer` unless it is in memory.
  Result<std::string_view> ReadAuxBlock(size_t i, BlockBuffer& buffer) const;
  // For the errors of who looks into a block.
  std::string AuxBlockName(size_t i) const;
  // Of one block: with those before it, how far a result is along.
  uint32_t aux_block_records(size_t i) const;

  // --- always
  uint64_t number() const { return number_; }
  const TupleFormat& format() const { return format_; }
  bool frozen() const { return frozen_; }
  const std::string& parameters() const { return parameters_; }
  uint64_t tuples() const { return tuples_; }
  uint64_t value_bytes() const { return value_bytes_; }
  uint64_t results() const { return results_; }  // tuples that give one
  uint64_t delivered() const { return delivered_; }
  void set_delivered(uint64_t delivered) { delivered_ = delivered; }
  uint64_t disk_bytes() const;
  uint64_t aux_log_bytes() const;
  bool has_keys_file() const { return keys_file_ != nullptr; }
  bool has_aux_file() const { return aux_file_ != nullptr; }

 private:
  struct Bucket {
    std::unique_ptr<BlockBuffer> open;
    size_t open_bytes = 0;
    uint32_t open_tuples = 0;
    size_t journaled_bytes = 0;  // of the open ones
    uint32_t journaled_tuples = 0;
    std::vector<Chunk> chunks;
    size_t journaled_chunks = 0;
    uint64_t chunk_tuples = 0;
    uint64_t tuples = 0;
    uint64_t sort_bytes = 0;  // memory that its pass will need
    std::string tail;         // what was open when frozen in memory
  };
  struct Written;  // a write that is under way, and its place when it is done

  Status SealChunk(uint32_t bucket);
  Status SealAux();
  // A new file, or the one of a restored batch up to `end`.
  Status OpenFile(std::string_view suffix, uint64_t end,
                  std::shared_ptr<BlockFile>& file) const;
  // Waits until another write may be posted, and has the file there.
  Status MakeRoomToWrite(std::string_view suffix,
                         std::shared_ptr<BlockFile>& file) const;
  // Waits for the writes and notes where they went.
  Status Settle();
  // Of buffers that go back to the others; none has 0.
  size_t UsualChunkPages() const {
    return has_usual_chunks_ ? RoundUpToPage(kFrameHeaderBytes + chunk_payload_)
                             : 0;
  }
  std::string_view OpenBytes(const Bucket& bucket) const;

  const BatchContext context_;
  const uint64_t number_;
  const TupleFormat format_;
  const Codec codec_;
  const size_t key_bytes_;
  // A batch from before a change of memory may have more buckets than planned
  // now: its buffers are smaller, and its own.
  const bool has_usual_chunks_;
  const size_t chunk_payload_;
  const size_t min_chunk_payload_;
  const size_t aux_block_bytes_;
  const size_t most_writes_;
  const uint64_t sort_limit_;
  const uint64_t disk_limit_;
  const uint64_t memory_limit_;  // for a batch that is frozen in memory

  std::vector<Bucket> buckets_;
  std::shared_ptr<BlockFile> keys_file_;
  std::shared_ptr<BlockFile> aux_file_;
  uint64_t keys_synced_ = 0;
  uint64_t aux_synced_ = 0;
  std::unique_ptr<AuxBlockBuilder> aux_open_;
  size_t aux_journaled_records_ = 0;
  std::vector<AuxPlace> aux_blocks_;
  size_t journaled_aux_blocks_ = 0;
  uint64_t aux_block_records_ = 0;
  std::string memory_aux_;
  std::vector<std::shared_ptr<Written>> under_way_;

  bool frozen_ = false;
  bool full_ = false;
  std::string parameters_;
  uint64_t tuples_ = 0;
  uint64_t value_bytes_ = 0;
  uint64_t open_bytes_ = 0;  // in the buffers of buckets
  uint64_t results_ = 0;
  uint64_t delivered_ = 0;
};

}  // namespace nephila::drum
