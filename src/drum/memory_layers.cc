#include "drum/memory_layers.h"

#include <utility>

namespace nephila::drum {
namespace {

// A layer is so many times as large as the one above it: few of them, as each
// merge looks at all, and little copying.
constexpr size_t kGrowth = 4;

}  // namespace

void MemoryLayers::Add(Layer changes, bool is_all) {
  if (changes->empty()) return;
  layers_.push_back(std::move(changes));
  while (layers_.size() > 1) {
    const Layer newer = layers_.back();
    const Layer older = layers_[layers_.size() - 2];
    if (newer->records() * kGrowth < older->records()) break;
    layers_.pop_back();
    layers_.pop_back();
    Layer merged = MergeRuns(*newer, *older, is_all && layers_.empty());
    if (!merged->empty()) layers_.push_back(std::move(merged));
  }
}

size_t MemoryLayers::records() const {
  size_t records = 0;
  for (const Layer& layer : layers_) records += layer->records();
  return records;
}

size_t MemoryLayers::memory_bytes() const {
  size_t bytes = 0;
  for (const Layer& layer : layers_) bytes += layer->memory_bytes();
  return bytes;
}

std::vector<std::unique_ptr<RecordSource>> MemoryCursors(
    const MemoryLayers& memory, uint64_t first, uint64_t last) {
  std::vector<std::unique_ptr<RecordSource>> cursors;
  const auto& layers = memory.layers();
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    cursors.push_back(std::make_unique<MemoryRunCursor>(*layer, first, last));
  }
  return cursors;
}

}  // namespace nephila::drum
