// Run: an immutable file of records sorted by key, most of a store's bytes.
//
// A run is written once by RunWriter, several threads each giving it a range of
// keys, and read by RunCursors through a Run. It is a BlockFile whose last
// block is an index, 16 bytes for every block of 64 KiB, which an open Run
// keeps in memory: so a cursor reads only the blocks that it needs. Keys are
// Rice-coded (rice.h). docs/formats/drum.md has the bytes.
//
// The file alone says nothing about its being whole: whoever writes it keeps
// RunInfo and the salt in something durable, after Sync and SyncDir.
// All that is read is checked, beyond its checksums too; what does not fit is
// kCorruption that names file and offset.
//
// Threads: a Run from any. A part and a cursor one thread each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "base/mutex.h"
#include "base/result.h"
#include "drum/block_file.h"
#include "drum/record_source.h"
#include "drum/run_block.h"
#include "drum/run_index.h"
#include "drum/value.h"

namespace nephila::drum {

// What a manifest keeps of a run.
struct RunInfo {
  uint64_t file_number = 0;
  BlockPlace index;
  uint64_t end = 0;      // of the file
  uint64_t records = 0;  // tombstones included
  uint64_t tombstones = 0;

  bool operator==(const RunInfo&) const = default;
  void AppendTo(ByteWriter& writer) const;
  static Result<RunInfo, ReadError> Parse(ByteReader& reader);
};

class RunWriter {
 public:
  class Part;

  // `fs` and `counts` outlive the writer, the writer its parts. The file must
  // not be there yet.
  static Result<std::unique_ptr<RunWriter>> Create(
      FileSystem& fs, const std::string& path, uint64_t file_number,
      uint64_t salt, ValueFormat format, IoCounts& counts);
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;

  // A range of keys for one thread. The ranges of parts are disjoint, in any
  // order; a part that gets no records is fine. From any thread.
  std::unique_ptr<Part> NewPart();

  // Writes the index. REQUIRES: every part is finished. After an error, here
  // or of a part, the file is of no use: remove it.
  Result<RunInfo> Finish();
  // Makes the data durable, not the file's name.
  Status Sync();

 private:
  struct Range {
    uint64_t first_key;
    uint64_t last_key;
    uint64_t tombstones;
    std::vector<RunIndexEntry> blocks;
  };

  RunWriter(std::unique_ptr<BlockFile> file, uint64_t file_number,
            ValueFormat format)
      : file_(std::move(file)), file_number_(file_number), format_(format) {}

  void Take(Range range) NEPHILA_EXCLUDES(mutex_);

  const std::unique_ptr<BlockFile> file_;
  const uint64_t file_number_;
  const ValueFormat format_;
  Mutex mutex_;
  size_t unfinished_parts_ NEPHILA_GUARDED_BY(mutex_) = 0;
  std::vector<Range> ranges_ NEPHILA_GUARDED_BY(mutex_);
};

// Records come in ascending order, each key once (a bug of the caller's
// otherwise, which ends the process). Holds back up to 131 070 records or 256
// KiB of values from encoding, and 1 MiB of blocks from the file.
class RunWriter::Part {
 public:
  ~Part();
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  // `value` is as the run's format says: empty for kNone. kInvalidArgument if
  // it is above kMaxValueBytes.
  Status Add(uint64_t key, std::string_view value);
  Status AddTombstone(uint64_t key);
  // The fast way for kNone. The same as an Add of each.
  Status AddKeys(std::span<const uint64_t> keys);
  // Nothing may be added after it. A part that had an error, or is given up,
  // needs no Finish, but its run then must not be finished either.
  Status Finish();

 private:
  friend class RunWriter;
  explicit Part(RunWriter& writer);

  // Encodes what fills blocks, or `all`.
  Status Encode(bool all);
  Status Gather(const RunBlockShape& shape);
  Status WriteExtent();

  RunWriter& writer_;
  RunBlockBuilder builder_;
  std::string payload_;
  // Encoded blocks, each from a page on, to be sealed and written together.
  BlockBuffer extent_;
  uint64_t extent_bytes_ = 0;
  std::vector<uint32_t> extent_payloads_;
  std::vector<RunBlockShape> extent_shapes_;
  Range range_{};
  bool finished_ = false;
};

class Run {
 public:
  // Reads and checks the index. `fs` and `counts` outlive the run.
  static Result<std::shared_ptr<const Run>> Open(
      FileSystem& fs, const std::string& path, uint64_t salt,
      const RunInfo& info, ValueFormat format, IoCounts& counts);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  uint64_t records() const { return info_.records; }
  uint64_t tombstones() const { return info_.tombstones; }
  uint64_t bytes() const { return info_.end; }  // on disk
  uint64_t file_number() const { return info_.file_number; }
  const RunInfo& info() const { return info_; }
  const ValueFormat& format() const { return format_; }
  const std::string& path() const { return file_->path(); }
  // One entry a block, ascending: also good to cut a run into equal parts.
  std::span<const RunIndexEntry> index() const { return index_; }

 private:
  friend class RunCursor;
  Run(std::unique_ptr<BlockFile> file, const RunInfo& info, ValueFormat format)
      : file_(std::move(file)), info_(info), format_(format) {}

  Status ReadIndex();
  Error Damage(uint64_t offset, std::string_view what) const;

  const std::unique_ptr<BlockFile> file_;
  const RunInfo info_;
  const ValueFormat format_;
  std::vector<RunIndexEntry> index_;
};

// The records of a run with keys from `first` to `last`, both included. Holds a
// decoded block (8 bytes a key) and `read_ahead_bytes` of the file.
//
// Either record by record (SeekTo, Next), or the keys of block after block
// (NextKeys), which is the fast way where values are not needed; not both on
// one cursor. Blocks that neither way asks for are not read, except as
// neighbours in a read ahead; after a jump that begins anew with one block.
class RunCursor final : public RecordSource {
 public:
  static constexpr size_t kReadAheadBytes = size_t{256} << 10;

  RunCursor(std::shared_ptr<const Run> run, uint64_t first, uint64_t last,
            size_t read_ahead_bytes = kReadAheadBytes);

  Status SeekTo(uint64_t key) override;
  bool AtEnd() const override { return at_end_; }
  uint64_t key() const override { return block_.keys[position_]; }
  std::string_view value() const override { return block_.value(position_); }
  bool is_tombstone() const override { return block_.is_tombstone(position_); }
  Status Next() override;

  // The keys, from `first` to `last`, of the next block that can hold any of at
  // least `min_key`; all of them, also those below `min_key`. A block is given
  // once. Empty at the end, and only there. Good until the next call.
  // A tombstone's key is a key too.
  Result<std::span<const uint64_t>> NextKeys(uint64_t min_key);

 private:
  // Decodes the block `next_`, or a later one: the first that can hold `key`.
  // False if there is none.
  Result<bool> LoadBlockFor(uint64_t key);
  Status ReadFrom(size_t block);
  Status Decode(size_t block);

  const std::shared_ptr<const Run> run_;
  const uint64_t first_;
  const uint64_t last_;
  const uint64_t read_ahead_bytes_;
  uint64_t window_bytes_;  // how much the next read may take
  size_t next_ = 0;        // the block behind the decoded one
  // Blocks [read_begin_, read_end_) of the index are in `pages_`.
  BlockBuffer pages_;
  size_t read_begin_ = 0;
  size_t read_end_ = 0;
  RunBlock block_;
  size_t position_ = 0;
  bool loaded_ = false;
  bool at_end_ = true;
};

}  // namespace nephila::drum
