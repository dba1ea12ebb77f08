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
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/sorted_runs.h"

namespace nephila {

class PairSorter {
 public:
  struct Pair {
    auto operator<=>(const Pair&) const = default;
    uint64_t key = 0;
    uint64_t value = 0;
  };

  // `scratch` is a folder that is there; names in it begin with `name`, of
  // which each sorter there has its own. `fs` outlives this.
  PairSorter(FileSystem& fs, const std::string& scratch, std::string_view name,
             uint64_t memory_bytes);

  Status Add(const Pair& pair);
  // All of them, in order. Nothing may be added after it.
  Status Merge(const std::function<void(const Pair&)>& take);
  size_t runs() const { return runs_.size(); }

 private:
  Status Spill();

  const size_t most_;
  std::vector<Pair> pairs_;
  SortedRuns<Pair> runs_;
};

}  // namespace nephila
