// SegmentFiles: the files that hold the blocks of queues.
//
// A segment is some room of a file that belongs to one queue: a head, then
// blocks (block.h), appended and read in order. Files are cut into slots of
// one size, and a segment fills a slot; so thousands of queues share a few
// files, and a commit has few to sync. A segment is known by a number that is
// used once; its slot is used again. How far it reaches is not in the file:
// whoever names a segment says where it ends. The salt of a block is of set,
// segment and place, so what a former segment left in a slot is no block.
//
// In: blocks to append, places to read. Out: blocks, checked; kCorruption
// with file and offset for anything else.
// Threads: one. Cost: at most `max_open` files are open, those used last; a
// block is one write, and two reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/file.h"
#include "base/result.h"
#include "disk_queue/block.h"

namespace nephila::disk_queue {

struct Segment {
  bool operator==(const Segment&) const = default;

  uint64_t number = 0;
  uint64_t slot = 0;
  uint64_t end = 0;  // of its last block, from the beginning of the slot
};

// How files are cut. Fixed when a set is made.
struct Geometry {
  bool operator==(const Geometry&) const = default;

  uint64_t FileOf(uint64_t slot) const { return slot / slots_per_file; }
  // Where a slot begins in its file.
  uint64_t BaseOf(uint64_t slot) const {
    return slot % slots_per_file * slot_bytes;
  }

  uint64_t slot_bytes = 0;
  uint64_t slots_per_file = 0;
};

std::string SegmentFileName(uint64_t file);
// The head of a segment, a frame of kSegmentHeadBytes.
std::string SegmentHead(uint64_t set_salt, uint64_t number, uint64_t queue);
inline constexpr uint64_t kSegmentHeadBytes = 52;
// Of the block at `offset` of the segment.
uint64_t BlockSalt(uint64_t set_salt, uint64_t number, uint64_t offset);

class SegmentFiles {
 public:
  // `fs` outlives this. With OpenMode::kRead nothing may be written.
  SegmentFiles(FileSystem& fs, std::string dir, uint64_t set_salt,
               const Geometry& geometry, size_t max_open, OpenMode mode)
      : fs_(fs),
        dir_(std::move(dir)),
        salt_(set_salt),
        geometry_(geometry),
        max_open_(max_open),
        mode_(mode) {}

  // Writes at `offset` of a slot. The file is made if it is not there.
  Status Write(uint64_t slot, uint64_t offset, std::string_view bytes);
  // The block at `offset`; returns where the next one begins.
  Result<uint64_t> ReadBlock(uint64_t queue, const Segment& segment,
                             uint64_t offset, Block& block);
  // Closes a file, if it is open.
  void Close(uint64_t file);

  uint64_t bytes_read() const { return bytes_read_; }
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  struct OpenFile {
    uint64_t index;
    std::unique_ptr<File> file;
  };

  Result<File*> Get(uint64_t slot, OpenMode mode);
  Status CheckHead(File& file, uint64_t queue, const Segment& segment);

  FileSystem& fs_;
  const std::string dir_;
  const uint64_t salt_;
  const Geometry geometry_;
  const size_t max_open_;
  const OpenMode mode_;
  std::list<OpenFile> open_;  // the one used last in front
  std::unordered_map<uint64_t, std::list<OpenFile>::iterator> by_index_;
  BlockUnpacker unpacker_;
  std::string frame_;
  uint64_t bytes_read_ = 0;
  uint64_t bytes_written_ = 0;
};

}  // namespace nephila::disk_queue
