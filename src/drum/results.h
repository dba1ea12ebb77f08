// PassResults: what the buckets of a pass found, each in order of arrival.
//
// Without values a result is a bit, 1 for unique. With values it is a varint
// of (size of the answer * 2 + unique) and the answer. A bucket's results are
// put in one go; they stay in memory while all of them fit into their share,
// else they go to a file of the pass, which no commit ever names.
//
// Threads: Put from any, each bucket once; then one reader.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/mutex.h"
#include "base/result.h"
#include "drum/block_file.h"

namespace nephila::drum {

void AppendAnswer(std::string& out, bool unique, std::string_view answer);

class PassResults {
 public:
  // `bits`: results without values. The file, if there is one, is removed when
  // this ends. `fs` and `counts` outlive this.
  PassResults(FileSystem& fs, std::string path, uint64_t salt, IoCounts& counts,
              uint32_t buckets, bool bits, uint64_t memory_limit);
  ~PassResults();
  PassResults(const PassResults&) = delete;
  PassResults& operator=(const PassResults&) = delete;

  Status Put(uint32_t bucket, std::string results);

  // The next result of a bucket. kCorruption if it has no more.
  Status Next(uint32_t bucket, bool& unique, std::string_view& answer) {
    Cursor& cursor = cursors_[bucket];
    if (bits_ && cursor.bits_left > 0) {
      --cursor.bits_left;
      unique = (cursor.bits & 1) != 0;
      cursor.bits >>= 1;
      return {};
    }
    return NextSlowly(cursor, unique, answer);
  }

 private:
  struct Cursor {
    uint64_t bits = 0;  // those that were taken from `left`
    int bits_left = 0;
    std::string_view left;  // of the piece that is read
    size_t next_piece = 0;  // of `pieces`
    std::string memory;     // all of them, or
    std::vector<BlockPlace> pieces;
    BlockBuffer buffer;
  };

  Status NextSlowly(Cursor& cursor, bool& unique, std::string_view& answer);
  Status LoadPiece(Cursor& cursor);
  Status WriteOut(Cursor& cursor, std::string_view results);
  Status OpenFile();

  FileSystem& fs_;
  const std::string path_;
  const uint64_t salt_;
  IoCounts& counts_;
  const bool bits_;
  const uint64_t memory_limit_;
  const size_t piece_bytes_;
  std::atomic<uint64_t> memory_bytes_{0};
  std::vector<Cursor> cursors_;
  Mutex mutex_;
  std::unique_ptr<BlockFile> file_;  // made under the mutex, then shared
};

}  // namespace nephila::drum
