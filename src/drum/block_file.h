// BlockFile: checksummed blocks at page boundaries, appended by many threads.
//
// Every large file of a store is one: chunks of buckets, the log of aux, runs.
// A block is a frame (base/bytes.h) that begins at a multiple of 4 KiB and is
// padded with zeros to the next, so that it can be written and read past the
// page cache; a crawl's store would else push everything useful out of it. The
// salt of a frame mixes the file's salt and the block's place: a block read at
// a wrong place, or of another file, is corruption. The file has no list of
// its blocks. Whoever appends remembers where (the journal, a run's index).
//
// Threads: Append and Read from any, also together. A reader of a place that
// is being written sees garbage, as with any file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/file.h"
#include "base/result.h"

namespace nephila::drum {

// All that a store moves to and from the disk, and the time that took.
struct IoCounts {
  std::atomic<uint64_t> bytes_read{0};
  std::atomic<uint64_t> bytes_written{0};
  // Sums over threads: with several at once more than the time that passed.
  std::atomic<uint64_t> read_ns{0};
  std::atomic<uint64_t> write_ns{0};
  // A write failed for another reason than a full disk: what the store does
  // next cannot be trusted to reach the disk either.
  std::atomic<bool> write_failed{false};
};

inline constexpr uint64_t kPageBytes = kDirectAlignment;

constexpr uint64_t RoundUpToPage(uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

// Memory aligned for direct I/O, of whole pages. Room for a block: its header
// and then the payload, which the owner fills.
class BlockBuffer {
 public:
  BlockBuffer() = default;
  // Room for at least `payload_bytes`. Pages are touched when first written.
  explicit BlockBuffer(size_t payload_bytes);

  // The payload begins behind the header.
  char* payload() { return bytes_.get() + kFrameHeaderBytes; }
  const char* payload() const { return bytes_.get() + kFrameHeaderBytes; }
  size_t payload_capacity() const {
    return capacity_ == 0 ? 0 : capacity_ - kFrameHeaderBytes;
  }
  std::span<std::byte> pages() {
    return {reinterpret_cast<std::byte*>(bytes_.get()), capacity_};
  }
  // Makes room for that much; what was in it may be gone.
  void Reserve(size_t payload_bytes);

 private:
  struct Free {
    void operator()(char* bytes) const;
  };
  std::unique_ptr<char, Free> bytes_;
  size_t capacity_ = 0;
};

// Where a block is. `bytes` counts its pages; the payload is shorter.
struct BlockPlace {
  uint64_t offset = 0;
  uint32_t payload_bytes = 0;

  bool operator==(const BlockPlace&) const = default;
  uint64_t end() const { return offset + pages(); }
  uint64_t pages() const {
    return RoundUpToPage(kFrameHeaderBytes + payload_bytes);
  }
};

class BlockFile {
 public:
  // `fs` and `counts` outlive the file. Past the page cache where the file
  // system can, else through it with its pages given back early. `end` is
  // where appending goes on: what lies behind it is overwritten.
  static Result<std::unique_ptr<BlockFile>> Create(FileSystem& fs,
                                                   const std::string& path,
                                                   uint64_t salt,
                                                   IoCounts& counts);
  // With kRead nothing can be appended.
  static Result<std::unique_ptr<BlockFile>> Open(
      FileSystem& fs, const std::string& path, uint64_t salt, uint64_t end,
      IoCounts& counts, OpenMode mode = OpenMode::kReadWrite);

  // Seals the first `payload_bytes` of the buffer's payload as a block and
  // writes it at the end of the file. After an error its place stays unused.
  Result<BlockPlace> Append(BlockBuffer& buffer, size_t payload_bytes);

  // The same in two steps, so that a write that failed can be done again at the
  // place that it has.
  BlockPlace Reserve(size_t payload_bytes);
  Status WriteAt(const BlockPlace& place, BlockBuffer& buffer);

  // The same for several blocks with one write. They lie in the buffer's pages,
  // each from a page on: room for the header, the payload, up to the next page.
  // Returns the place of the first; the others follow in order.
  Result<uint64_t> AppendMany(BlockBuffer& buffer,
                              std::span<const uint32_t> payload_bytes);

  // The payload of a block, checked; it lies in `buffer`. kCorruption, naming
  // file and offset, for anything else than what was appended there.
  Result<std::string_view> Read(const BlockPlace& place, BlockBuffer& buffer);

  // Reads neighbouring pages [offset, offset + bytes) in one go into `buffer`'s
  // pages. `CheckBlock` then vouches for each block in it.
  Status ReadPages(uint64_t offset, uint64_t bytes, BlockBuffer& buffer);
  Result<std::string_view> CheckBlock(const BlockPlace& place,
                                      std::span<const std::byte> pages) const;
  // For a block at `offset` of which only the pages are known: all of `pages`.
  Result<std::string_view> CheckPages(uint64_t offset,
                                      std::span<const std::byte> pages) const;

  Status Sync();
  // Where the next block goes: all appended ones lie before.
  uint64_t end() const { return end_.load(std::memory_order_acquire); }
  const std::string& path() const { return file_->path(); }

 private:
  BlockFile(std::unique_ptr<File> file, uint64_t salt, uint64_t end,
            IoCounts& counts)
      : file_(std::move(file)), salt_(salt), end_(end), counts_(counts) {}

  Error Damage(uint64_t offset) const;
  void Seal(const BlockPlace& place, char* block) const;
  Status WritePages(uint64_t offset, std::span<const std::byte> pages);

  const std::unique_ptr<File> file_;
  const uint64_t salt_;
  std::atomic<uint64_t> end_;
  IoCounts& counts_;
};

}  // namespace nephila::drum
