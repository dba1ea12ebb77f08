#include "disk_queue/queue_scan.h"

#include <utility>

#include "disk_queue/commit_log.h"

namespace nephila::disk_queue {

QueueScan::QueueScan(FileSystem& fs, const std::string& dir, uint64_t set_salt,
                     const Geometry& geometry, uint64_t queue, QueueState state,
                     std::shared_ptr<const int> pin)
    : pin_(std::move(pin)),
      queue_(queue),
      state_(std::move(state)),
      files_(fs, dir, set_salt, geometry, /*max_open=*/1, OpenMode::kRead),
      ordinal_(state_.first),
      offset_(state_.offset) {}

Status QueueScan::NextBlock() {
  while (segment_ < state_.segments.size() &&
         offset_ >= state_.segments[segment_].end) {
    ++segment_;
    offset_ = kSegmentHeadBytes;
  }
  if (segment_ == state_.segments.size()) {
    return Unexpected(Error{ErrorCode::kCorruption,
                            "the segments of queue " + std::to_string(queue_) +
                                " end before record " +
                                std::to_string(ordinal_)});
  }
  const Segment& segment = state_.segments[segment_];
  Block block;
  NEPHILA_TRY(const uint64_t next,
              files_.ReadBlock(queue_, segment, offset_, block));
  if (block.first > ordinal_ || block.end() <= ordinal_) {
    return Unexpected(Error{ErrorCode::kCorruption,
                            "reading segment " +
                                std::to_string(segment.number) + " at offset " +
                                std::to_string(offset_) +
                                ": a block of other records than expected"});
  }
  block_ = std::move(block);
  offset_ = next;
  at_ = 0;
  for (uint64_t i = block_.first; i < ordinal_; ++i) {
    NextRecord(block_.raw, at_);
  }
  return {};
}

Result<bool> QueueScan::Next(Record& record) {
  if (ordinal_ >= state_.next) return false;
  if (ordinal_ >= state_.tail_first) {
    if (!in_tail_) {
      in_tail_ = true;
      at_ = 0;
      for (uint64_t i = state_.tail_first; i < ordinal_; ++i) {
        NextRecord(state_.tail, at_);
      }
    }
    record = {ordinal_++, NextRecord(state_.tail, at_)};
    return true;
  }
  if (block_.records == 0 || ordinal_ >= block_.end()) {
    NEPHILA_RETURN_IF_ERROR(NextBlock());
  }
  record = {ordinal_++, NextRecord(block_.raw, at_)};
  return true;
}

Result<std::unique_ptr<QueueScan>> ScanCommit(FileSystem& fs,
                                              const std::string& dir,
                                              uint64_t generation,
                                              uint64_t queue) {
  NEPHILA_TRY(LoadedSet loaded, LoadSet(fs, dir, generation));
  return std::make_unique<QueueScan>(
      fs, dir, loaded.head.salt, loaded.head.geometry, queue,
      std::move(loaded.state.queues[queue]), nullptr);
}

}  // namespace nephila::disk_queue
