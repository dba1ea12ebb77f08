// Sorting and merging of indexes by bytes, in a bounded memory: CdxjSorter
// takes lines in any order, MergeCdxj makes one file of several sorted ones.
//
// Equal lines become one: the same archive may be indexed twice. Both write
// aside and rename, so that the output is whole or not there; what lies beside
// it as <output>.runN is scratch and goes away.
//   Disk: the output once more while it is made.   Threads: one per object.
//   Memory: the sorter's figure, or 64 KiB and a line for each of at most
//   kMostMerged inputs.   Cost: n log n comparisons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace nephila::store {

// Files read at once; more are merged in rounds.
inline constexpr size_t kMostMerged = 128;

// Merges sorted files of lines into `output`. Header lines are left out. An
// input that is not sorted, or a line over kLongestCdxjLine, is kCorruption
// with file and line number. The output may be one of the inputs.
// Returns how many lines were written.
Result<uint64_t> MergeCdxj(FileSystem& fs,
                           const std::vector<std::string>& inputs,
                           const std::string& output);

class CdxjSorter {
 public:
  static constexpr size_t kDefaultMemory = size_t{64} << 20;

  // `fs` outlives this.
  CdxjSorter(FileSystem& fs, std::string output,
             size_t memory_bytes = kDefaultMemory)
      : fs_(fs), output_(std::move(output)), memory_bytes_(memory_bytes) {}
  // Removes what scratch is left, as best it can.
  ~CdxjSorter();
  CdxjSorter(const CdxjSorter&) = delete;
  CdxjSorter& operator=(const CdxjSorter&) = delete;

  // A line without its end.
  Status Add(std::string_view line);
  // Writes the output; returns how many lines. REQUIRES: called once.
  Result<uint64_t> Finish();

 private:
  std::vector<std::string_view> SortedLines();
  Status Spill();

  FileSystem& fs_;
  const std::string output_;
  const size_t memory_bytes_;
  std::string text_;            // all lines in memory
  std::vector<size_t> starts_;  // of each line in it
  std::vector<std::string> runs_;
};

}  // namespace nephila::store
