// SumTable: sums by key, however many keys: pages, bytes and times of each host
// of a crawl that has more hosts than memory.
//
// Sums are gathered in a table; when that is full it is sorted and written as a
// run to a scratch folder, and at the end all runs are merged, equal keys added
// up. The runs are removed with this.
//   In: keys with what to add.   Out: each key once, ascending.   Threads: one.
//   Memory: `memory_bytes`, and 64 KiB for each run while they are merged.
//   Disk: 40 bytes for each key of a run, once there are more than fit.
//   Cost: a hash an addition; a sort and one pass over the runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/sorted_runs.h"

namespace nephila::report {

struct Sums {
  uint64_t pages = 0;
  uint64_t bytes = 0;
  uint64_t failures = 0;
  uint64_t millis = 0;

  void Add(const Sums& other);
  bool operator==(const Sums&) const = default;
};

class SumTable {
 public:
  // `scratch` is a folder that is there; `name` begins the names of its files
  // there. `fs` outlives this.
  SumTable(FileSystem& fs, const std::string& scratch, std::string_view name,
           uint64_t memory_bytes);

  Status Add(uint64_t key, const Sums& sums);
  // All of them, in order. Nothing may be added after it.
  Status Merge(const std::function<Status(uint64_t key, const Sums&)>& take);
  size_t runs() const { return runs_.size(); }

 private:
  struct Row {
    uint64_t key = 0;
    Sums sums;
  };

  std::vector<Row> TakeSorted();
  Status MergeRuns(
      const std::function<Status(uint64_t key, const Sums&)>& take);

  const size_t most_;
  std::unordered_map<uint64_t, Sums> table_;
  SortedRuns<Row> runs_;
};

}  // namespace nephila::report
