// IndexBuilder: the CDXJ lines of one archive, gathered while it is written and
// published, sorted, when it is finished.
//
// Memory: the lines, about 300 bytes a page; the writer bounds them
// (`store.index_memory`) by beginning a new archive. A third more while they
// are sorted. Threads: one. Cost: sorting is n log n comparisons of keys at the
// end of an archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "store/cdxj.h"

namespace nephila::store {

class IndexBuilder {
 public:
  void Add(const CdxjLine& line);
  void Clear();
  // What it holds in memory.
  size_t bytes() const {
    return text_.capacity() + lines_.capacity() * sizeof(lines_[0]);
  }
  size_t lines() const { return lines_.size(); }

  // Whether the file at `path` holds exactly these lines, sorted.
  Result<bool> Matches(FileSystem& fs, const std::string& path) const;
  // Where the line begins that differs first; nothing if none does.
  Result<std::optional<uint64_t>> FirstDifference(
      FileSystem& fs, const std::string& path) const;
  // Makes `path` hold them, durably, in a step: by way of `path`.tmp. After
  // kNoSpace it can be tried again; any other error is final.
  Status Publish(FileSystem& fs, const std::string& path) const;

 private:
  std::vector<std::string_view> SortedLines() const;
  Status WriteSorted(File& file) const;

  std::string text_;  // the lines, one behind the other
  std::vector<std::pair<size_t, size_t>> lines_;  // where each begins and ends
};

}  // namespace nephila::store
