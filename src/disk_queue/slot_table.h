// SlotTable: which slots of the segment files are in use.
//
// The lowest free slot is given first, so that files at the end become empty
// and can be removed. A file that is to be removed gives no slot until it is
// known to be gone: somebody else may be removing it meanwhile.
//
// Threads: one. Cost: O(log n); memory for the slots that are free.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "disk_queue/segment_files.h"

namespace nephila::disk_queue {

class SlotTable {
 public:
  explicit SlotTable(const Geometry& geometry) : geometry_(geometry) {}

  // The slot that Take would give.
  uint64_t Next() const;
  // Takes a slot: that one, or, for a set that is restored, any.
  void Take(uint64_t slot);
  void Free(uint64_t slot);
  // Files without a slot in use, to be removed now.
  std::vector<uint64_t> TakeEmptyFiles();
  // Those of the last call are gone.
  void EmptyFilesAreGone();
  bool HasFile(uint64_t file) const { return used_.contains(file); }

 private:
  const Geometry geometry_;
  uint64_t end_ = 0;                   // behind all slots that were ever taken
  std::set<uint64_t> free_;            // below end_
  std::map<uint64_t, uint64_t> used_;  // slots in use, by file
  std::vector<uint64_t> leaving_;      // files
};

}  // namespace nephila::disk_queue
