#include "disk_queue/set_scan.h"

#include <algorithm>
#include <utility>

#include "disk_queue/set_state.h"

namespace nephila::disk_queue {

Result<SetScan> SetScan::Open(FileSystem& fs, std::string dir,
                              uint64_t generation) {
  NEPHILA_TRY(LoadedSet loaded, LoadSet(fs, dir, generation));
  if (!MakesSense(loaded.state, loaded.head.geometry)) {
    return Unexpected(Error{ErrorCode::kCorruption,
                            dir + ": what its commits say makes no sense"});
  }
  return SetScan(fs, std::move(dir), std::move(loaded));
}

std::vector<SetScan::Queue> SetScan::Queues() const {
  std::vector<Queue> queues;
  queues.reserve(loaded_.state.queues.size());
  for (const auto& [id, state] : loaded_.state.queues) {
    queues.push_back({id, state.first, state.next, Bytes(id)});
  }
  return queues;
}

uint64_t SetScan::Bytes(uint64_t queue) const {
  const auto found = loaded_.state.queues.find(queue);
  if (found == loaded_.state.queues.end()) return 0;
  uint64_t bytes = 0;
  for (const Segment& segment : found->second.segments) bytes += segment.end;
  return bytes - std::min(bytes, found->second.offset);
}

uint64_t SetScan::Records(uint64_t queue) const {
  const auto found = loaded_.state.queues.find(queue);
  if (found == loaded_.state.queues.end()) return 0;
  return found->second.next - found->second.first;
}

std::unique_ptr<QueueScan> SetScan::Scan(uint64_t queue) const {
  const auto found = loaded_.state.queues.find(queue);
  return std::make_unique<QueueScan>(
      *fs_, dir_, loaded_.head.salt, loaded_.head.geometry, queue,
      found == loaded_.state.queues.end() ? QueueState() : found->second,
      nullptr);
}

}  // namespace nephila::disk_queue
