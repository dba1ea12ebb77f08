// MemoryLayers: the records of small passes, as a few sorted runs in memory.
//
// A pass adds what it changed as a layer of its own, and only layers of like
// size are merged: a record is copied some times in its life, not once a pass,
// which for many small passes over a large store would be most of their cost.
// Layers are immutable: a copy shares them, and costs a few pointers.
// Threads: as a value; the layers by any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "drum/memory_run.h"
#include "drum/record_source.h"

namespace nephila::drum {

class MemoryLayers {
 public:
  using Layer = std::shared_ptr<const MemoryRun>;

  // `changes` is newer than all before. `is_all`: no record stands below these
  // layers that a tombstone could hide.
  void Add(Layer changes, bool is_all);

  // Oldest first; of a key the newest record counts.
  const std::vector<Layer>& layers() const { return layers_; }
  bool empty() const { return layers_.empty(); }
  // Those that a newer one hides count too.
  size_t records() const;
  size_t memory_bytes() const;

 private:
  std::vector<Layer> layers_;
};

// A cursor for each layer, newest first, from `first` to `last`, both included.
std::vector<std::unique_ptr<RecordSource>> MemoryCursors(
    const MemoryLayers& memory, uint64_t first, uint64_t last);

}  // namespace nephila::drum
