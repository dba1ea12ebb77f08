// JournalReader: the entries of a journal, in their order.
//
// It changes nothing on disk, so a look at a job needs no lock; what follows
// the last whole entry is as if it were not there. Where files overlap, the
// one with the larger number holds (docs/formats/journal.md).
//   In: the folder of a journal.   Out: numbers and bytes.
//   Threads: one; others may append meanwhile.   Cost: one pass over the file
//   that holds the first entry wanted, and those behind it; a chunk, or an
//   entry if that is larger, in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/result.h"

namespace nephila::job {

struct NumberedEntry {
  uint64_t number = 0;
  std::string_view bytes;  // until the next call
};

// Where a journal ends before its files do: what a stopped machine left of
// its last appends, or damage.
struct JournalCut {
  std::string path;
  uint64_t offset = 0;
  uint64_t bytes = 0;  // behind it, in all files
};

class JournalReader {
 public:
  // Entries from `from` on, up to and without `end`. kUnsupported for a file
  // of a later version; kCorruption if the entry before `from` is not there,
  // and so the journal is shorter than its owner knows it to be. An empty
  // folder is a journal without entries. `fs` outlives this.
  static Result<JournalReader> Open(FileSystem& fs, std::string dir,
                                    uint64_t from, uint64_t end = UINT64_MAX);

  // The next one; nothing behind the last whole one. Errors are those of the
  // disk.
  Result<std::optional<NumberedEntry>> Next();

  // Of the entry that Next gives, or that will be appended.
  uint64_t next() const { return next_; }
  // The salt of the journal; nothing without entries.
  std::optional<uint64_t> salt() const { return salt_; }
  // Once Next has given nothing: whether there was more in the files.
  const std::optional<JournalCut>& cut() const { return cut_; }

 private:
  JournalReader(FileSystem& fs, std::string dir, uint64_t end)
      : fs_(&fs), dir_(std::move(dir)), end_(end) {}

  struct Place {
    std::unique_ptr<File> file;
    uint64_t size = 0;
    uint64_t offset = 0;
  };

  // Opens the file at `file_`; false if its head is not whole.
  Result<bool> OpenFile();
  // Passes the entries below `from`.
  Status SkipTo(uint64_t from);
  // The frame at offset_: its payload, or nothing if it is not whole.
  Result<std::optional<std::string_view>> ReadEntryFrame(bool skip);
  Result<std::optional<std::string_view>> ReadFrameHere(uint64_t salt,
                                                        uint32_t most);
  // Whether the file has `size` bytes from offset_ on; they are buffered then.
  Result<bool> Fill(size_t size);
  std::string_view Buffered(size_t size) const;
  std::string Path(uint64_t first) const;
  // Without a head a file is not there.
  Status PassOver(size_t file);
  Status NoteCut();

  FileSystem* fs_;
  std::string dir_;
  uint64_t end_;
  std::vector<uint64_t> files_;  // first entries, ascending
  size_t file_ = 0;              // which of them is open
  std::unique_ptr<File> open_;
  uint64_t size_ = 0;    // of the open file
  uint64_t offset_ = 0;  // of the next frame in it
  uint64_t next_ = 1;
  bool at_end_ = false;
  std::optional<uint64_t> salt_;
  std::optional<JournalCut> cut_;
  std::string buffer_;
  uint64_t buffer_offset_ = 0;
};

}  // namespace nephila::job
