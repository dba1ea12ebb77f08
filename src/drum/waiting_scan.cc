#include "drum/waiting_scan.h"

#include <memory>
#include <vector>

#include "base/codec.h"
#include "drum/aux_block.h"
#include "drum/batch.h"
#include "drum/block_file.h"
#include "drum/journal.h"
#include "drum/store_file.h"

namespace nephila::drum {
namespace {

Unexpected<Error> Corrupt(const std::string& path, std::string_view what) {
  return Unexpected(
      Error{ErrorCode::kCorruption, path + ": " + std::string(what)});
}

class WaitingScan {
 public:
  WaitingScan(FileSystem& fs, const std::string& dir, const StoreState& state)
      : fs_(fs), dir_(dir), state_(state) {}

  // False if the sink wants no more.
  Result<bool> ScanAux(const BatchState& batch, const WaitingSink& take) {
    number_ = 0;
    if (!batch.aux_blocks.empty()) {
      NEPHILA_TRY(const auto file,
                  OpenFile(batch.number, kAuxSuffix, batch.aux_end));
      const std::string path = StoreFilePath(dir_, batch.number, kAuxSuffix);
      for (const AuxPlace& block : batch.aux_blocks) {
        // What was delivered as a whole need not be read.
        if (number_ + block.records <= batch.delivered) {
          number_ += block.records;
          continue;
        }
        NEPHILA_TRY(const std::string_view payload,
                    file->Read(block.place, buffer_));
        NEPHILA_TRY(const bool more, ScanBlock(batch, payload, path, take));
        if (!more) return false;
      }
    }
    if (batch.aux_open.empty()) return true;
    std::string payload;
    batch.aux_open.AppendRecordsFrom(0, payload);
    return ScanBlock(batch, payload, dir_ + "/" + state_.journal, take);
  }

  Status FindKey(const BatchState& batch, uint64_t key,
                 const std::function<void(std::string_view value)>& take) {
    const uint32_t number = batch.format.BucketOf(key);
    const BatchState::Bucket& bucket = batch.buckets[number];
    if (!bucket.chunks.empty()) {
      const std::string path = StoreFilePath(dir_, batch.number, kKeysSuffix);
      NEPHILA_TRY(const auto file,
                  OpenFile(batch.number, kKeysSuffix, batch.keys_end));
      for (const Chunk& chunk : bucket.chunks) {
        NEPHILA_TRY(const std::string_view tuples,
                    file->Read(chunk.place, buffer_));
        NEPHILA_RETURN_IF_ERROR(
            FindIn({batch.format, number, tuples}, key, path, take));
      }
    }
    return FindIn({batch.format, number, bucket.open}, key,
                  dir_ + "/" + state_.journal, take);
  }

 private:
  Result<std::unique_ptr<BlockFile>> OpenFile(uint64_t number,
                                              std::string_view suffix,
                                              uint64_t end) {
    return BlockFile::Open(fs_, StoreFilePath(dir_, number, suffix),
                           StoreFileSalt(state_.header.salt, number, suffix),
                           end, io_, OpenMode::kRead);
  }

  Result<bool> ScanBlock(const BatchState& batch, std::string_view payload,
                         const std::string& path, const WaitingSink& take) {
    AuxBlockReader reader;
    const Status opened = reader.Open(payload, batch.format.log_buckets,
                                      decompressor_, kMaxAuxBlockBytes);
    if (!opened) return Corrupt(path, opened.error().message);
    uint32_t bucket = 0;
    std::string_view aux;
    while (reader.Next(&bucket, &aux)) {
      if (number_++ < batch.delivered) continue;
      NEPHILA_TRY(const bool more, take(aux));
      if (!more) return false;
    }
    return true;
  }

  static Status FindIn(
      TupleReader reader, uint64_t key, const std::string& path,
      const std::function<void(std::string_view value)>& take) {
    BucketTuple tuple{};
    while (!reader.AtEnd()) {
      if (!reader.Next(tuple)) {
        return Corrupt(path, "a tuple of the bucket makes no sense");
      }
      if (tuple.key == key) take(tuple.value);
    }
    return {};
  }

  FileSystem& fs_;
  const std::string& dir_;
  const StoreState& state_;
  IoCounts io_;
  BlockBuffer buffer_;
  Decompressor decompressor_;
  uint64_t number_ = 0;  // of the next record of the log
};

}  // namespace

Status ScanWaiting(FileSystem& fs, const std::string& dir, uint64_t generation,
                   const WaitingSink& take) {
  NEPHILA_TRY(const StoreState state, LoadState(fs, dir, generation));
  WaitingScan scan(fs, dir, state);
  for (const BatchState& batch : state.batches) {
    NEPHILA_TRY(const bool more, scan.ScanAux(batch, take));
    if (!more) break;
  }
  return {};
}

Result<uint64_t> WaitingBytes(FileSystem& fs, const std::string& dir,
                              uint64_t generation) {
  NEPHILA_TRY(const StoreState state, LoadState(fs, dir, generation));
  uint64_t bytes = 0;
  for (const BatchState& batch : state.batches) bytes += batch.aux_end;
  return bytes;
}

Status FindTuples(FileSystem& fs, const std::string& dir, uint64_t generation,
                  uint64_t key,
                  const std::function<void(std::string_view value)>& take) {
  NEPHILA_TRY(const StoreState state, LoadState(fs, dir, generation));
  WaitingScan scan(fs, dir, state);
  for (const BatchState& batch : state.batches) {
    NEPHILA_RETURN_IF_ERROR(scan.FindKey(batch, key, take));
  }
  return {};
}

}  // namespace nephila::drum
