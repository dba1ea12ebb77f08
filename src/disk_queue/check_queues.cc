#include "disk_queue/check_queues.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/commit_file.h"
#include "disk_queue/queue_scan.h"

namespace nephila::disk_queue {
namespace {

// Where a commit of that generation stands, or should.
std::string LogPath(FileSystem& fs, const std::string& dir,
                    uint64_t generation) {
  std::string path = dir;
  const auto entries = fs.List(dir);
  if (!entries.has_value()) return path;
  std::optional<uint64_t> best;
  for (const DirEntry& entry : *entries) {
    const auto first = LogGeneration(entry.name);
    if (!first || *first > generation || (best && *first < *best)) continue;
    best = first;
    path = dir + "/" + entry.name;
  }
  return path;
}

uint64_t BytesOf(const QueueState& queue) {
  uint64_t bytes = 0;
  for (const Segment& segment : queue.segments) bytes += segment.end;
  return bytes - std::min(bytes, queue.offset);
}

}  // namespace

QueueCheck::QueueCheck(FileSystem& fs, std::string dir, DamageSink sink)
    : fs_(fs), dir_(std::move(dir)), sink_(std::move(sink)) {}

std::optional<QueueCounts> QueueCheck::Check(uint64_t generation,
                                             const RecordSink& record) {
  const std::string log = LogPath(fs_, dir_, generation);
  auto loaded = LoadSet(fs_, dir_, generation);
  NoteLogs(generation);
  if (!loaded.has_value()) {
    sink_({log, std::nullopt, loaded.error().message});
    return std::nullopt;
  }
  if (!MakesSense(loaded->state, loaded->head.geometry)) {
    sink_({log, std::nullopt, "what its commits say makes no sense"});
    return std::nullopt;
  }
  const auto name = [&](uint64_t slot) {
    files_.insert(dir_ + "/" +
                  SegmentFileName(loaded->head.geometry.FileOf(slot)));
  };
  for (const RetiredSegment& segment : loaded->state.retired) {
    name(segment.slot);
  }
  QueueCounts counts;
  for (const auto& [id, queue] : loaded->state.queues) {
    for (const Segment& segment : queue.segments) name(segment.slot);
    ++counts.queues;
    counts.records += queue.next - queue.first;
    const auto known = newest_.queues.find(id);
    if (known != newest_.queues.end() && known->second == queue) continue;
    counts.bytes += BytesOf(queue);
    CheckQueue(*loaded, id, queue, record);
  }
  if (newest_.queues.empty()) newest_ = std::move(loaded->state);
  return counts;
}

// Those with earlier commits stay until nobody can ask for them.
void QueueCheck::NoteLogs(uint64_t generation) {
  const auto entries = fs_.List(dir_);
  if (!entries.has_value()) return;
  for (const DirEntry& entry : *entries) {
    const auto first = LogGeneration(entry.name);
    if (first && *first <= generation) files_.insert(dir_ + "/" + entry.name);
  }
}

void QueueCheck::CheckQueue(const LoadedSet& loaded, uint64_t id,
                            const QueueState& queue, const RecordSink& record) {
  QueueScan scan(fs_, dir_, loaded.head.salt, loaded.head.geometry, id, queue,
                 nullptr);
  Record next;
  uint64_t expected = queue.first;
  while (true) {
    const auto more = scan.Next(next);
    if (!more.has_value()) {
      // The block that holds record `expected`, or should.
      std::string path = dir_;
      for (const Segment& segment : queue.segments) {
        const std::string name =
            SegmentFileName(loaded.head.geometry.FileOf(segment.slot));
        if (path == dir_ ||
            more.error().message.find(name) != std::string::npos) {
          path = dir_ + "/" + name;
        }
      }
      sink_({path, std::nullopt,
             "queue " + std::to_string(id) + ", record " +
                 std::to_string(expected) + ": " + more.error().message});
      return;
    }
    if (!*more) break;
    if (next.ordinal != expected++) {
      sink_({dir_, std::nullopt,
             "queue " + std::to_string(id) + " has a gap before record " +
                 std::to_string(next.ordinal)});
      return;
    }
    if (record) record(id, next.bytes);
  }
  if (expected != queue.next) {
    sink_({dir_, std::nullopt,
           "queue " + std::to_string(id) + " ends with record " +
               std::to_string(expected)});
  }
}

}  // namespace nephila::disk_queue
