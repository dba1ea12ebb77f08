// PairSorter: pairs of numbers, sorted, however many: to find what comes twice
// in a set that does not fit into memory.
//
// Pairs are gathered in memory; when that is full they are sorted and written
// as a run to a scratch folder, and at the end all runs are merged. The runs
// are removed with this.
//   In: pairs.   Out: the same, by key and then by value.   Threads: one.
//   Memory: `memory_bytes`, and 64 KiB for each run while they are merged.
//   Disk: 16 bytes a pair, once there are more than fit.
//   Cost: a sort, and one pass over the runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace nephila::check {

class PairSorter {
 public:
  struct Pair {
    auto operator<=>(const Pair&) const = default;
    uint64_t key = 0;
    uint64_t value = 0;
  };

  // `scratch` is a folder that is there; names in it begin with
  // "nephila-check-". `fs` outlives this.
  PairSorter(FileSystem& fs, std::string scratch, uint64_t memory_bytes);
  ~PairSorter();
  PairSorter(const PairSorter&) = delete;
  PairSorter& operator=(const PairSorter&) = delete;

  Status Add(const Pair& pair);
  // All of them, in order. Nothing may be added after it.
  Status Merge(const std::function<void(const Pair&)>& take);
  size_t runs() const { return runs_.size(); }

 private:
  class Cursor;

  Status Spill();

  FileSystem& fs_;
  const std::string scratch_;
  const size_t most_;
  std::vector<Pair> pairs_;
  std::vector<std::string> runs_;  // paths
};

}  // namespace nephila::check
