// SegmentFiles: the files that hold the blocks of queues.
//
// A segment is a file of one queue: a head, then blocks (block.h), appended
// and read in order. It is known by its number, and a number is used for one
// file only. How far it reaches is not in the file: whoever names a segment
// says where it ends, and what is behind is not there. The salt of a block is
// of set, file and place, so a block is good in one place only.
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
  uint64_t end = 0;  // of its last block
};

std::string SegmentName(uint64_t number);
// The head of a segment, a frame of kSegmentHeadBytes.
std::string SegmentHead(uint64_t set_salt, uint64_t number, uint64_t queue);
inline constexpr uint64_t kSegmentHeadBytes = 52;
// Of the block at `offset`.
uint64_t BlockSalt(uint64_t set_salt, uint64_t number, uint64_t offset);

class SegmentFiles {
 public:
  // `fs` outlives this. With OpenMode::kRead nothing can be written.
  SegmentFiles(FileSystem& fs, std::string dir, uint64_t set_salt,
               size_t max_open, OpenMode mode)
      : fs_(fs),
        dir_(std::move(dir)),
        salt_(set_salt),
        max_open_(max_open),
        mode_(mode) {}

  // Makes the file, or empties what a former life left under its name, and
  // writes `bytes`, which begin with the head.
  Status Create(uint64_t number, std::string_view bytes);
  // Writes at `offset`, which is the end of the segment. After kNoSpace the
  // file is cut back there as well as it goes.
  Status Append(uint64_t number, uint64_t offset, std::string_view bytes);
  // The block at `offset`; returns where the next one begins.
  Result<uint64_t> ReadBlock(uint64_t queue, const Segment& segment,
                             uint64_t offset, Block& block);
  // Closes it, if it is open.
  void Forget(uint64_t number);

  uint64_t bytes_read() const { return bytes_read_; }
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  struct OpenFile {
    uint64_t number;
    std::unique_ptr<File> file;
  };

  std::string PathOf(uint64_t number) const;
  Result<File*> Get(uint64_t number, OpenMode mode);
  Status CheckHead(File& file, uint64_t queue, uint64_t number);

  FileSystem& fs_;
  const std::string dir_;
  const uint64_t salt_;
  const size_t max_open_;
  const OpenMode mode_;
  std::list<OpenFile> open_;  // the one used last in front
  std::unordered_map<uint64_t, std::list<OpenFile>::iterator> by_number_;
  BlockUnpacker unpacker_;
  std::string frame_;
  uint64_t bytes_read_ = 0;
  uint64_t bytes_written_ = 0;
};

}  // namespace nephila::disk_queue
